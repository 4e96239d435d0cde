//! The multicall binary: parse, dispatch, exit code.

fn main() {}
