//! What was read from repositories and may be asked for again. It can be lost at any time.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use weir_core::{BranchName, CommitId, PromotionKey, RepoUrl};
use weir_ports::{ConfigRepos as _, FileQuery, PullRequest, RepoAccess, RepoError, Shown};

use crate::{
    carry::{MARKER, Places, Stations},
    ports::Ports,
};

/// How many commits are remembered. Many promotions of one repository are made on one commit.
const REMEMBERED: usize = 32;

type Remembered = (String, CommitId, Arc<tokio::sync::OnceCell<Arc<Places>>>);

/// Of how many promotions it is remembered what was pushed and shown. What is forgotten is waited for, or shown, once more.
const PROMOTIONS: usize = 10_000;

/// How long a look is as good as a new one.
const FRESH: SignedDuration = SignedDuration::from_secs(1);

/// Where branches and their pull request were when they were looked at.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) at: Timestamp,
    pub(crate) repository: RepoUrl,
    /// The base, and the branch of the proposal.
    pub(crate) branches: [BranchName; 2],
    pub(crate) heads: [Option<CommitId>; 2],
    /// The pull request, where there is a forge.
    pub(crate) found: Option<PullRequest>,
}

/// The places of the commits that were read last, and the looks of a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    looks: Mutex<BTreeMap<PromotionKey, Look>>,
    commits: Mutex<VecDeque<Remembered>>,
    /// What was last shown beside which commit.
    shown: Mutex<BTreeMap<PromotionKey, (CommitId, Shown)>>,
    /// When the pull requests of a repository were last asked for, and where that is.
    asked: Mutex<BTreeMap<String, Timestamp>>,
    /// The commits that are on the branches of promotions, by whoever pushed them.
    pushed: Mutex<BTreeMap<PromotionKey, CommitId>>,
    /// The repositories that could not be looked at, and why.
    troubles: Mutex<BTreeMap<String, String>>,
    /// The changes that wait for a base branch.
    pub(crate) stations: Stations,
}

impl Look {
    fn is_fresh(&self, now: Timestamp) -> bool {
        now.duration_since(self.at).abs() < FRESH
    }
}

impl Memory {
    /// Remembers where the branches of a promotion were, for the step that follows at once.
    pub(crate) fn remember(&self, key: &PromotionKey, look: Look) {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.retain(|_, known| known.is_fresh(look.at));
        looks.insert(key.clone(), look);
    }

    /// What was seen of a promotion's branches a moment ago. It is told once.
    pub(crate) fn recall(&self, key: &PromotionKey, now: Timestamp) -> Option<Look> {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.remove(key).filter(|look| look.is_fresh(now))
    }

    /// Whether this is what was last shown beside the head of a promotion's pull request.
    pub(crate) fn shows(&self, key: &PromotionKey, head: &CommitId, shown: &Shown) -> bool {
        let known = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).is_some_and(|(at, known)| at == head && known == shown)
    }

    /// Remembers what was shown.
    pub(crate) fn shown(&self, key: &PromotionKey, head: &CommitId, shown: Shown) {
        let mut known = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= PROMOTIONS {
            known.clear();
        }
        known.insert(key.clone(), (head.clone(), shown));
    }

    /// Whether it was not known that this commit is on a promotion's branch. From now on it is.
    pub(crate) fn is_new_push(&self, key: &PromotionKey, commit: &CommitId) -> bool {
        let mut known = self.pushed.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= PROMOTIONS {
            known.clear();
        }
        known.insert(key.clone(), commit.clone()).as_ref() != Some(commit)
    }

    /// When the pull requests of a repository were last asked for; from now on it is now.
    pub(crate) fn asked(&self, repository: &str, now: Timestamp) -> Option<Timestamp> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(repository.to_owned(), now)
    }

    /// Whether a repository has got into this trouble just now. `None`: it is out of it.
    pub(crate) fn is_new_trouble(&self, repository: &str, trouble: Option<&str>) -> bool {
        let mut known = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        match trouble {
            Some(trouble) => known.insert(repository.to_owned(), trouble.to_owned()).as_deref() != Some(trouble),
            None => known.remove(repository).is_some(),
        }
    }

    /// The places of a commit. Whoever asks while they are being read waits for that.
    pub(crate) async fn places(
        &self,
        ports: &impl Ports,
        access: &RepoAccess,
        commit: &CommitId,
    ) -> Result<Arc<Places>, RepoError> {
        let query = FileQuery { contains: Some(MARKER.to_owned()), ..FileQuery::default() };
        let cell = self.cell(access, commit);
        let read = || async {
            let files = ports.repos().files(access, commit, &query).await?;
            Ok(Arc::new(Places::read(files)))
        };
        cell.get_or_try_init(read).await.cloned()
    }

    fn cell(&self, access: &RepoAccess, commit: &CommitId) -> Arc<tokio::sync::OnceCell<Arc<Places>>> {
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let url = access.url.reveal();
        if let Some((_, _, cell)) = commits.iter().find(|(known, id, _)| known == url && id == commit) {
            return cell.clone();
        }
        if commits.len() == REMEMBERED {
            commits.pop_front();
        }
        let cell = Arc::default();
        commits.push_back((url.to_owned(), commit.clone(), Arc::clone(&cell)));
        cell
    }
}
