//! What several test modules need.

pub(crate) mod cluster;

pub(crate) mod redis;
