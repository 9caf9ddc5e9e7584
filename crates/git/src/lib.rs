//! Git repositories behind the [`ConfigRepos`](weir_ports::ConfigRepos) port, by way of the `git` program.
//!
//! [`GitRepos`] keeps one bare, shallow cache per repository in a folder of its own. It looks up branches on the
//! server, fetches only commits that it does not have, makes commits without a work tree, and moves branches only from
//! where they were expected to be. Pushes to one repository that come within a moment go out as one.
//!
//! It never decides what to change, never retries against a server, never runs a hook of its own, never asks a person
//! anything, and never shows a credential: not in arguments, addresses, files that others may read, or errors. A cache
//! holds nothing that cannot be fetched or made again; one that is found damaged is made anew.
//!
//! The verbs of the port are the modules: `look`, `files`, `prepare`, `push`. They rest on `cache` (one folder, many
//! readers, one writer), `program` (the one way to run Git), `sign_in` (credentials), and `fault` (what went wrong).

mod address;
mod cache;
mod commit;
mod fault;
mod files;
mod gather;
mod look;
mod prepare;
mod program;
mod push;
mod repos;
mod settings;
mod sign_in;

pub use repos::{GitRepos, OpenError};
pub use settings::Settings;
