//! tq: a distributed task queue on Redis whose scheduling policy is a component you choose, and the laboratory that
//! measures what the choice does.
//!
//! ```text
//! produce ─XADD→ ingress ─→ engine::ingest (policy ranks) ─admit→ pending ─→ engine::dispatch (policy picks) ─dispatch→ execution
//!    execution ─→ worker::fetch → execute → complete ─→ results
//!    execution ─(lease expired | failed)→ recovery → retry ─→ pending (same rank) | delayed | dead
//! ```
//!
//! The map, inner to outer; an import may only point inwards (`tests/tidy.rs` enforces it):
//!
//! | layer | modules |
//! | --- | --- |
//! | pure core | [`model`], [`policy`], [`workload`], [`stats`], [`theory`] |
//! | seam | [`clock`], [`broker`] |
//! | shared runtime | [`runtime`], [`config`] |
//! | product | [`engine`], [`worker`], [`recovery`], [`producer`] |
//! | apart from the product | [`sim`], [`lab`] |
//! | edge | [`cli`], [`cmd`], `main` |

pub mod broker;
pub mod cli;
pub mod clock;
pub mod cmd;
pub mod config;
pub mod engine;
pub mod lab;
pub mod model;
pub mod policy;
pub mod producer;
pub mod recovery;
pub mod runtime;
pub mod sim;
pub mod stats;
pub mod theory;
pub mod worker;
pub mod workload;
