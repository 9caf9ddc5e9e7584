//! The objects behind a workload: where it comes from, and what came of it.

use thiserror::Error;

/// An object on a cluster, as it is at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeObject {
    /// Its kind: `GitRepository`, `HelmRelease`, `Deployment`.
    pub kind: String,
    /// Its namespace. `None`: it is in none.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// How it is doing.
    pub state: TreeState,
    /// Of a source what it fetched, of a workload what it deploys, of what runs containers their images.
    pub version: Option<String>,
    /// What it says, or what has to be known about it.
    pub message: Option<String>,
    /// What came of it.
    pub leads_to: Vec<TreeObject>,
    /// How many more came of it, which are left out here.
    pub left_out: usize,
}

/// How an object is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeState {
    /// As it should.
    Healthy,
    /// It is on its way.
    Progressing,
    /// It is not as it should be.
    Failed,
    /// It should be there, and is not.
    Missing,
    /// It is known to be there, and was not looked at.
    Unread,
}

/// Why nothing can be shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unseen {
    /// Nobody watches that cluster.
    #[error("Weir does not watch this target: it is known by events alone")]
    NotWatched,
    /// The workload is not there.
    #[error("{0}")]
    Gone(String),
    /// The cluster cannot be read.
    #[error("the cluster cannot be read: {0}")]
    Unreachable(String),
}
