//! The servers of the test kit, tried on themselves. `make testbed` builds what they need.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot run shall say so")]

mod flux;
mod forge;
mod hub;
mod remains;
mod signature;
