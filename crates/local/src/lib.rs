//! One machine: everything that Weir needs around its engine when there is no Kubernetes to keep it.
//!
//! - [`LocalStore`] keeps records and the journal in one SQLite file of a data folder. What it acknowledged survives a
//!   power cut; writes that wait for the disk at the same time go there together.
//! - [`FolderCatalog`] reads pipelines, clusters and Secrets from a folder of manifests, and follows it. A file that breaks is
//!   reported, and what it said last stays in force.
//! - [`Tokens`] says who may do what from a file of hashed tokens; [`Everyone`] lets everybody do everything, for a
//!   listener that only this machine reaches.
//! - [`SystemClock`] is the time, and [`Alone`] says that there is nobody else.
//!
//! Nothing here decides anything, and nothing deletes what it cannot read.

mod alone;
mod catalog;
mod clock;
mod everyone;
mod stamp;
mod store;
mod tokens;

pub use alone::Alone;
pub use catalog::{FolderCatalog, FolderError};
pub use clock::SystemClock;
pub use everyone::Everyone;
pub use store::{BackupError, LocalStore, OpenError, StoreProblem};
pub use tokens::{Grant, Role, TokenEntry, Tokens, TokensError};
