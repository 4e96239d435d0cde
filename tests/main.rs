//! The one integration-test binary: one link step. Each module says at its top what it shows.

mod bench;
mod cases;
mod cases_heartbeat;
mod cases_lease;
mod cases_order;
mod cli;
mod comparing;
mod config_files;
mod conformance;
mod differential;
mod failover;
mod policy_properties;
mod protocol_doc;
mod queueing;
mod redis_broker;
mod redis_faults;
mod redis_full_store;
mod redis_presence;
mod redis_streams;
mod support;
mod system;
mod tidy;
mod tidy_lua;
mod wire_attack;
