//! A forge in memory, with the pull requests of the simulated repository.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use weir_core::{BranchName, Checks, CommitId, Review};
use weir_ports::{Between, Clock as _, Forge, ForgeAccess, ForgeError, PullRequest, PullRequestState, Shown, Wanted};

use super::{
    clock::SimClock,
    fate::{Fate, Turn},
    repos::SimRepos,
};

/// The account that the port acts as.
const BOT: &str = "weir-bot";

/// Pull requests in memory, under some fate.
#[derive(Debug, Clone)]
pub struct SimForge {
    state: Arc<Mutex<Vec<Kept>>>,
    shown: Arc<Mutex<Vec<(CommitId, Shown)>>>,
    checks: Arc<Mutex<Checks>>,
    twice: Arc<AtomicUsize>,
    opening: Arc<Mutex<Duration>>,
    down: Arc<AtomicBool>,
    repos: SimRepos,
    fate: Fate,
    clock: SimClock,
}

/// A pull request, and what only the forge knows of it.
#[derive(Debug, Clone)]
pub struct Kept {
    /// From where.
    pub head: BranchName,
    /// Into where.
    pub base: BranchName,
    /// What everybody sees.
    pub seen: PullRequest,
    /// The notes beneath it.
    pub notes: Vec<String>,
    changed: Timestamp,
}

impl SimForge {
    pub(super) fn new(repos: SimRepos, fate: Fate, clock: SimClock) -> Self {
        let (state, shown, checks, twice, opening, down) = Default::default();
        Self { state, shown, checks, twice, opening, down, repos, fate, clock }
    }

    pub(super) fn under(&self, fate: Fate) -> Self {
        Self { fate, ..self.clone() }
    }

    /// Every pull request that there ever was, oldest first.
    pub fn all(&self) -> Vec<Kept> {
        let mut state = self.state();
        self.refresh(&mut state);
        state.clone()
    }

    /// Takes this long to open a pull request.
    pub fn open_slowly(&self, time: Duration) {
        *self.opening.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Answers nobody from now on, or answers again.
    pub fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::Relaxed);
    }

    /// How often somebody asked for a pull request that another opened at the same time.
    pub fn opened_twice(&self) -> usize {
        self.twice.load(Ordering::Relaxed)
    }

    /// What was shown beside commits, oldest first.
    pub fn shown(&self) -> Vec<(CommitId, Shown)> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what the forge says of a pull request: its checks, its reviews.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut PullRequest)) {
        let now = self.clock.now();
        let mut state = self.state();
        if let Some(kept) = state.iter_mut().find(|kept| *kept.seen.id == *id) {
            change(&mut kept.seen);
            kept.changed = now;
        }
    }

    /// What the checks of new pull requests say.
    pub fn check_new_ones(&self, checks: Checks) {
        *self.checks.lock().unwrap_or_else(PoisonError::into_inner) = checks;
    }

    /// Merges a pull request as a person does; `false` if it cannot be merged.
    pub fn merge_by(&self, id: &str, who: &str) -> bool {
        let mut state = self.state();
        self.refresh(&mut state);
        let Some(kept) = state.iter_mut().find(|kept| *kept.seen.id == *id && kept.seen.is_open()) else {
            return false;
        };
        self.merge_kept(kept, who, self.clock.now())
    }

    /// Closes a pull request as a person does.
    pub fn close_by(&self, id: &str, who: &str) {
        self.change(id, |seen| {
            if seen.is_open() {
                seen.state = PullRequestState::Closed { by: Some(who.into()) };
            }
        });
    }

    /// Gives a pull request another text.
    pub fn rename(&self, id: &str, title: &str, body: &str) {
        self.change(id, |seen| {
            title.clone_into(&mut seen.title);
            body.clone_into(&mut seen.body);
        });
    }

    fn merge_kept(&self, kept: &mut Kept, who: &str, asked: Timestamp) -> bool {
        let merged = self.repos.merge(&kept.base, &kept.seen.head, Some(who).filter(|who| *who != BOT), asked);
        if merged {
            kept.changed = self.clock.now();
            kept.seen.state = PullRequestState::Merged { at: kept.changed, by: Some(who.into()) };
        }
        merged
    }

    fn state(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open pull request follows its branch, and is closed when that is gone.
    fn refresh(&self, state: &mut [Kept]) {
        for kept in state.iter_mut().filter(|kept| kept.seen.is_open()) {
            match self.repos.head(&kept.head) {
                Some(head) => {
                    kept.seen.conflict = !self.repos.merges(&kept.base, &head);
                    if kept.seen.head != head {
                        kept.seen.head = head;
                        kept.changed = self.clock.now();
                    }
                }
                None => kept.seen.state = PullRequestState::Closed { by: None },
            }
        }
    }

    async fn call<T>(
        &self,
        doing: &'static str,
        call: impl FnOnce(&mut Vec<Kept>) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        let lost = || ForgeError::Unreachable { forge: forge(), doing, reason: "the weather is bad".to_owned() };
        let turn = self.fate.before().await;
        if turn == Turn::Refused || self.down.load(Ordering::Relaxed) {
            return Err(lost());
        }
        let done = {
            let mut state = self.state();
            self.refresh(&mut state);
            call(&mut state)
        };
        self.fate.after().await;
        if turn == Turn::Lost { Err(lost()) } else { done }
    }
}

impl Forge for SimForge {
    async fn find(&self, _: &ForgeAccess, between: &Between) -> Result<Option<PullRequest>, ForgeError> {
        self.call("looking for a pull request", |state| {
            let ours = |kept: &&Kept| kept.head == between.head && kept.base == between.base;
            let open = state.iter().filter(ours).find(|kept| kept.seen.is_open());
            let last = state.iter().filter(ours).rfind(|kept| kept.seen.body.contains(&between.mark));
            Ok(open.or(last).map(|kept| kept.seen.clone()))
        })
        .await
    }

    /// As on a real forge, two may find that there is none, and both go on to open one.
    async fn ensure(&self, _: &ForgeAccess, wanted: &Wanted) -> Result<PullRequest, ForgeError> {
        let Between { head, base, .. } = &wanted.between;
        let open = |state: &mut Vec<Kept>| {
            let ours = |kept: &&mut Kept| kept.head == *head && kept.base == *base && kept.seen.is_open();
            state.iter_mut().find(ours).map(|kept| {
                (kept.seen.title, kept.seen.body) = (wanted.title.clone(), wanted.body.clone());
                kept.changed = self.clock.now();
                kept.seen.clone()
            })
        };
        if let Some(open) = self.call("opening a pull request", |state| Ok(open(state))).await? {
            return Ok(open);
        }
        let opening = *self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        tokio::time::sleep(opening).await;
        self.call("opening a pull request", |state| {
            if let Some(open) = open(state) {
                self.twice.fetch_add(1, Ordering::Relaxed);
                return Ok(open);
            }
            if let Some(over) = state.iter().find(|kept| kept.seen.body.contains(&wanted.once)) {
                return Err(ForgeError::Moved { forge: forge(), id: over.seen.id.to_string() });
            }
            let doing = "opening a pull request";
            let refused = |reason: &str| ForgeError::Refused { forge: forge(), doing, reason: reason.to_owned() };
            let tip = self.repos.head(head).ok_or_else(|| refused("there is no such branch"))?;
            let id = (state.len() + 1).to_string();
            let seen = PullRequest {
                url: format!("https://forge.example.org/pulls/{id}").into(),
                id: id.into(),
                state: PullRequestState::Open,
                head: tip,
                title: wanted.title.clone(),
                body: wanted.body.clone(),
                checks: self.checks.lock().unwrap_or_else(PoisonError::into_inner).clone(),
                review: Review::NotRequired,
                conflict: false,
            };
            let (head, base, changed) = (head.clone(), base.clone(), self.clock.now());
            state.push(Kept { head, base, seen: seen.clone(), notes: Vec::new(), changed });
            Ok(seen)
        })
        .await
    }

    async fn merge(&self, _: &ForgeAccess, id: &str, head: &CommitId) -> Result<(), ForgeError> {
        let asked = self.clock.now();
        self.call("merging a pull request", |state| {
            let moved = || ForgeError::Moved { forge: forge(), id: id.to_owned() };
            let kept = state.iter_mut().find(|kept| *kept.seen.id == *id).ok_or_else(moved)?;
            match kept.seen.state {
                PullRequestState::Merged { .. } => return Ok(()),
                PullRequestState::Open if kept.seen.head == *head => {}
                _ => return Err(moved()),
            }
            if self.merge_kept(kept, BOT, asked) { Ok(()) } else { Err(moved()) }
        })
        .await
    }

    async fn close(&self, _: &ForgeAccess, id: &str, note: &str) -> Result<(), ForgeError> {
        self.call("closing a pull request", |state| {
            let open = |kept: &&mut Kept| *kept.seen.id == *id && kept.seen.is_open();
            if let Some(kept) = state.iter_mut().find(open) {
                kept.notes.push(note.to_owned());
                kept.seen.state = PullRequestState::Closed { by: Some(BOT.into()) };
                kept.changed = self.clock.now();
            }
            Ok(())
        })
        .await
    }

    async fn show(&self, _: &ForgeAccess, commit: &CommitId, shown: &Shown) -> Result<(), ForgeError> {
        self.call("showing what holds a commit", |_| {
            self.shown.lock().unwrap_or_else(PoisonError::into_inner).push((commit.clone(), shown.clone()));
            Ok(())
        })
        .await
    }

    async fn changed(&self, _: &ForgeAccess, since: Timestamp) -> Result<Vec<BranchName>, ForgeError> {
        self.call("looking at pull requests", |state| {
            Ok(state.iter().filter(|kept| kept.changed >= since).map(|kept| kept.head.clone()).collect())
        })
        .await
    }
}

fn forge() -> String {
    "https://forge.example.org".to_owned()
}
