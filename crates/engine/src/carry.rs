//! One promotion carried one step further: look, do what is missing, and write down what was learnt.
//!
//! Every step is an *ensure*. It looks first, does only what is missing, and may be repeated at any time by anyone; what
//! it would do for the second time it finds done. It decides nothing: what it learns is a fact on the record, and right
//! before a change that others see it asks [`plan`] once more whether that is still wanted.
//!
//! The steps are the modules: `propose`, `merge` (and the push without a proposal), `close`. `own` is a proposal that Weir
//! keeps itself, `there` a pull request on a forge. `train` brings the changes of many onto one base branch, `places`
//! finds what to edit, `words` says what it is for.

mod close;
mod merge;
mod own;
mod places;
mod propose;
mod there;
mod train;
mod trouble;
mod words;

use jiff::Timestamp;
use weir_core::{
    Base, BranchName, CommitId, Declared, ForgeKind, Intent, LegFacts, Place, PlainProposal, PlainState, Promotion,
    PromotionKey, ProposalState, Repository, Strategy, plan,
};
use weir_ports::{
    Clock as _, ConfigRepos as _, ForgeAccess, PullRequest, Record, RecordKey, RepoAccess, RepoError, Store as _,
    StoreError, Stored,
};

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
}

impl Load<'_> {
    fn scope(&self) -> Scope<'_> {
        Scope { pipeline: &self.promotion.key.pipeline, environment: &self.promotion.key.environment }
    }

    fn facts(&mut self) -> &mut LegFacts {
        &mut self.promotion.leg.facts
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
        let Some((repository, forge)) = repository(strategy) else { return self.notify(promotion).await };
        let decided_on = promotion.leg.facts.base.as_ref().map(|base| base.declares.clone());
        let mut load = self.load(promotion, repository, forge).await?;
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
        let looked = self.look(&promotion, repository, &access, &branch).await?;
        let [base, tip] = looked.heads.clone();
        let base = base.ok_or_else(|| RepoError::NoBranch {
            repository: repository.url.clone(),
            branch: repository.base.clone(),
        })?;
        let places = self.memory.places(self.ports, &access, &base).await?;
        let proposed = match forge {
            None => Proposed::Here(self.find_own(&promotion).await?),
            Some(kind) => {
                let RepoAccess { url, credentials } = access.clone();
                let there = ForgeAccess { kind, url, credentials };
                let found = self.find_there(&promotion, repository, &branch, &there).await?;
                Proposed::There(there, found)
            }
        };
        let mut load = Load { promotion, repository, access, branch, looked, base, tip, places, forge, proposed };
        load.facts().problem = None;
        self.see_base(&mut load)?;
        self.see_merge(&mut load).await?;
        self.see_proposal(&mut load).await?;
        Ok(load)
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

    /// Where the base and the branch of the proposal are.
    async fn look(
        &self,
        promotion: &Promotion,
        repository: &Repository,
        access: &RepoAccess,
        branch: &BranchName,
    ) -> Result<Look, Trouble> {
        let branches = [repository.base.clone(), branch.clone()];
        let now = self.ports.clock().now();
        let seen = self.memory.recall(&promotion.key, now);
        // A proposal that follows on what was just located need not ask for the same branches once more.
        if let Some(seen) = seen.filter(|_| promotion.leg.intent == Some(Intent::Propose))
            && seen.repository == repository.url
            && seen.branches == branches
        {
            return Ok(seen);
        }
        let heads = self.ports.repos().look(access, &branches).await?.try_into().unwrap_or_default();
        Ok(Look { at: now, repository: repository.url.clone(), branches, heads })
    }

    /// What the base branch declares. Written down when that changed, or when it was merged into since.
    fn see_base(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let declares = load.places.declared(load.scope(), &load.promotion.release)?;
        let facts = &load.promotion.leg.facts;
        let merged = facts.proposal.as_ref().and_then(|proposal| match &proposal.state {
            ProposalState::Merged { at, .. } => Some(*at),
            _ => None,
        });
        let known = facts.base.as_ref().is_some_and(|base| {
            base.commit == load.base && base.declares == declares && merged.is_none_or(|at| base.seen >= at)
        });
        if !known {
            let (commit, seen) = (load.base.clone(), self.ports.clock().now());
            load.facts().base = Some(Base { commit, seen, declares });
        }
        Ok(())
    }

    /// Whether no later promotion has the turn by now.
    fn has_the_turn(&self, key: &PromotionKey) -> bool {
        let newest = self.world.look(&key.pipeline, |known| known.newest(&key.environment).map(|it| it.key.clone()));
        newest.flatten().as_ref() == Some(key)
    }

    /// Writes down what was learnt, if it is anything new. What is seen after the turn has passed is another's to tell.
    async fn learn(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        if !self.has_the_turn(&load.promotion.key) {
            return Err(Trouble::Unwanted);
        }
        let facts = load.promotion.leg.facts.clone();
        self.amend(&load.promotion.key, |known| known.clone_from(&facts)).await
    }

    /// Changes the facts of a promotion, whatever else was written to it in the meantime: nobody else writes facts.
    async fn amend(&self, key: &PromotionKey, change: impl Fn(&mut LegFacts)) -> Result<(), Trouble> {
        let record = RecordKey::Promotion(key.clone());
        loop {
            let Some(Stored { record: Record::Promotion(mut promotion), version }) =
                self.ports.store().get(&record).await?
            else {
                return Ok(());
            };
            let before = promotion.leg.facts.clone();
            change(&mut promotion.leg.facts);
            if promotion.leg.facts == before {
                return Ok(());
            }
            let record = Record::Promotion(promotion);
            match self.ports.store().replace(record.clone(), version).await {
                Ok(version) => {
                    self.world.keep(Stored { record, version });
                    return Ok(());
                }
                Err(StoreError::Moved(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The promotion as it is now, in the world, too.
    async fn promotion(&self, key: &PromotionKey) -> Result<Option<Promotion>, Trouble> {
        let stored = self.ports.store().get(&RecordKey::Promotion(key.clone())).await?;
        let Some(Stored { record: Record::Promotion(promotion), version }) = stored else { return Ok(None) };
        self.world.keep(Stored { record: Record::Promotion(promotion.clone()), version });
        Ok(Some(*promotion))
    }

    /// Whether a step is still wanted at this very moment.
    fn wants(&self, key: &PromotionKey, intent: &Intent) -> bool {
        let now = self.ports.clock().now();
        let wanted = self.world.look(&key.pipeline, |known| {
            let plan = plan(known.pipeline(), known.snapshot(), now);
            let promotion = plan.promotion(key, known.snapshot());
            promotion.is_some_and(|promotion| promotion.leg.intent.as_ref() == Some(intent))
        });
        wanted == Some(true)
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

/// The repository that a strategy changes, and the forge that its pull requests are on.
fn repository(strategy: &Strategy) -> Option<(&Repository, Option<ForgeKind>)> {
    match strategy {
        Strategy::Notification => None,
        Strategy::Push(repository) => Some((repository, None)),
        Strategy::PullRequest(it) => Some((&it.repository, Some(it.forge).filter(|forge| *forge != ForgeKind::Git))),
    }
}

/// Whether the base branch declares a release, and nothing else.
fn declares(load: &Load<'_>, release: &weir_core::Release) -> bool {
    match load.promotion.leg.facts.base.as_ref().map(|base| &base.declares) {
        Some(Declared::Releases(releases)) => !releases.is_empty() && releases.iter().all(|it| it.covers(release)),
        _ => false,
    }
}
