//! What is known of one pipeline.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use weir_core::{
    EnvironmentName, Freeze, Hold, Intent, Pipeline, PipelineKey, PlainProposal, PlainState, Promotion, PromotionKey,
    ProposalState, Snapshot, TargetKey,
};
use weir_ports::{Definition, Interest, PipelineRecord, Record, RecordKey, RecordVersion, Seen};

/// What is known of one pipeline: how it is defined, and its records, ready to be decided on.
#[derive(Debug)]
pub struct Known {
    definition: Option<Arc<Definition>>,
    /// Whether it was told that it is no longer defined.
    is_gone: bool,
    record: PipelineRecord,
    /// As it is decided on: suspended if the definition or a person says so, deleted if it is no longer defined.
    pub(crate) pipeline: Pipeline,
    pub(crate) snapshot: Snapshot,
    /// What shall be seen of its targets.
    interest: Option<Arc<Interest>>,
    /// The targets that nobody has looked at yet.
    unseen: BTreeSet<TargetKey>,
    proposals: BTreeMap<PromotionKey, PlainProposal>,
    versions: BTreeMap<RecordKey, RecordVersion>,
}

/// What holds a promotion beside the trouble of its own last step: that it failed is no reason to take it again.
fn others(promotion: &Promotion) -> impl Iterator<Item = &Hold> {
    promotion.holds.iter().filter(|hold| !hold.reason.is_trouble())
}

/// What a record told.
pub(super) enum Kept {
    /// It was known.
    Nothing,
    /// It is news, and this promotion may have a step to take.
    News { carry: Option<PromotionKey> },
}

impl Known {
    pub(super) fn new(key: &PipelineKey, freezes: Vec<Freeze>) -> Self {
        Self {
            definition: None,
            is_gone: false,
            record: PipelineRecord::default(),
            pipeline: Pipeline::deleted(key.clone()),
            snapshot: Snapshot { freezes, ..Snapshot::default() },
            interest: None,
            unseen: BTreeSet::new(),
            proposals: BTreeMap::new(),
            versions: BTreeMap::new(),
        }
    }

    /// How it is defined. `None`: it is not any more, and only its records are left.
    pub fn definition(&self) -> Option<&Definition> {
        self.definition.as_deref()
    }

    /// The pipeline as it is decided on.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// What it is decided on.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What shall be seen of its targets. `None`: nothing, because it is not defined.
    pub fn interest(&self) -> Option<&Arc<Interest>> {
        self.interest.as_ref()
    }

    /// Whether every target has been looked at.
    pub fn is_seen(&self) -> bool {
        self.unseen.is_empty()
    }

    /// Whether nothing was told of its definition since the start: neither what it says, nor that it is gone.
    pub(super) fn is_untold(&self) -> bool {
        self.definition.is_none() && !self.is_gone
    }

    /// The proposals that Weir keeps itself, oldest first.
    pub fn proposals(&self) -> impl Iterator<Item = &PlainProposal> + Clone {
        self.proposals.values()
    }

    /// The proposal that a promotion opened.
    pub fn proposal(&self, key: &PromotionKey) -> Option<&PlainProposal> {
        self.proposals.get(key)
    }

    /// The promotion whose turn it is, or was last.
    pub fn newest(&self, environment: &EnvironmentName) -> Option<&Promotion> {
        let ours = |promotion: &&Promotion| promotion.key.environment == *environment;
        self.snapshot.promotions.iter().filter(ours).max_by_key(|promotion| promotion.key.ordinal)
    }

    /// The promotions whose last step failed.
    pub(super) fn in_trouble(&self) -> impl Iterator<Item = PromotionKey> {
        let failed = self.snapshot.promotions.iter().filter(|promotion| promotion.leg.facts.problem.is_some());
        failed.map(|promotion| promotion.key.clone())
    }

    /// The promotions that may have a step to take: it is intended, or a person has asked for it meanwhile.
    pub(super) fn under_way(&self) -> impl Iterator<Item = PromotionKey> {
        let may = |it: &&Promotion| it.leg.intent.is_some() || it.phase.is_live();
        self.snapshot.promotions.iter().filter(may).map(|promotion| promotion.key.clone())
    }

    /// Which state of a record is known.
    pub(crate) fn version(&self, key: &RecordKey) -> Option<RecordVersion> {
        self.versions.get(key).copied()
    }

    /// Takes in a definition; `true` if it is another than before.
    pub(super) fn define(&mut self, definition: Arc<Definition>) -> bool {
        let news = self.definition.as_ref() != Some(&definition);
        self.pipeline.clone_from(&definition.pipeline);
        self.look_for(Interest::of(&definition));
        self.definition = Some(definition);
        self.is_gone = false;
        self.settle();
        news
    }

    /// It is not defined any more. What it was is kept, so that what is open can be closed.
    pub(super) fn undefine(&mut self) {
        self.definition = None;
        self.is_gone = true;
        self.pipeline.deleted = true;
        self.interest = None;
        self.unseen.clear();
        self.snapshot.sightings.clear();
        self.snapshot.undefined.clear();
    }

    fn look_for(&mut self, interest: Interest) {
        if self.interest.as_deref() == Some(&interest) {
            return;
        }
        let alike = |known: &Interest| known.application == interest.application && known.version == interest.version;
        if self.interest.as_deref().is_some_and(alike) {
            self.snapshot.sightings.retain(|target, _| interest.targets.contains_key(target));
        } else {
            self.snapshot.sightings.clear();
        }
        self.snapshot.undefined.retain(|target| interest.targets.contains_key(target));
        self.unseen = interest.targets.keys().cloned().collect();
        self.interest = Some(Arc::new(interest));
    }

    /// Takes in what was seen of a target; `true` if that is news.
    pub(super) fn see(&mut self, seen: Seen) -> bool {
        if self.interest.as_ref() != Some(&seen.interest) {
            return false;
        }
        let first = self.unseen.remove(&seen.target);
        let known = self.snapshot.sightings.get(&seen.target);
        let news = known != seen.sighting.as_ref();
        if let Some(sighting) = seen.sighting {
            self.snapshot.undefined.remove(&seen.target);
            self.snapshot.sightings.insert(seen.target, sighting);
        } else {
            self.snapshot.sightings.remove(&seen.target);
            self.snapshot.undefined.insert(seen.target);
        }
        news || first
    }

    fn settle(&mut self) {
        let defined = self.definition.as_ref().is_some_and(|definition| definition.pipeline.suspended);
        self.pipeline.suspended = defined || self.record.suspended;
    }

    /// Takes in a record, if it is newer than the one that is known.
    pub(super) fn keep(&mut self, record: Record, version: RecordVersion) -> Kept {
        let key = record.key();
        if self.version(&key).is_some_and(|known| known >= version) {
            return Kept::Nothing;
        }
        self.versions.insert(key, version);
        let mut carry = None;
        match record {
            Record::Pipeline(_, record) => {
                self.record = record;
                self.settle();
            }
            Record::Environment(_, environment, record) => {
                self.snapshot.environments.insert(environment, *record);
            }
            Record::Promotion(promotion) => {
                let place = self.snapshot.promotions.iter().position(|known| known.key == promotion.key);
                let before = place.and_then(|place| self.snapshot.promotions[place].leg.intent.as_ref());
                let intends = promotion.leg.intent.is_some() && promotion.leg.intent.as_ref() != before;
                let held = place.is_some_and(|place| {
                    let before = others(&self.snapshot.promotions[place]);
                    !before.eq(others(&promotion))
                });
                if intends || held && self.is_on_a_forge(&promotion) {
                    carry = Some(promotion.key.clone());
                }
                match place {
                    Some(place) => self.snapshot.promotions[place] = *promotion,
                    None => self.snapshot.promotions.push(*promotion),
                }
            }
            Record::Observation(_, key, reported) => {
                let reports = self.snapshot.observations.entry((key.environment, key.target)).or_default();
                reports.insert(key.workload, *reported);
            }
            Record::Proposal(proposal) => {
                let before = self.proposals.get(&proposal.key);
                let news = match before {
                    Some(before) => !before.says_the_same_as(&proposal),
                    None => proposal.state == PlainState::Open && !self.is_as_opened(&proposal),
                };
                if news {
                    carry = self.newest(&proposal.key.environment).map(|newest| newest.key.clone());
                }
                self.proposals.insert(proposal.key.clone(), *proposal);
            }
            Record::Freeze(_) => {}
        }
        Kept::News { carry }
    }

    /// Whether what holds a promotion is shown beside its pull request.
    fn is_on_a_forge(&self, promotion: &Promotion) -> bool {
        let proposal = promotion.leg.facts.proposal.as_ref();
        let environment = self.pipeline.environment(&promotion.key.environment);
        let strategy = environment.and_then(|it| it.promotion.as_ref()).map(|policy| &policy.strategy);
        proposal.is_some_and(|proposal| proposal.state == ProposalState::Open)
            && strategy.is_some_and(|strategy| strategy.forge().is_some())
    }

    /// Whether a proposal is as the carrier has just opened it: whoever opened it goes on by itself, and after a crash
    /// the intent of the promotion wakes it.
    fn is_as_opened(&self, proposal: &PlainProposal) -> bool {
        let opener = self.newest(&proposal.key.environment).filter(|newest| newest.key == proposal.key);
        let proposes = |it: &Promotion| it.leg.intent == Some(Intent::Propose) && it.leg.facts.proposal.is_none();
        opener.is_some_and(proposes)
            && proposal.merge.is_none()
            && proposal.reviews.is_empty()
            && proposal.comments.is_empty()
    }

    /// A record is gone; `true` if that is news.
    pub(super) fn forget(&mut self, key: &RecordKey, version: RecordVersion) -> bool {
        if self.version(key).is_none_or(|known| known > version) {
            return false;
        }
        self.versions.remove(key);
        match key {
            RecordKey::Pipeline(_) => {
                self.record = PipelineRecord::default();
                self.settle();
            }
            RecordKey::Environment(_, environment) => {
                self.snapshot.environments.remove(environment);
            }
            RecordKey::Promotion(key) => self.snapshot.promotions.retain(|promotion| promotion.key != *key),
            RecordKey::Observation(_, key) => {
                let place = (key.environment.clone(), key.target.clone());
                if let Some(reports) = self.snapshot.observations.get_mut(&place) {
                    reports.remove(&key.workload);
                    if reports.is_empty() {
                        self.snapshot.observations.remove(&place);
                    }
                }
            }
            RecordKey::Proposal(key) => {
                self.proposals.remove(key);
            }
            RecordKey::Freeze(_) => {}
        }
        true
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.definition.is_none() && self.versions.is_empty()
    }
}
