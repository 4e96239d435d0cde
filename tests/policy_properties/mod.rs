//! What the policies promise, shown on a tiny pure dispatcher: fairness, isolation, order, and state that survives.

mod dispatcher;
mod fairness;
mod order;
mod state;
