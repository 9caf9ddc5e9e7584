//! The port on real forges. `make testbed` builds what they need.

#![expect(clippy::unwrap_used, reason = "a test that cannot run shall say so")]

mod ended;
mod ensure;
mod faults;
mod find;
mod hooks;
mod judged;
mod merge;
mod place;
mod refused;
mod shown;
