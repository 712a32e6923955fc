//! The `chronicle` binary.

fn main() {}
