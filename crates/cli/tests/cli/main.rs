//! The program as people run it: what it prints, where, and how it ends.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot run shall say so")]

mod cluster;
mod completion;
mod defining;
mod demo;
mod documentation;
mod explain;
mod export;
mod install;
mod journey;
mod journeys;
mod lint;
mod plan;
mod program;
mod server;
mod serving;
mod set_version;
mod simulate;
mod version;
