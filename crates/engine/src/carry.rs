//! One promotion carried one step further: look, do what is missing, and write down what was learnt.
//!
//! Every step is an *ensure*. It looks first, does only what is missing, and may be repeated at any time by anyone; what
//! it would do for the second time it finds done. It decides nothing: what it learns is a fact on the record, and right
//! before a change that others see it asks [`weir_core::plan`] once more whether that is still wanted.
//!
//! The steps are the modules: `propose`, `merge` (and the push without a proposal), `close`. `own` is a proposal that Weir
//! keeps itself, `there` a pull request on a forge. `train` brings the changes of many onto one base branch, `places`
//! finds what to edit, `words` says what it is for, and `record` is what is read and written of the promotion itself.

mod close;
mod merge;
mod own;
mod places;
mod propose;
mod record;
mod there;
mod train;
mod trouble;
mod words;

use futures_util::future::try_join;
use jiff::Timestamp;
use weir_core::{
    Base, BranchName, CommitId, Declared, ForgeKind, Intent, LegFacts, Place, PlainProposal, PlainState, Promotion,
    PromotionKey, ProposalState, Repository,
};
use weir_ports::{Clock as _, ConfigRepos as _, ForgeAccess, Ownership as _, PullRequest, RepoAccess, RepoError};

use crate::{
    access::access,
    memory::{Look, Memory},
    ports::Ports,
    settings::Settings,
    world::World,
};

pub(crate) use places::{MARKER, Places, Scope};
pub(crate) use train::Stations;
pub(crate) use trouble::Trouble;

/// How many turns back another process may be.
const EARLIER: usize = 3;

/// What a step is taken with.
pub(crate) struct Carrier<'a, P> {
    pub(crate) world: &'a World,
    pub(crate) ports: &'a P,
    pub(crate) memory: &'a Memory,
    pub(crate) settings: &'a Settings,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// There is nothing more to do until something changes.
    Well,
    /// Something moved under it. It is worth another look at once.
    Stale,
    /// It is no longer what shall be done, which has to be decided anew.
    Unwanted,
    /// It failed, and is tried again at that time.
    Retry(Timestamp),
}

/// One promotion in the hands of a carrier: the record as it is being worked on, and how it is defined.
struct Load<'a> {
    promotion: Promotion,
    /// The facts as they stand in the store, as far as this carrier knows.
    written: LegFacts,
    repository: &'a Repository,
    access: RepoAccess,
    branch: BranchName,
    looked: Look,
    base: CommitId,
    tip: Option<CommitId>,
    places: std::sync::Arc<Places>,
    /// Which forge its pull requests are on. `None`: it has none.
    forge: Option<ForgeKind>,
    proposed: Proposed,
}

/// The proposal of a promotion, in any state, and where it is kept.
#[derive(Debug, Clone)]
enum Proposed {
    /// By Weir itself.
    Here(Option<PlainProposal>),
    /// On a forge.
    There(ForgeAccess, Option<PullRequest>),
}

impl Proposed {
    fn is_open(&self) -> bool {
        match self {
            Self::Here(found) => found.as_ref().is_some_and(|proposal| proposal.state == PlainState::Open),
            Self::There(_, found) => found.as_ref().is_some_and(PullRequest::is_open),
        }
    }

    /// Whether it has to be opened on a forge.
    fn is_missing_there(&self) -> bool {
        matches!(self, Self::There(..)) && !self.is_open()
    }
}

impl Load<'_> {
    fn scope(&self) -> Scope<'_> {
        Scope { pipeline: &self.promotion.key.pipeline, environment: &self.promotion.key.environment }
    }

    fn facts(&mut self) -> &mut LegFacts {
        &mut self.promotion.leg.facts
    }

    /// What the base branch declares. Written down when that changed, or when it was merged into since.
    fn see_base(&mut self) -> Result<(), Trouble> {
        let declares = self.places.declared(self.scope(), &self.promotion.release)?;
        let facts = &self.promotion.leg.facts;
        let merged = facts.proposal.as_ref().and_then(|proposal| match &proposal.state {
            ProposalState::Merged { at, .. } => Some(*at),
            _ => None,
        });
        let known = facts.base.as_ref().is_some_and(|base| {
            base.commit == self.base && base.declares == declares && merged.is_none_or(|at| base.seen >= at)
        });
        if !known {
            // Not when it is written down: what was merged since the look is not in it.
            let (commit, seen) = (self.base.clone(), self.looked.at);
            self.facts().base = Some(Base { commit, seen, declares });
        }
        Ok(())
    }

    fn place(&self) -> Place {
        let Repository { url, base, secret } = self.repository.clone();
        Place { repository: url.to_string().into(), base, secret, forge: Some(self.forge.unwrap_or(ForgeKind::Git)) }
    }

    /// Whether what is on the branch is Weir's own, or nothing is.
    fn is_ours(&self) -> bool {
        match (&self.tip, &self.promotion.leg.facts.branch) {
            (None, _) => true,
            (Some(tip), Some(written)) => written.is_ours(tip),
            (Some(_), None) => false,
        }
    }
}

impl<P: Ports> Carrier<'_, P> {
    /// Takes the next step of a promotion. `failures` is how often it has failed in a row.
    pub(crate) async fn carry(&self, key: &PromotionKey, failures: u32) -> Ended {
        match self.step(key).await {
            Ok(()) => Ended::Well,
            Err(Trouble::Stale) => Ended::Stale,
            Err(Trouble::Unwanted) => Ended::Unwanted,
            Err(trouble @ Trouble::Pushed) => {
                tracing::info!(promotion = %key, "{trouble}");
                Ended::Retry(self.retry(&trouble, failures))
            }
            // Whoever acts for it by now may have done it long ago.
            Err(trouble) if !self.ports.ownership().owns(&key.pipeline) => {
                tracing::info!(promotion = %key, %trouble, "a step failed that is another process's by now");
                Ended::Unwanted
            }
            Err(trouble) => {
                let retry = self.retry(&trouble, failures);
                tracing::warn!(promotion = %key, %trouble, %retry, "a step failed");
                if let Some(problem) = trouble.problem(retry) {
                    let told = self.amend(key, |facts| facts.problem = Some(problem.clone())).await;
                    if let Err(error) = told {
                        tracing::warn!(promotion = %key, %error, "the failure cannot be written down");
                    }
                }
                Ended::Retry(retry)
            }
        }
    }

    async fn step(&self, key: &PromotionKey) -> Result<(), Trouble> {
        let Some(promotion) = self.promotion(key).await? else { return Ok(()) };
        if !self.has_the_turn(key) {
            return Ok(());
        }
        let strategy = self.world.look(&key.pipeline, |known| {
            let environment = known.pipeline().environment(&key.environment);
            environment.and_then(|it| it.promotion.clone()).map(|policy| policy.strategy)
        });
        let strategy = strategy.flatten();
        let written = promotion.leg.facts.branch.as_ref().and_then(|branch| branch.at.clone());
        if let Some(at) = written.filter(|at| strategy.as_ref().and_then(Place::of).as_ref() != Some(at)) {
            return self.leave(promotion, &at).await;
        }
        let Some(strategy) = &strategy else { return self.abandon(promotion).await };
        let Some(repository) = strategy.repository() else { return self.notify(promotion).await };
        let decided_on = promotion.leg.facts.base.as_ref().map(|base| base.declares.clone());
        let mut load = self.load(promotion, repository, strategy.forge()).await?;
        if load.promotion.leg.facts.base.as_ref().map(|base| &base.declares) != decided_on.as_ref() {
            // What was decided was decided on something else. With this on the record, it is decided anew.
            if load.promotion.leg.intent != Some(Intent::Locate) {
                self.learn(&mut load).await?;
                return Err(Trouble::Stale);
            }
            self.memory.remember(key, load.looked.clone());
            return self.learn(&mut load).await;
        }
        match load.promotion.leg.intent.clone() {
            None | Some(Intent::Locate | Intent::Notify) => self.tidy(&mut load).await?,
            Some(Intent::Propose) => self.propose(&mut load).await?,
            Some(Intent::Push) => self.push(&mut load).await?,
            Some(Intent::Merge(head)) => self.merge(&mut load, &head).await?,
            Some(Intent::Close(note)) => self.close(&mut load, note).await?,
        }
        self.learn(&mut load).await?;
        self.show(&load).await
    }

    /// Reads everything that a step is taken by, and brings the facts up to date with it.
    async fn load<'r>(
        &self,
        promotion: Promotion,
        repository: &'r Repository,
        forge: Option<ForgeKind>,
    ) -> Result<Load<'r>, Trouble> {
        let access = access(self.ports, &promotion.key.pipeline.namespace, repository).await?;
        let branch = self.branch(&promotion)?;
        let (looked, proposed) = self.look(&promotion, repository, forge, &access, &branch).await?;
        let [base, tip] = looked.heads.clone();
        let base = base.ok_or_else(|| RepoError::NoBranch {
            repository: repository.url.clone(),
            branch: repository.base.clone(),
        })?;
        let places = self.memory.places(self.ports, &access, &base).await?;
        let written = promotion.leg.facts.clone();
        let mut load =
            Load { promotion, written, repository, access, branch, looked, base, tip, places, forge, proposed };
        load.facts().problem = None;
        if !load.is_ours() {
            self.recognise(&mut load).await?;
        }
        load.see_base()?;
        self.see_merge(&mut load).await?;
        self.see_proposal(&mut load).await?;
        Ok(load)
    }

    /// What is on the branch may be from another process: for a later promotion, which this process does not know of yet,
    /// or for an earlier one whose turn had passed without the other knowing. It was written down before it was pushed.
    async fn recognise(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let Some(tip) = load.tip.clone() else { return Ok(()) };
        let turn = |ordinal| PromotionKey { ordinal, ..load.promotion.key.clone() };
        let (ordinal, later) = (load.promotion.key.ordinal, turn(load.promotion.key.ordinal + 1));
        let earlier: Vec<_> = (1..ordinal).rev().take(EARLIER).map(turn).collect();
        if self.promotion(&later).await?.is_some() {
            return Err(Trouble::Unwanted);
        }
        for key in earlier {
            let earlier = self.promotion(&key).await?.and_then(|earlier| earlier.leg.facts.branch);
            if let Some(earlier) = earlier.filter(|earlier| earlier.name == load.branch && earlier.is_ours(&tip)) {
                let known = load.promotion.leg.facts.branch.clone().unwrap_or(earlier);
                load.facts().branch = Some(known.with(tip));
                break;
            }
        }
        Ok(())
    }

    /// Brings the facts of the proposal up to date.
    async fn see_proposal(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let facts = match &load.proposed {
            Proposed::Here(None) | Proposed::There(_, None) => None,
            Proposed::Here(Some(proposal)) => self.own_facts(load, proposal)?,
            Proposed::There(_, Some(found)) => self.facts_there(load, found).await?,
        };
        load.facts().proposal = facts;
        Ok(())
    }

    /// Where the base and the branch of the proposal are, and the proposal itself.
    async fn look(
        &self,
        promotion: &Promotion,
        repository: &Repository,
        forge: Option<ForgeKind>,
        access: &RepoAccess,
        branch: &BranchName,
    ) -> Result<(Look, Proposed), Trouble> {
        let branches = [repository.base.clone(), branch.clone()];
        let now = self.ports.clock().now();
        let is_same = |seen: &Look| seen.repository == repository.url && seen.branches == branches;
        // A proposal that follows on what was just located need not ask for the same once more.
        let seen = self.memory.recall(&promotion.key, now);
        let seen = seen.filter(|seen| promotion.leg.intent == Some(Intent::Propose) && is_same(seen));
        let heads = async {
            if let Some(seen) = &seen {
                return Ok(seen.heads.clone());
            }
            let heads = self.ports.repos().look(access, &branches).await?;
            Ok::<_, Trouble>(heads.try_into().unwrap_or_default())
        };
        let RepoAccess { url, credentials } = access.clone();
        let (heads, proposed) = match forge.map(|kind| ForgeAccess { kind, url, credentials }) {
            None => (heads.await?, Proposed::Here(self.find_own(promotion).await?)),
            Some(there) => {
                let found = async {
                    match &seen {
                        Some(seen) => Ok(seen.found.clone()),
                        None => self.find_there(promotion, repository, branch, &there).await,
                    }
                };
                let (heads, found) = try_join(heads, found).await?;
                (heads, Proposed::There(there, found))
            }
        };
        let found = match &proposed {
            Proposed::Here(_) => None,
            Proposed::There(_, found) => found.clone(),
        };
        let at = seen.map_or(now, |seen| seen.at);
        Ok((Look { at, repository: repository.url.clone(), branches, heads, found }, proposed))
    }

    /// The branch of the proposal: the one that was used before, or else the plain name if nobody else has it.
    fn branch(&self, promotion: &Promotion) -> Result<BranchName, Trouble> {
        if let Some(written) = &promotion.leg.facts.branch {
            return Ok(written.name.clone());
        }
        let plain = words::branch(&promotion.key)?;
        let (pipeline, environment) = (&promotion.key.pipeline, &promotion.key.environment);
        let mut taken = false;
        self.world.scan(None, |key, known| {
            // Nearly all of them are told apart by their names alone.
            if !words::may_name(&plain, key) {
                return true;
            }
            let others = known.snapshot().promotions.iter().filter(|other| {
                let ours = key == pipeline && other.key.environment == *environment;
                !ours && other.leg.facts.branch.as_ref().is_some_and(|written| written.name == plain)
            });
            taken = others.count() > 0;
            !taken
        });
        Ok(if taken { words::other_branch(&promotion.key)? } else { plain })
    }

    /// On one machine the event stream is the notification: whoever listens to it has been told.
    async fn notify(&self, promotion: Promotion) -> Result<(), Trouble> {
        if promotion.leg.intent == Some(Intent::Notify) && promotion.leg.facts.accepted.is_none() {
            let now = self.ports.clock().now();
            tracing::info!(promotion = %promotion.key, release = %promotion.release, "notified");
            self.amend(&promotion.key, |facts| facts.accepted = Some(now)).await?;
        }
        Ok(())
    }

    fn retry(&self, trouble: &Trouble, failures: u32) -> Timestamp {
        let pause = trouble.pause(failures, self.ports.clock().random());
        let now = self.ports.clock().now();
        now.checked_add(pause).unwrap_or(now)
    }
}

/// Whether the base branch declares a release, and nothing else.
fn declares(load: &Load<'_>, release: &weir_core::Release) -> bool {
    match load.promotion.leg.facts.base.as_ref().map(|base| &base.declares) {
        Some(Declared::Releases(releases)) => !releases.is_empty() && releases.iter().all(|it| it.covers(release)),
        _ => false,
    }
}
