//! What can go wrong with a repository, for the engine that acts on it and the person who reads it.

use std::fmt;

use thiserror::Error;
use weir_core::{BranchName, CommitId, RepoUrl};

use crate::path::FilePath;

/// What was being done with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Asking where branches are.
    Looking,
    /// Reading files.
    Reading,
    /// Making a commit.
    Preparing,
    /// Moving a branch.
    Pushing,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Looking => "looking up branches of",
            Self::Reading => "reading files of",
            Self::Preparing => "making a commit for",
            Self::Pushing => "pushing to",
        })
    }
}

/// Why something could not be done with a repository. Never holds a credential.
///
/// Of [`Unreachable`](Self::Unreachable), [`RateLimited`](Self::RateLimited), [`TimedOut`](Self::TimedOut) and
/// [`DiskFull`](Self::DiskFull) nothing is known about the repository itself: trying again later may help. After
/// [`Moved`](Self::Moved), [`NoBranch`](Self::NoBranch) and [`NoCommit`](Self::NoCommit) it has to be looked at anew.
/// All others stay until a person has done something about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RepoError {
    /// The server does not answer, or not as a Git server does.
    #[error(
        "{doing} `{repository}` failed: the server cannot be reached: {reason}; check the address, the network and \
         the server"
    )]
    Unreachable {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
    /// The server wants fewer requests.
    #[error("{doing} `{repository}` failed: the server limits requests: {reason}; it is tried again later")]
    RateLimited {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
    /// The server does not let these credentials in, or asks for some.
    #[error(
        "{doing} `{repository}` failed: access was denied: {reason}; check that the Secret has `username` and \
         `password`, `token`, or `identity`, and that they may read and write the repository"
    )]
    Unauthorized {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
    /// The server may not be who it says.
    #[error(
        "{doing} `{repository}` failed: the server's identity cannot be verified: {reason}; put its certificate \
         authority into `caFile` of the Secret, or its host key into `known_hosts`"
    )]
    Untrusted {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
    /// There is no such repository, or these credentials may not know of it.
    #[error(
        "{doing} `{repository}` failed: there is no such repository: {reason}; check the address, and that the \
         credentials may see it"
    )]
    NotFound {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
    /// The repository is a folder of the machine, and those are not for pipelines.
    #[error(
        "`{repository}` is a folder where Weir runs, which no pipeline of a cluster may use; give the address of a server, \
         or start Weir with `--allow-file-repositories`"
    )]
    Folder {
        /// Which repository.
        repository: RepoUrl,
    },
    /// The repository has no branch at all.
    #[error("`{repository}` is empty; push a first commit to its base branch")]
    Empty {
        /// Which repository.
        repository: RepoUrl,
    },
    /// The branch that was to be moved does not exist.
    #[error("pushing `{branch}` to `{repository}` was refused: there is no such branch (any more); create it")]
    NoBranch {
        /// Which repository.
        repository: RepoUrl,
        /// Which branch.
        branch: BranchName,
    },
    /// The branch is elsewhere than expected.
    #[error("pushing `{branch}` to `{repository}` was refused: the branch has moved to `{now}`; build on that")]
    Moved {
        /// Which repository.
        repository: RepoUrl,
        /// Which branch.
        branch: BranchName,
        /// Where it is now.
        now: CommitId,
    },
    /// The server does not let anybody, or this account, change the branch in this way.
    #[error(
        "pushing `{branch}` to `{repository}` was refused by the server: {reason}; allow Weir's account to push the branch"
    )]
    Protected {
        /// Which repository.
        repository: RepoUrl,
        /// Which branch.
        branch: BranchName,
        /// What the server said.
        reason: String,
    },
    /// Neither the server nor the cache has the commit: it was never pushed, or its branch was rewritten.
    #[error("{doing} `{repository}` failed: it has no commit `{commit}` (any more); look at its branches again")]
    NoCommit {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// Which commit.
        commit: CommitId,
    },
    /// A path that was to be changed is something else than a file.
    #[error("changing `{path}` in `{repository}` failed: it is {found}; name a file")]
    NotAFile {
        /// Which repository.
        repository: RepoUrl,
        /// Which path.
        path: FilePath,
        /// What is there.
        found: &'static str,
    },
    /// A file is larger than any definition is.
    #[error(
        "reading `{path}` of `{repository}` failed: it has {size} bytes, and {limit} are the most that are read; name \
         fewer files"
    )]
    TooLarge {
        /// Which repository.
        repository: RepoUrl,
        /// Which file.
        path: FilePath,
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
    /// The disk of the cache is full.
    #[error("{doing} `{repository}` failed: the disk of the cache is full; free space or give the cache a larger disk")]
    DiskFull {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
    },
    /// The repository cannot be read, not even from a cache that was made anew.
    #[error(
        "{doing} `{repository}` failed: it is damaged: {reason}; a new cache did not help, so run `git fsck` on the \
         server"
    )]
    Damaged {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
    /// Git took too long and was stopped.
    #[error("{doing} `{repository}` was stopped after {after:?}; check whether the server is slow or the network is")]
    TimedOut {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// After how long.
        after: std::time::Duration,
    },
    /// Anything else that Git said.
    #[error("{doing} `{repository}` failed: {reason}")]
    Other {
        /// Which repository.
        repository: RepoUrl,
        /// What was being done.
        doing: Doing,
        /// What Git said.
        reason: String,
    },
}
