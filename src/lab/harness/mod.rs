//! Real processes around an experiment: private stores, processes of tq, and what goes wrong between them.

pub mod private_redis;
pub mod process;
pub mod proxy;
