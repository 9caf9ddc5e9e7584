//! Nothing yet.
fn main() {}
