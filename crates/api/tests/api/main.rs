//! The kinds, read from YAML and turned into facts of the core, as the rest of Weir uses them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what failed by panicking")]

mod crds;
mod events;
mod examples;
mod manifests;
mod records;
mod rules;
mod workloads;
mod world;
