//! Producer.
