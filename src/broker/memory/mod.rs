//! See broker/mod.rs.
