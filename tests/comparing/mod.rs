//! What may be merged and what not; what is found different and what not.

mod compare;
mod merge;
mod runs;
