//! What things are: tasks, ranks, attempts, outcomes, epochs and time. Pure: no clock, no store, no runtime.

pub mod entry;
pub mod epoch;
pub mod member;
pub mod micros;
pub mod outcome;
pub mod rank;
pub mod record;
pub mod retry;
pub mod task;
pub mod units;
pub mod wire;

pub use entry::EntryId;
pub use epoch::Epoch;
pub use member::Member;
pub use micros::Micros;
pub use rank::{Rank, StateChange};
pub use record::Record;
pub use task::{Task, TaskId, TenantId};
