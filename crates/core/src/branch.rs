//! The branch of a proposal: where it is, and what Weir wrote to it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    name::{BranchName, CommitId, Name, NameError},
    policy::{ForgeKind, PullRequest, RepoUrl, Repository, Strategy},
};

/// What Weir wrote to the branch of a proposal. Whatever else is found there is somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Its name.
    pub name: BranchName,
    /// Where it is, for when the definition says something else by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The commit of the base branch that it builds on.
    pub parent: CommitId,
    /// The commit that shall be there. Written down before it is pushed.
    pub intended: CommitId,
    /// The commits of Weir's that may be there still, or that a push that was under way may yet bring there, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<CommitId>,
}

/// Where a branch was written: a repository, and who reviews there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The repository, without credentials.
    pub repository: Arc<str>,
    /// The branch that it goes into.
    pub base: BranchName,
    /// The Secret that opens it, in the pipeline's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Name>,
    /// What kind of server keeps the proposals. Missing: there is none to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forge: Option<ForgeKind>,
}

impl Place {
    /// The place that a strategy means. `None`: it needs none.
    pub fn of(strategy: &Strategy) -> Option<Self> {
        let Repository { url, base, secret } = strategy.repository()?.clone();
        let forge = match strategy {
            Strategy::PullRequest(it) => Some(it.forge),
            Strategy::Push(_) | Strategy::Notification => None,
        };
        Some(Self { repository: url.to_string().into(), base, secret, forge })
    }

    /// The strategy that means this place.
    pub fn strategy(&self) -> Result<Strategy, NameError> {
        let url = RepoUrl::new(&*self.repository)?;
        let repository = Repository { url, base: self.base.clone(), secret: self.secret.clone() };
        Ok(match self.forge {
            Some(forge) => Strategy::PullRequest(PullRequest { forge, repository }),
            None => Strategy::Push(repository),
        })
    }
}

impl Branch {
    /// How many commits of Weir's are remembered.
    const EARLIER: usize = 16;

    /// What is written next, on top of another commit of the base branch. `tip` is what is there now, if that is Weir's.
    #[must_use]
    pub fn next(
        before: Option<&Self>,
        name: BranchName,
        at: Place,
        (parent, intended): (CommitId, CommitId),
        tip: Option<&CommitId>,
    ) -> Self {
        let mut earlier: Vec<CommitId> = Vec::new();
        let sent = before
            .filter(|before| before.name == name)
            .map(|before| std::iter::once(&before.intended).chain(&before.earlier));
        // A push expects what was there before it: once the last commit has arrived, nothing older can come.
        let arrived = before.is_some_and(|before| Some(&before.intended) == tip);
        let sent = sent.into_iter().flatten().filter(|_| !arrived);
        for commit in tip.into_iter().chain(sent) {
            if *commit != intended && !earlier.contains(commit) {
                earlier.push(commit.clone());
            }
        }
        earlier.truncate(Self::EARLIER);
        Self { name, at: Some(at), parent, intended, earlier }
    }

    /// The same, knowing that a commit is Weir's, too, whoever made it.
    #[must_use]
    pub fn with(mut self, ours: CommitId) -> Self {
        if !self.is_ours(&ours) {
            self.earlier.insert(0, ours);
            self.earlier.truncate(Self::EARLIER);
        }
        self
    }

    /// Whether a commit on the branch is one that Weir made.
    pub fn is_ours(&self, tip: &CommitId) -> bool {
        self.intended == *tip || self.earlier.contains(tip)
    }
}
