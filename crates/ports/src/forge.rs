//! Forges: the servers on which people review changes.

use std::sync::Arc;

use jiff::Timestamp;
use thiserror::Error;
use weir_core::{BranchName, Checks, CommitId, ForgeKind, RepoUrl, Review};

use crate::credentials::Credentials;

/// Pull requests, on whichever forge a repository is.
///
/// Every call may be dropped at any time and repeated by anyone: what was done already is found done.
pub trait Forge: Send + Sync {
    /// The pull request from one branch into another, whatever became of it: the open one, or else the one that was
    /// opened last. None of those whose text lacks the mark is ours.
    fn find(
        &self,
        access: &ForgeAccess,
        between: &Between,
    ) -> impl Future<Output = Result<Option<PullRequest>, ForgeError>> + Send;

    /// Has an open pull request that says this. One that is open already is changed, if it says anything else. If it was
    /// open before and is over by now, it is [`ForgeError::Moved`]: whoever ended it is not to be overruled.
    fn ensure(
        &self,
        access: &ForgeAccess,
        wanted: &Wanted,
    ) -> impl Future<Output = Result<PullRequest, ForgeError>> + Send;

    /// Merges a pull request, if this is still its head; otherwise it is [`ForgeError::Moved`]. One that is merged
    /// already is a success.
    fn merge(
        &self,
        access: &ForgeAccess,
        id: &str,
        head: &CommitId,
    ) -> impl Future<Output = Result<(), ForgeError>> + Send;

    /// Closes a pull request with a note beneath it. One that is over already is a success, and gets no note.
    fn close(&self, access: &ForgeAccess, id: &str, note: &str) -> impl Future<Output = Result<(), ForgeError>> + Send;

    /// Shows beside a commit whether it may be merged, and what holds it.
    fn show(
        &self,
        access: &ForgeAccess,
        commit: &CommitId,
        shown: &Shown,
    ) -> impl Future<Output = Result<(), ForgeError>> + Send;

    /// The branches whose pull requests changed since then.
    fn changed(
        &self,
        access: &ForgeAccess,
        since: Timestamp,
    ) -> impl Future<Output = Result<Vec<BranchName>, ForgeError>> + Send;
}

/// Which repository on which forge, and what opens it.
#[derive(Debug, Clone)]
pub struct ForgeAccess {
    /// What kind of forge it is.
    pub kind: ForgeKind,
    /// The address of the repository.
    pub url: RepoUrl,
    /// What opens it: its token, or else its password.
    pub credentials: Credentials,
}

/// From which branch into which, and what the text of the pull request has to contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// The branch that is proposed.
    pub head: BranchName,
    /// The branch that it goes into.
    pub base: BranchName,
    /// A line that the text of ours contains, and of nobody else's.
    pub mark: String,
}

/// A pull request that shall be open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// From where into where.
    pub between: Between,
    /// Its title.
    pub title: String,
    /// What it says, in Markdown. Contains the mark.
    pub body: String,
    /// A line of that text that no other pull request contains.
    pub once: String,
    /// A label that it gets, if the forge can be made to have it.
    pub label: Option<String>,
}

/// A pull request as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub id: Arc<str>,
    /// Where a person finds it.
    pub url: Arc<str>,
    /// What became of it.
    pub state: PullRequestState,
    /// The commit that is proposed, or was when it ended.
    pub head: CommitId,
    /// Its title.
    pub title: String,
    /// What it says.
    pub body: String,
    /// What the checks of the head say, without what Weir itself shows there.
    pub checks: Checks,
    /// What reviewers say.
    pub review: Review,
    /// Whether the forge says that it cannot be merged as it is. `false` while it has not found out.
    pub conflict: bool,
}

impl PullRequest {
    /// Whether it still waits.
    pub fn is_open(&self) -> bool {
        self.state == PullRequestState::Open
    }
}

/// What became of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullRequestState {
    /// Waiting.
    Open,
    /// Merged.
    Merged {
        /// When.
        at: Timestamp,
        /// By whom, if the forge tells.
        by: Option<Arc<str>>,
    },
    /// Closed without a merge.
    Closed {
        /// By whom, if the forge tells.
        by: Option<Arc<str>>,
    },
}

/// What is shown beside a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Whether nothing holds it.
    pub open: bool,
    /// In one short sentence.
    pub sentence: String,
    /// Where to read more.
    pub url: Option<String>,
}

/// Why something could not be done on a forge. Never holds a credential.
///
/// After [`Moved`](Self::Moved) it has to be looked at anew. Of [`Unreachable`](Self::Unreachable) and
/// [`RateLimited`](Self::RateLimited) nothing is known: trying again later may help. All others stay until a person has
/// done something about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ForgeError {
    /// The forge does not answer, or not as it should.
    #[error("{doing} on `{forge}` failed: {reason}; it is tried again later")]
    Unreachable {
        /// Which forge: its address without anything secret.
        forge: String,
        /// What was being done.
        doing: &'static str,
        /// What went wrong.
        reason: String,
    },
    /// The forge wants fewer requests.
    #[error("{doing} on `{forge}` failed: the limit on requests is used up until {until}")]
    RateLimited {
        /// Which forge.
        forge: String,
        /// What was being done.
        doing: &'static str,
        /// Until when.
        until: Timestamp,
    },
    /// The forge does not let these credentials in, or not as far.
    #[error(
        "{doing} on `{forge}` failed: access was denied: {reason}; check the `token` of the Secret, and what it may do"
    )]
    Unauthorized {
        /// Which forge.
        forge: String,
        /// What was being done.
        doing: &'static str,
        /// What the forge said.
        reason: String,
    },
    /// There is no such repository, or these credentials do not see it.
    #[error(
        "{doing} on `{forge}` failed: there is no repository `{repository}`, or the `token` of the Secret does not see it"
    )]
    NoRepository {
        /// Which forge.
        forge: String,
        /// What was being done.
        doing: &'static str,
        /// As the address names it.
        repository: String,
    },
    /// The pull request is no longer what it was.
    #[error("pull request {id} on `{forge}` has changed in the meantime")]
    Moved {
        /// Which forge.
        forge: String,
        /// Its number.
        id: String,
    },
    /// The forge does not want it.
    #[error("{doing} on `{forge}` was refused: {reason}")]
    Refused {
        /// Which forge.
        forge: String,
        /// What was being done.
        doing: &'static str,
        /// What the forge said.
        reason: String,
    },
    /// Nobody here talks to that kind of forge.
    #[error("pull requests on {0:?} cannot be opened from here; use `type: git`, and review the change in Weir")]
    Unsupported(ForgeKind),
}
