//! The traits between the engine and the world, and the plain values that they speak of.
//!
//! The engine calls a port and never knows what is behind it: a program, a server, or a simulation with a seed.
//! Nothing here performs anything, decides anything, or depends on a runtime; a crate that implements a port depends on
//! this one, never the other way round.
//!
//! [`ConfigRepos`] is the Git repositories that say what environments run. What it can fail with is [`RepoError`],
//! whose variants mean one thing each, so that the engine can tell a person what to do.

mod config_repos;
mod credentials;
mod path;
mod repo_error;

pub use config_repos::{Change, ConfigRepos, FileChange, FileQuery, Push, RepoAccess, RepoFile, Signature};
pub use credentials::{Credentials, CredentialsError};
pub use path::{FilePath, PathGlob};
pub use repo_error::{Doing, RepoError};
