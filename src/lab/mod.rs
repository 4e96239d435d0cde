//! Measuring tq: experiments that run the product and write down what its task records say. Nothing in the product imports it.

pub mod cell;
pub mod compare;
pub mod failover;
pub mod grid;
pub mod harness;
mod manifest;
pub mod matrix;
pub mod merge;
pub mod plan;
pub mod profile;
mod progress;
mod records;
pub mod results;
pub mod stamp;
pub mod store;
mod table;
mod warnings;
