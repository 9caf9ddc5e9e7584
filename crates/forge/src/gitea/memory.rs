//! What is remembered of a forge, so that it is asked less. Nothing here has to survive.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use weir_core::BranchName;
use weir_ports::Between;

use super::form::{Origin, Pull};

/// How much is remembered of each. What is more is asked for again.
const MOST: usize = 20_000;

/// What is remembered of all repositories that one set of credentials opens.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The pull request that was open between two branches. There is never more than one.
    open: BTreeMap<Pair, u64>,
    /// Up to which number no pull request between two branches contains a text.
    searched: BTreeMap<(Pair, String), u64>,
    /// Where pull requests are from.
    origins: BTreeMap<(String, u64), Origin>,
    /// The pull requests that cannot be merged, or of which that is not known yet.
    doubtful: BTreeMap<(String, u64), Doubt>,
}

/// Two branches of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    repository: String,
    base: String,
    head: String,
}

/// A pull request that cannot be merged, for all that is known.
#[derive(Debug)]
struct Doubt {
    head: String,
    base: String,
    branch: Option<BranchName>,
    since: Instant,
    believed: bool,
}

impl Memory {
    /// The number of the pull request that was open between two branches.
    pub(super) fn open(&self, repository: &str, between: &Between) -> Option<u64> {
        self.inner().open.get(&pair(repository, between.base.as_str(), between.head.as_str())).copied()
    }

    /// Remembers what was seen of a pull request.
    pub(super) fn see(&self, repository: &str, pull: &Pull) {
        let mut inner = self.inner();
        put(&mut inner.origins, (repository.to_owned(), pull.number), pull.origin());
        if !pull.is_from_here() {
            return;
        }
        let pair = pair(repository, &pull.base.label, &pull.head.label);
        if pull.is_open() {
            // Its text may become anything.
            inner.searched.retain(|(known, _), _| *known != pair);
            put(&mut inner.open, pair, pull.number);
        } else {
            inner.doubtful.remove(&(repository.to_owned(), pull.number));
            if inner.open.get(&pair) == Some(&pull.number) {
                inner.open.remove(&pair);
            }
        }
    }

    /// Where a pull request is from. `None`: it was not seen yet.
    pub(super) fn origin(&self, repository: &str, number: u64) -> Option<Origin> {
        self.inner().origins.get(&(repository.to_owned(), number)).cloned()
    }

    /// Up to which number nothing is to be found.
    pub(super) fn searched(&self, repository: &str, between: &Between, text: &str) -> u64 {
        let pair = pair(repository, between.base.as_str(), between.head.as_str());
        self.inner().searched.get(&(pair, text.to_owned())).copied().unwrap_or_default()
    }

    /// Remembers that nothing is to be found up to a number.
    pub(super) fn found_nothing(&self, repository: &str, between: &Between, text: &str, up_to: u64) {
        let pair = pair(repository, between.base.as_str(), between.head.as_str());
        put(&mut self.inner().searched, (pair, text.to_owned()), up_to);
    }

    /// Whether an open pull request cannot be merged: the forge has said so for a while, and of the same two commits.
    pub(super) fn conflicts(&self, repository: &str, pull: &Pull, settled: Duration) -> bool {
        let mut inner = self.inner();
        let key = (repository.to_owned(), pull.number);
        if pull.mergeable || pull.draft {
            inner.doubtful.remove(&key);
            return false;
        }
        let same = inner.doubtful.get(&key).is_some_and(|it| it.head == pull.head.sha && it.base == pull.base.sha);
        if !same {
            let (head, base) = (pull.head.sha.clone(), pull.base.sha.clone());
            let branch = BranchName::new(&pull.head.label).ok();
            put(&mut inner.doubtful, key.clone(), Doubt { head, base, branch, since: Instant::now(), believed: false });
        }
        let Some(doubt) = inner.doubtful.get_mut(&key) else { return false };
        doubt.believed = doubt.since.elapsed() >= settled;
        doubt.believed
    }

    /// The branches of pull requests of which it is not known yet whether they can be merged.
    pub(super) fn doubtful(&self, repository: &str) -> BTreeSet<BranchName> {
        let inner = self.inner();
        let here = inner.doubtful.iter().filter(|((known, _), doubt)| known == repository && !doubt.believed);
        here.filter_map(|(_, doubt)| doubt.branch.clone()).collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pair(repository: &str, base: &str, head: &str) -> Pair {
    Pair { repository: repository.to_owned(), base: base.to_owned(), head: head.to_owned() }
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V) {
    if map.len() >= MOST {
        map.clear();
    }
    map.insert(key, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(state: &str, mergeable: bool, base: &str) -> Pull {
        let text = format!(
            r#"{{"number": 7, "state": "{state}", "mergeable": {mergeable},
                "head": {{"label": "promote", "sha": "h", "repo_id": 1}},
                "base": {{"label": "main", "sha": "{base}", "repo_id": 1}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn between() -> Between {
        Between { head: "promote".parse().unwrap(), base: "main".parse().unwrap(), mark: String::new() }
    }

    #[test]
    fn a_conflict_is_believed_after_a_while_and_for_the_same_commits_only() {
        let memory = Memory::default();
        let long = Duration::from_mins(1);
        assert!(!memory.conflicts("a", &pull("open", false, "1"), long));
        assert_eq!(memory.doubtful("a").len(), 1, "it has to be looked at again");
        assert!(memory.doubtful("b").is_empty());
        assert!(memory.conflicts("a", &pull("open", false, "1"), Duration::ZERO));
        assert!(memory.doubtful("a").is_empty(), "it is known");
        assert!(!memory.conflicts("a", &pull("open", false, "2"), long), "the base has moved");
        assert!(!memory.conflicts("a", &pull("open", true, "2"), Duration::ZERO));
        assert!(memory.doubtful("a").is_empty());
    }

    #[test]
    fn a_pull_request_that_is_over_is_not_taken_for_the_open_one() {
        let memory = Memory::default();
        memory.see("a", &pull("open", true, "1"));
        assert_eq!(memory.open("a", &between()), Some(7));
        memory.see("a", &pull("closed", true, "1"));
        assert_eq!(memory.open("a", &between()), None);
        assert!(matches!(memory.origin("a", 7), Some(Origin::Here(branch)) if branch.as_str() == "promote"));
    }

    #[test]
    fn what_was_searched_is_searched_again_after_one_was_open() {
        let memory = Memory::default();
        memory.found_nothing("a", &between(), "x", 9);
        assert_eq!(memory.searched("a", &between(), "x"), 9);
        assert_eq!(memory.searched("a", &between(), "y"), 0);
        memory.see("a", &pull("open", true, "1"));
        assert_eq!(memory.searched("a", &between(), "x"), 0);
    }
}
