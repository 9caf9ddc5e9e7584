//! A pipeline played through without servers: facts go in, [`plan`] decides, and its intents are carried out the way Git,
//! a forge and a notified system do on a good day. This is what `weir simulate` runs, and what the stories in the tests are
//! told with.

mod fact;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

use crate::{
    apply::apply,
    name::{CommitId, EnvironmentName},
    observation::{Sighting, Unreachable, Version, Workload, WorkloadState},
    pipeline::{Environment, Pipeline, TargetKey},
    plan::{Plan, plan},
    promotion::{Approval, Base, Checks, Declared, Intent, Promotion, PromotionKey, Proposal, ProposalState, Review},
    release::Release,
    snapshot::Snapshot,
    turnover::request,
};

pub use fact::{Fact, FactError};

/// A world in which a pipeline is played through.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    /// The pipeline. It may be changed in the middle.
    pub pipeline: Pipeline,
    /// What is known.
    pub snapshot: Snapshot,
    /// What time it is.
    pub now: Timestamp,
    base: BTreeMap<EnvironmentName, Declared>,
    commits: u64,
}

/// An intent that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// For which promotion.
    pub promotion: PromotionKey,
    /// Of which release.
    pub release: Release,
    /// What was done.
    pub intent: Intent,
}

impl Carried {
    /// What was done, in words that begin with what Weir does. `None`: it was read, and nothing was written.
    pub fn told(&self) -> Option<String> {
        let release = &self.release;
        match &self.intent {
            Intent::Locate => None,
            Intent::Propose => Some(format!("proposes {release}")),
            Intent::Push => Some(format!("pushes {release} to the base branch")),
            Intent::Merge(_) => Some(format!("merges the proposal of {release}")),
            Intent::Close(note) => Some(format!("closes the proposal: {note}")),
            Intent::Notify => Some(format!("tells the other side about {release}")),
        }
    }
}

impl Rehearsal {
    /// A world that begins like this.
    pub fn new(pipeline: Pipeline, snapshot: Snapshot, now: Timestamp) -> Self {
        let mut seen: BTreeMap<&EnvironmentName, &Base> = BTreeMap::new();
        for promotion in &snapshot.promotions {
            if let Some(base) = &promotion.leg.facts.base {
                let newest = seen.entry(&promotion.key.environment).or_insert(base);
                if base.seen > newest.seen {
                    *newest = base;
                }
            }
        }
        let base = seen.into_iter().map(|(environment, base)| (environment.clone(), base.declares.clone())).collect();
        Self { pipeline, snapshot, now, base, commits: 0 }
    }

    /// Decides once, and writes the decision down.
    pub fn decide(&mut self) -> Plan {
        let plan = plan(&self.pipeline, &self.snapshot, self.now);
        self.snapshot = apply(&plan, std::mem::take(&mut self.snapshot));
        plan
    }

    /// Carries out every intent once.
    pub fn carry(&mut self) -> Vec<Carried> {
        let todo: Vec<_> = self
            .snapshot
            .promotions
            .iter()
            .filter(|promotion| promotion.leg.facts.problem.is_none())
            .filter_map(|promotion| {
                let intent = promotion.leg.intent.clone()?;
                Some(Carried { promotion: promotion.key.clone(), release: promotion.release.clone(), intent })
            })
            .collect();
        todo.into_iter().filter(|step| self.perform(step)).collect()
    }

    /// Decides and carries until nothing moves any more.
    pub fn settle(&mut self) -> Vec<Carried> {
        let mut carried = Vec::new();
        // Every promotion takes a handful of steps; far more than that would be a fault of the rules.
        for _ in 0..64 {
            let wrote = !self.decide().writes.is_empty();
            let steps = self.carry();
            if !wrote && steps.is_empty() {
                break;
            }
            carried.extend(steps);
        }
        carried
    }

    /// Lets something happen.
    pub fn happen(&mut self, fact: Fact) -> Result<(), FactError> {
        match fact {
            Fact::Seen { environment, target, release, state } => {
                let workloads: BTreeMap<_, _> = release
                    .members()
                    .iter()
                    .map(|(key, revision)| {
                        let version = Version::Revision(revision.clone());
                        (key.clone(), Workload { version, state: state.clone() })
                    })
                    .collect();
                for key in self.targets(&environment, target)? {
                    let seen = self.sighting(key);
                    seen.unreachable = None;
                    seen.workloads.extend(workloads.clone());
                }
            }
            Fact::Lost { environment, target, error } => {
                let since = self.now;
                for key in self.targets(&environment, target)? {
                    self.sighting(key).unreachable = Some(Unreachable { error: error.clone(), since });
                }
            }
            Fact::Reported(key, report) => {
                self.environment(&key.environment)?;
                self.snapshot.observe(key, report);
            }
            Fact::Declared { environment, declares } => {
                self.environment(&environment)?;
                self.declare(&environment, declares);
            }
            Fact::Merged { environment, by } => self.merge(&environment, Some(by))?,
            Fact::Closed { environment, by } => {
                self.proposal(&environment)?.state = ProposalState::Closed { by: Some(by) };
            }
            Fact::Checked { environment, checks } => self.proposal(&environment)?.checks = checks,
            Fact::Reviewed { environment, review } => self.proposal(&environment)?.review = review,
            Fact::Committed { environment, by } => {
                let head = self.commit();
                let proposal = self.proposal(&environment)?;
                proposal.changed_by = Some(by);
                proposal.head = head;
            }
            Fact::Conflicted { environment } => self.proposal(&environment)?.conflict = true,
            Fact::Troubled { environment, problem } => {
                self.highest(&environment).ok_or(FactError::NoPromotion(environment))?.leg.facts.problem = problem;
            }
            Fact::Asked { environment, release, by } => {
                let promotion = request(&self.pipeline, &self.snapshot, &environment, release, by)?;
                self.snapshot.promotions.push(promotion);
            }
            Fact::Approved { environment, release, by } => {
                let at = self.now;
                let promotion = self.highest(&environment).filter(|promotion| promotion.phase.is_live());
                let promotion = promotion.ok_or(FactError::NoPromotion(environment))?;
                promotion.approvals.push(Approval { by, release, at });
            }
            Fact::Frozen(freeze) => self.snapshot.freezes.push(freeze),
            Fact::Lifted(name) => self.snapshot.freezes.retain(|freeze| freeze.name != name),
            Fact::Suspended(suspended) => self.pipeline.suspended = suspended,
        }
        Ok(())
    }

    fn environment(&self, name: &EnvironmentName) -> Result<&Environment, FactError> {
        self.pipeline.environment(name).ok_or_else(|| FactError::Environment(name.clone()))
    }

    fn targets(&self, name: &EnvironmentName, only: Option<TargetKey>) -> Result<Vec<TargetKey>, FactError> {
        let all = &self.environment(name)?.targets;
        match only {
            None => Ok(all.clone()),
            Some(target) if all.contains(&target) => Ok(vec![target]),
            Some(target) => Err(FactError::Target(name.clone(), target)),
        }
    }

    fn sighting(&mut self, key: TargetKey) -> &mut Sighting {
        Arc::make_mut(self.snapshot.sightings.entry(key).or_default())
    }

    fn highest(&mut self, environment: &EnvironmentName) -> Option<&mut Promotion> {
        let ours = |promotion: &&mut Promotion| promotion.key.environment == *environment;
        self.snapshot.promotions.iter_mut().filter(ours).max_by_key(|promotion| promotion.key.ordinal)
    }

    fn proposal(&mut self, environment: &EnvironmentName) -> Result<&mut Proposal, FactError> {
        let proposal = self.highest(environment).and_then(|promotion| promotion.leg.facts.proposal.as_mut());
        proposal
            .filter(|proposal| proposal.state == ProposalState::Open)
            .ok_or_else(|| FactError::NoProposal(environment.clone()))
    }

    fn commit(&mut self) -> CommitId {
        self.commits += 1;
        CommitId::numbered(self.commits)
    }

    /// What the base branch declares: what was said of it, or else what Flux made of it.
    fn declares(&self, environment: &EnvironmentName) -> Declared {
        let running = || {
            let record = self.snapshot.environments.get(environment);
            let mut releases: Vec<_> = record
                .into_iter()
                .flat_map(|record| record.targets.values())
                .filter_map(|target| target.release.clone())
                .collect();
            releases.sort();
            releases.dedup();
            Declared::Releases(releases)
        };
        self.base.get(environment).cloned().unwrap_or_else(running)
    }

    /// The base branch declares something now, and whoever looks at it sees that.
    fn declare(&mut self, environment: &EnvironmentName, declares: Declared) {
        self.base.insert(environment.clone(), declares.clone());
        let (commit, seen) = (self.commit(), self.now);
        if let Some(promotion) = self.highest(environment) {
            promotion.leg.facts.base = Some(Base { commit, seen, declares });
        }
    }

    fn merge(&mut self, environment: &EnvironmentName, by: Option<Arc<str>>) -> Result<(), FactError> {
        let at = self.now;
        let proposal = self.proposal(environment)?;
        proposal.state = ProposalState::Merged { at, by };
        if let Some(release) = proposal.release.clone() {
            self.declare(environment, Declared::Releases(vec![release]));
        }
        Ok(())
    }

    /// Carries out one intent; `false` if it was no longer what the record says.
    fn perform(&mut self, step: &Carried) -> bool {
        let environment = &step.promotion.environment;
        let Some(index) = self.snapshot.promotions.iter().position(|promotion| promotion.key == step.promotion) else {
            return false;
        };
        match &step.intent {
            Intent::Locate => {
                let declares = self.declares(environment);
                let (commit, seen) = (self.commit(), self.now);
                let facts = &mut self.snapshot.promotions[index].leg.facts;
                let known = facts.base.as_ref().is_some_and(|base| base.declares == declares && base.seen == seen);
                facts.base = Some(Base { commit, seen, declares });
                !known
            }
            Intent::Propose => {
                let head = self.commit();
                let promotion = &mut self.snapshot.promotions[index];
                let name = promotion.leg.facts.proposal.take().filter(|known| known.state == ProposalState::Open);
                let id = name.map_or_else(|| format!("proposal {}", promotion.key.ordinal).into(), |known| known.id);
                promotion.leg.facts.proposal = Some(Proposal {
                    id,
                    url: None,
                    state: ProposalState::Open,
                    head,
                    release: Some(promotion.release.clone()),
                    checks: Checks::Passing,
                    review: Review::NotRequired,
                    merge_asked_by: None,
                    conflict: false,
                    changed_by: None,
                });
                true
            }
            Intent::Merge(head) => {
                let same = self.proposal(environment).is_ok_and(|proposal| proposal.head == *head);
                same && self.merge(environment, None).is_ok()
            }
            Intent::Push => {
                self.declare(environment, Declared::Releases(vec![step.release.clone()]));
                true
            }
            Intent::Notify => {
                self.snapshot.promotions[index].leg.facts.accepted = Some(self.now);
                true
            }
            Intent::Close(_) => {
                if let Some(proposal) = &mut self.snapshot.promotions[index].leg.facts.proposal {
                    proposal.state = ProposalState::Closed { by: None };
                }
                true
            }
        }
    }

    /// Has Flux deploy what the base branch declares, on every target of an environment.
    pub fn deploy(&mut self, environment: &EnvironmentName) -> Result<(), FactError> {
        self.environment(environment)?;
        if let Some(Declared::Releases(releases)) = self.base.get(environment).cloned() {
            for release in releases {
                let environment = environment.clone();
                self.happen(Fact::Seen { environment, target: None, release, state: WorkloadState::Healthy })?;
            }
        }
        Ok(())
    }

    /// The promotion whose turn it is, or was last.
    pub fn promotion(&self, environment: &EnvironmentName) -> Option<&Promotion> {
        let ours = |promotion: &&Promotion| promotion.key.environment == *environment;
        self.snapshot.promotions.iter().filter(ours).max_by_key(|promotion| promotion.key.ordinal)
    }
}
