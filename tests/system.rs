//! The whole system as a user runs it: separate processes, real signals, a private Redis, `tq status` as the witness.

mod endpoints;
mod guard;
mod processes;
mod survival;
