//! See lib.rs.

pub mod harness;
