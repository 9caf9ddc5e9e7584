//! Why a step was not taken, and what follows from that.

use jiff::{SignedDuration, Timestamp};
use thiserror::Error;
use weir_core::{NameError, Problem, ProblemWith};
use weir_ports::{ForgeError, RepoError, StoreError};

use super::places::EditError;
use crate::access::NoAccess;

/// How long somebody who has pushed a branch is waited for.
const MOMENT: SignedDuration = SignedDuration::from_secs(5);

/// Why a step was not taken.
#[derive(Debug, Clone, Error)]
pub(crate) enum Trouble {
    /// The repository.
    #[error(transparent)]
    Repository(RepoError),
    /// A file in it.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The Secret that opens it.
    #[error(transparent)]
    Access(#[from] NoAccess),
    /// A name that Git does not take.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The forge.
    #[error(transparent)]
    Forge(ForgeError),
    /// The store.
    #[error(transparent)]
    Store(StoreError),
    /// Something moved under it.
    #[error("something has changed in the meantime")]
    Stale,
    /// It is no longer wanted.
    #[error("it is no longer wanted")]
    Unwanted,
    /// Somebody else pushed the branch, and may be about to open its proposal.
    #[error("another process has pushed the branch, and is given a moment to open the proposal")]
    Pushed,
}

impl From<RepoError> for Trouble {
    fn from(error: RepoError) -> Self {
        match error {
            RepoError::Moved { .. } | RepoError::NoCommit { .. } => Self::Stale,
            error => Self::Repository(error),
        }
    }
}

impl From<ForgeError> for Trouble {
    fn from(error: ForgeError) -> Self {
        match error {
            ForgeError::Moved { .. } => Self::Stale,
            error => Self::Forge(error),
        }
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Moved(_) | StoreError::Exists(_) => Self::Stale,
            error @ StoreError::Unavailable(_) => Self::Store(error),
        }
    }
}

impl Trouble {
    /// The fact that it is. `None`: it is nothing that a person has to know of.
    pub(super) fn problem(&self, retry: Timestamp) -> Option<Problem> {
        let with = match self {
            Self::Repository(RepoError::RateLimited { .. }) | Self::Forge(ForgeError::RateLimited { .. }) => {
                ProblemWith::RateLimit
            }
            Self::Forge(_) => ProblemWith::Forge,
            Self::Store(_) | Self::Stale | Self::Unwanted | Self::Pushed => return None,
            _ => ProblemWith::Repository,
        };
        Some(Problem { with, message: self.to_string().into(), retry })
    }

    /// How long to wait before the next attempt: longer with every failure, and not all at once.
    pub(super) fn pause(&self, failures: u32, random: u64) -> SignedDuration {
        const FIRST: i64 = 2_000;
        const LONGEST: i64 = 5 * 60_000;
        if matches!(self, Self::Pushed) {
            return MOMENT;
        }
        let first = if matches!(self, Self::Stale | Self::Unwanted) { FIRST / 10 } else { FIRST };
        let full = first.saturating_mul(1 << failures.min(16)).min(LONGEST);
        let share = i64::try_from(random % 1000).unwrap_or_default();
        SignedDuration::from_millis(full - full * share / 4000)
    }
}
