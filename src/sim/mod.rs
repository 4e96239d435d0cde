//! Simulation: the same engine, worker and recovery on the memory broker in virtual time, with faults.

pub mod faults;
