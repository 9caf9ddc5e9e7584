//! The traits between the engine and the world, and the plain values that they speak of.
//!
//! The engine calls a port and never knows what is behind it: a program, a server, or a simulation with a seed.
//! Nothing here performs anything, decides anything, or depends on a runtime; a crate that implements a port depends on
//! this one, never the other way round.
//!
//! - [`Catalog`] is what people define: pipelines and Secrets. Weir only reads it.
//! - [`Store`] is what must survive: records, one at a time, each with a version.
//! - [`ConfigRepos`] is the Git repositories that say what environments run.
//! - [`Forge`] is the pull requests, where people review what changes in them.
//! - [`Clusters`] is what runs where.
//! - [`Ownership`] is which pipelines this process acts for.
//! - [`Clock`] is time and chance.
//! - [`Journal`] is the past, and [`Access`] is who may do what; both are for the API and never for a decision.
//!
//! Each port has an error whose variants mean one thing each, so that the engine can tell a person what to do.

mod access;
mod catalog;
mod clock;
mod clusters;
mod config_repos;
mod credentials;
mod flaw;
mod forge;
mod journal;
mod ownership;
mod path;
mod repo_error;
mod scrub;
mod store;
mod tree;

pub use access::{Access, AccessError, Scope, Verb};
pub use catalog::{Catalog, CatalogError, CatalogNotice, ClusterError, Definition, ManifestUnread, Secret};
pub use clock::Clock;
pub use clusters::{Clusters, Interest, Seen};
pub use config_repos::{
    Change, Commit, ConfigRepos, FileChange, FileQuery, Push, Pushed, RepoAccess, RepoFile, Signature,
};
pub use credentials::{Credentials, CredentialsError};
pub use flaw::Flaw;
pub use forge::{Between, Forge, ForgeAccess, ForgeError, PullRequest, PullRequestState, Shown, Wanted};
pub use journal::{Deed, DeedQuery, HistoryQuery, Journal, Noted};
pub use ownership::Ownership;
pub use path::{FilePath, PathGlob};
pub use repo_error::{Doing, RepoError};
pub use scrub::Scrub;
pub use store::{Notice, PipelineRecord, Record, RecordKey, RecordVersion, Store, StoreError, Stored};
pub use tree::{TreeObject, TreeState, Unseen};
