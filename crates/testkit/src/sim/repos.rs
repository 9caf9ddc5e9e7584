//! A Git repository in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use weir_core::{BranchName, CommitId};
use weir_ports::{
    Change, Clock as _, Commit as Told, ConfigRepos, Doing, FileChange, FilePath, FileQuery, Push, Pushed, RepoAccess,
    RepoError, RepoFile,
};

use super::{
    clock::SimClock,
    fate::{Fate, Turn},
};

/// How the message of a commit begins that did not come through the port.
const BY_HAND: &str = "by hand";

type Files = BTreeMap<FilePath, Vec<u8>>;

/// One repository in memory, under some fate. All addresses lead to it.
#[derive(Debug, Clone)]
pub struct SimRepos {
    state: Arc<Mutex<State>>,
    fate: Fate,
    clock: SimClock,
}

#[derive(Debug, Default)]
struct State {
    commits: BTreeMap<CommitId, Commit>,
    branches: BTreeMap<BranchName, CommitId>,
    moves: Vec<BaseMove>,
    pushes: usize,
}

#[derive(Debug, Clone)]
struct Commit {
    parent: Option<CommitId>,
    files: Files,
    message: String,
    /// What it says, by whom, and when: beside the message, which tells of the time, too.
    said: (String, String, Timestamp),
}

impl State {
    /// The commits that lead from one to another, each with the one before. A rewritten branch has one step.
    fn way<'s>(&'s self, from: Option<&CommitId>, to: Option<&CommitId>) -> Vec<(Option<&'s Commit>, &'s Commit)> {
        let mut steps = Vec::new();
        let mut at = to;
        while at != from {
            let Some(commit) = at.and_then(|id| self.commits.get(id)) else { break };
            at = commit.parent.as_ref();
            steps.push((at.and_then(|id| self.commits.get(id)), commit));
        }
        if at != from {
            let last = to.and_then(|id| self.commits.get(id));
            return last.map(|last| (from.and_then(|id| self.commits.get(id)), last)).into_iter().collect();
        }
        steps.reverse();
        steps
    }
}

impl State {
    /// The files of a branch with what a commit changes since it left it. `None`: it cannot be merged.
    fn merged(&self, branch: &BranchName, head: &CommitId) -> Option<Files> {
        let tip = self.branches.get(branch)?;
        let mut files = self.commits.get(tip)?.files.clone();
        let known: BTreeSet<_> = self.line(tip).collect();
        let parent = self.line(head).find(|id| known.contains(id))?;
        let (parent, head) = (self.commits.get(parent)?, self.commits.get(head)?);
        for (path, then) in &head.files {
            let before = parent.files.get(path)?;
            if before != then {
                let text = lines(before, files.get(path)?, then)?;
                files.insert(path.clone(), text);
            }
        }
        Some(files)
    }

    /// A commit, and those before it.
    fn line<'s>(&'s self, from: &'s CommitId) -> impl Iterator<Item = &'s CommitId> {
        std::iter::successors(Some(from), |id| self.commits.get(id)?.parent.as_ref())
    }
}

/// A text with the lines that another version of it changed. `None`: it has not got them any more, or lines came or went.
fn lines(before: &[u8], now: &[u8], then: &[u8]) -> Option<Vec<u8>> {
    let split = |text: &[u8]| String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<_>>();
    let (before, mut now, then) = (split(before), split(now), split(then));
    if before.len() != then.len() {
        return None;
    }
    for (old, new) in before.iter().zip(&then).filter(|(old, new)| old != new) {
        match now.iter().position(|line| line == old) {
            Some(place) => now[place].clone_from(new),
            None if now.contains(new) => {}
            None => return None,
        }
    }
    now.push(String::new());
    Some(now.join("\n").into_bytes())
}

/// One commit that a branch was moved over through the port.
#[derive(Debug, Clone)]
pub struct BaseMove {
    /// Which branch.
    pub branch: BranchName,
    /// When it was asked for.
    pub asked: Timestamp,
    /// Who merged a pull request. `None`: nobody but Weir.
    pub by: Option<String>,
    /// What its commit says.
    pub message: String,
    /// The files before.
    pub before: BTreeMap<String, String>,
    /// The files after.
    pub after: BTreeMap<String, String>,
}

impl SimRepos {
    pub(super) fn new(fate: Fate, clock: SimClock) -> Self {
        Self { state: Arc::default(), fate, clock }
    }

    pub(super) fn under(&self, fate: Fate) -> Self {
        Self { state: self.state.clone(), fate, clock: self.clock.clone() }
    }

    /// Commits to a branch by hand: `change` gets the text of a file, empty if there is none, and gives the new one.
    pub fn commit(&self, branch: &BranchName, path: &FilePath, change: impl FnOnce(String) -> String) {
        let mut state = self.state();
        let parent = state.branches.get(branch).cloned();
        let mut files = parent.as_ref().map(|id| state.commits[id].files.clone()).unwrap_or_default();
        let before = files.get(path).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
        files.insert(path.clone(), change(before).into_bytes());
        let message = format!("{BY_HAND}, number {}", state.commits.len());
        let said = (message.clone(), "Somebody <somebody@example.org>".to_owned(), self.clock.now());
        let made = Commit { parent, files, message, said };
        let id = id(&made);
        state.commits.insert(id.clone(), made);
        state.branches.insert(branch.clone(), id);
    }

    /// Moves a branch by hand to a commit that there is.
    pub fn reset(&self, branch: &BranchName, commit: &CommitId) {
        self.state().branches.insert(branch.clone(), commit.clone());
    }

    /// Where a branch is.
    pub fn head(&self, branch: &BranchName) -> Option<CommitId> {
        self.state().branches.get(branch).cloned()
    }

    /// Whether a commit could be merged into a branch.
    pub(super) fn merges(&self, branch: &BranchName, head: &CommitId) -> bool {
        self.state().merged(branch, head).is_some()
    }

    /// Merges a commit into a branch as a forge does; `false` if that cannot be done.
    pub(super) fn merge(&self, branch: &BranchName, head: &CommitId, by: Option<&str>, asked: Timestamp) -> bool {
        let mut state = self.state();
        let Some(files) = state.merged(branch, head) else { return false };
        let (before, message) = (state.branches[branch].clone(), state.commits[head].message.clone());
        let said = state.commits[head].said.clone();
        let step = BaseMove {
            branch: branch.clone(),
            asked,
            by: by.map(str::to_owned),
            message: message.clone(),
            before: texts(&state.commits[&before].files),
            after: texts(&files),
        };
        let made = Commit { parent: Some(before), files, message, said };
        let id = id(&made);
        state.commits.insert(id.clone(), made);
        state.branches.insert(branch.clone(), id);
        state.moves.push(step);
        true
    }

    /// The files of a branch.
    pub fn files_of(&self, branch: &BranchName) -> BTreeMap<String, String> {
        let state = self.state();
        state.branches.get(branch).map(|id| texts(&state.commits[id].files)).unwrap_or_default()
    }

    /// The branches that there are.
    pub fn branches(&self) -> Vec<BranchName> {
        self.state().branches.keys().cloned().collect()
    }

    /// Whether the tip of a branch was made by hand.
    pub fn is_by_hand(&self, branch: &BranchName) -> bool {
        let state = self.state();
        state.branches.get(branch).is_some_and(|id| state.commits[id].message.starts_with(BY_HAND))
    }

    /// The moves of branches through the port since the last time this was asked.
    pub fn moves(&self) -> Vec<BaseMove> {
        std::mem::take(&mut self.state().moves)
    }

    /// How many pushes had an effect.
    pub fn pushes(&self) -> usize {
        self.state().pushes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call<T>(
        &self,
        access: &RepoAccess,
        doing: Doing,
        call: impl FnOnce(&mut State) -> Result<T, RepoError>,
    ) -> Result<T, RepoError> {
        let repository = access.url.clone();
        match self.fate.before().await {
            Turn::Refused => Err(RepoError::Unreachable { repository, doing, reason: "the weather is bad".to_owned() }),
            turn => {
                let done = call(&mut self.state());
                self.fate.after().await;
                match turn {
                    Turn::Lost => Err(RepoError::TimedOut { repository, doing, after: Duration::from_mins(1) }),
                    _ => done,
                }
            }
        }
    }
}

impl ConfigRepos for SimRepos {
    async fn look(&self, access: &RepoAccess, branches: &[BranchName]) -> Result<Vec<Option<CommitId>>, RepoError> {
        let find = |state: &mut State| Ok(branches.iter().map(|name| state.branches.get(name).cloned()).collect());
        self.call(access, Doing::Looking, find).await
    }

    async fn below(&self, access: &RepoAccess, name: &BranchName) -> Result<Vec<(BranchName, CommitId)>, RepoError> {
        let folder = format!("{name}/");
        self.call(access, Doing::Looking, |state| {
            let inside = state.branches.iter().filter(|(name, _)| name.as_str().starts_with(&folder));
            Ok(inside.map(|(name, head)| (name.clone(), head.clone())).collect())
        })
        .await
    }

    async fn commit(&self, access: &RepoAccess, commit: &CommitId) -> Result<Told, RepoError> {
        self.call(access, Doing::Reading, |state| {
            let found = state.commits.get(commit).ok_or_else(|| missing(access, Doing::Reading, commit))?;
            let (message, author, at) = found.said.clone();
            Ok(Told { parent: found.parent.clone(), author, at, message })
        })
        .await
    }

    async fn files(
        &self,
        access: &RepoAccess,
        commit: &CommitId,
        query: &FileQuery,
    ) -> Result<Vec<RepoFile>, RepoError> {
        self.call(access, Doing::Reading, |state| {
            let found = state.commits.get(commit).ok_or_else(|| missing(access, Doing::Reading, commit))?;
            let fits = |(path, text): &(&FilePath, &Vec<u8>)| {
                let contains = query.contains.as_ref().is_none_or(|it| String::from_utf8_lossy(text).contains(it));
                let within = query.within.is_empty() || query.within.iter().any(|it| it.as_str() == path.as_str());
                contains && within
            };
            let file = |(path, text): (&FilePath, &Vec<u8>)| RepoFile { path: path.clone(), content: text.clone() };
            Ok(found.files.iter().filter(fits).map(file).collect())
        })
        .await
    }

    async fn prepare(&self, access: &RepoAccess, change: &Change) -> Result<CommitId, RepoError> {
        self.call(access, Doing::Preparing, |state| {
            let parent = state.commits.get(&change.parent);
            let parent = parent.ok_or_else(|| missing(access, Doing::Preparing, &change.parent))?;
            let mut files = parent.files.clone();
            for (path, what) in &change.files {
                match what {
                    FileChange::Write(text) => files.insert(path.clone(), text.clone()),
                    FileChange::Remove => files.remove(path),
                };
            }
            let message = format!("{}\n{}", change.message, change.at);
            let said = (change.message.trim_end().to_owned(), change.author.to_string(), change.at);
            let made = Commit { parent: Some(change.parent.clone()), files, message, said };
            let id = id(&made);
            state.commits.insert(id.clone(), made);
            Ok(id)
        })
        .await
    }

    async fn push(&self, access: &RepoAccess, push: &Push) -> Result<Pushed, RepoError> {
        let asked = self.clock.now();
        let mut landing = Landing { repos: self, access, push, asked, is_over: false };
        let pushed = self.call(access, Doing::Pushing, |state| state.push(access, push, asked)).await;
        landing.is_over = true;
        pushed
    }
}

/// A push whose sender went away in the middle of it: it may arrive all the same.
struct Landing<'a> {
    repos: &'a SimRepos,
    access: &'a RepoAccess,
    push: &'a Push,
    asked: Timestamp,
    is_over: bool,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.repos.fate.chance().happens(500) {
            // Nobody is left to be told.
            let _ = self.repos.state().push(self.access, self.push, self.asked);
        }
    }
}

impl State {
    fn push(&mut self, access: &RepoAccess, push: &Push, asked: Timestamp) -> Result<Pushed, RepoError> {
        let (repository, branch) = (access.url.clone(), push.branch.clone());
        let now = self.branches.get(&branch).cloned();
        if now == push.commit {
            return Ok(Pushed::Before);
        }
        if now != push.expect {
            return Err(match now {
                Some(now) => RepoError::Moved { repository, branch, now },
                None => RepoError::NoBranch { repository, branch },
            });
        }
        let moves = self.way(now.as_ref(), push.commit.as_ref());
        let moves = moves.into_iter().map(|(before, commit)| BaseMove {
            branch: branch.clone(),
            asked,
            by: None,
            message: commit.message.clone(),
            before: before.map(|it| texts(&it.files)).unwrap_or_default(),
            after: texts(&commit.files),
        });
        let moves: Vec<_> = moves.collect();
        match &push.commit {
            Some(commit) => self.branches.insert(branch, commit.clone()),
            None => self.branches.remove(&branch),
        };
        self.pushes += 1;
        self.moves.extend(moves);
        Ok(Pushed::Now)
    }
}

fn missing(access: &RepoAccess, doing: Doing, commit: &CommitId) -> RepoError {
    RepoError::NoCommit { repository: access.url.clone(), doing, commit: commit.clone() }
}

fn texts(files: &Files) -> BTreeMap<String, String> {
    files.iter().map(|(path, text)| (path.to_string(), String::from_utf8_lossy(text).into_owned())).collect()
}

/// The same commit always has the same id.
fn id(commit: &Commit) -> CommitId {
    let part = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, &commit.parent, &commit.files, &commit.message).hash(&mut hasher);
        hasher.finish()
    };
    let digits = format!("{:016x}{:016x}{:016x}", part(1), part(2), part(3));
    CommitId::new(&digits[..40]).unwrap_or_else(|_| unreachable!("forty hexadecimal digits are a commit id"))
}
