//! The kinds, read from YAML and turned into facts of the core, as the rest of Weir uses them.

mod crds;
mod events;
mod examples;
mod manifests;
mod records;
mod rules;
mod workloads;
mod world;
