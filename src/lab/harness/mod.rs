//! Real processes around an experiment: a private store now, clusters and faults later.

pub mod private_redis;
