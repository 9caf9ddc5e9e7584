//! One index of all definitions, records and sightings: what the engine decides on, and what the API shows.
//!
//! It is fed by the watches of catalog, store and clusters, and by whoever has just written a record and wants to see it
//! at once. A record that is older than the one that is known changes nothing, so the order in which they tell does not matter.
//! Whatever changes wakes the engine and is told to those who follow [`Changes`].

mod changes;
mod entry;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use tokio::sync::Notify;
use weir_core::{Freeze, Name, PipelineKey, PromotionKey};
use weir_ports::{CatalogNotice, Flaw, Interest, Notice, Record, RecordKey, RecordVersion, Seen, Stored};

pub use changes::{Change, ChangeId, Changes, Missed, What};
use entry::Kept;
pub use entry::Known;

/// Everything that is known.
#[derive(Debug, Default)]
pub struct World {
    index: RwLock<Index>,
    changes: Changes,
    woken: Mutex<Wakes>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Index {
    defined: bool,
    listed: bool,
    problems: Vec<Flaw>,
    pipelines: BTreeMap<PipelineKey, Known>,
    freezes: BTreeMap<Name, (Freeze, RecordVersion)>,
}

/// What has to be looked at because something changed.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    pub(crate) decide: BTreeSet<PipelineKey>,
    pub(crate) carry: BTreeSet<PromotionKey>,
}

impl World {
    /// A world of which nothing is known yet. `epoch` tells its changes from those of another run.
    pub fn new(epoch: u64) -> Self {
        Self { changes: Changes::new(epoch), ..Self::default() }
    }

    /// Whether all definitions and records have been told. Until then nothing is decided, and nothing is unknown.
    pub fn is_ready(&self) -> bool {
        let index = self.read();
        index.defined && index.listed
    }

    /// What is wrong with the definitions.
    pub fn problems(&self) -> Vec<Flaw> {
        self.read().problems.clone()
    }

    /// What keeps the definition of a pipeline from being read. What it said before stays in force, if that is known.
    pub fn unread(&self, key: &PipelineKey) -> Vec<Flaw> {
        let index = self.read();
        index.problems.iter().filter(|flaw| flaw.unread && flaw.pipelines.contains(key)).cloned().collect()
    }

    /// Whether there is a definition of a pipeline that has no effect, because another one counts.
    pub fn has_no_effect(&self, key: &PipelineKey) -> bool {
        self.read().problems.iter().any(|flaw| !flaw.unread && flaw.pipelines.contains(key))
    }

    /// Looks at one pipeline. `None`: there is nothing of that name, neither a definition nor a record.
    pub fn look<T>(&self, key: &PipelineKey, look: impl FnOnce(&Known) -> T) -> Option<T> {
        self.read().pipelines.get(key).map(look)
    }

    /// Looks at all pipelines in order, from the first after `after`, until `look` has seen enough.
    pub fn scan(&self, after: Option<&PipelineKey>, mut look: impl FnMut(&PipelineKey, &Known) -> bool) {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, Excluded);
        for (key, known) in self.read().pipelines.range::<PipelineKey, _>((from, Unbounded)) {
            if !look(key, known) {
                return;
            }
        }
    }

    /// The freezes, by name.
    pub fn freezes(&self) -> Vec<Freeze> {
        self.read().freezes.values().map(|(freeze, _)| freeze.clone()).collect()
    }

    /// Which state of a record is known.
    pub fn version(&self, key: &RecordKey) -> Option<RecordVersion> {
        let index = self.read();
        match key {
            RecordKey::Freeze(name) => index.freezes.get(name).map(|(_, version)| *version),
            key => index.pipelines.get(key.pipeline()?)?.version(key),
        }
    }

    /// What has changed, for those who want to follow.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Takes in what the catalog tells.
    pub fn define(&self, notice: CatalogNotice) {
        let mut index = self.write();
        match notice {
            CatalogNotice::Defined(definition) => {
                let key = definition.pipeline.key.clone();
                let freezes = index.frozen();
                let known = index.pipelines.entry(key.clone()).or_insert_with(|| Known::new(&key, freezes));
                if known.define(definition) {
                    // What failed may have been mended by this.
                    self.woken().carry.extend(known.in_trouble());
                    self.tell(&key, What::Definition);
                }
            }
            CatalogNotice::Gone(key) => {
                if let Some(known) = index.pipelines.get_mut(&key) {
                    known.undefine();
                    // Its records may have gone before it.
                    if known.is_nothing() {
                        index.pipelines.remove(&key);
                    }
                    self.tell(&key, What::Definition);
                }
            }
            CatalogNotice::Problems(problems) => {
                for flaw in problems.iter().filter(|problem| !index.problems.contains(problem)) {
                    let defined =
                        |key: &PipelineKey| index.pipelines.get(key).is_some_and(|it| it.definition().is_some());
                    let meanwhile = match (flaw.unread, flaw.pipelines.iter().any(defined)) {
                        (false, _) => "a definition has no effect",
                        (true, true) => "a definition is wrong; what it said last stays in force",
                        (true, false) => "a definition is wrong; nothing that it says is in force",
                    };
                    tracing::warn!(problem = %flaw, "{meanwhile}");
                }
                index.problems = problems;
                // What could not be decided on because of them may be now.
                self.wake.notify_one();
                self.changes.tell(Change { pipeline: None, what: What::Problems });
            }
            CatalogNotice::Listed => {
                index.defined = true;
                self.decide_all(&index);
            }
        }
    }

    /// Takes in what the store tells.
    pub fn note(&self, notice: Notice) {
        match notice {
            Notice::Changed(stored) => self.keep(stored),
            Notice::Removed(key, version) => self.forget(&key, version),
            Notice::Listed => {
                let mut index = self.write();
                index.listed = true;
                self.decide_all(&index);
            }
        }
    }

    /// Takes in a record that was just written or read.
    pub fn keep(&self, stored: Stored) {
        let Stored { record, version } = stored;
        let mut index = self.write();
        match record {
            Record::Freeze(freeze) => {
                let known = index.freezes.get(&freeze.name);
                if known.is_some_and(|(_, known)| *known >= version) {
                    return;
                }
                let what = What::Freeze(freeze.name.clone());
                index.freezes.insert(freeze.name.clone(), (freeze, version));
                self.thaw(&mut index, what);
            }
            record => {
                let key = record.key();
                let Some(pipeline) = key.pipeline().cloned() else { return };
                let freezes = index.frozen();
                let known = index.pipelines.entry(pipeline.clone()).or_insert_with(|| Known::new(&pipeline, freezes));
                if let Kept::News { carry } = known.keep(record, version) {
                    self.woken().carry.extend(carry);
                    self.tell(&pipeline, What::of(&key));
                }
            }
        }
    }

    fn forget(&self, key: &RecordKey, version: RecordVersion) {
        let mut index = self.write();
        match key {
            RecordKey::Freeze(name) => {
                if index.freezes.get(name).is_some_and(|(_, known)| *known <= version) {
                    index.freezes.remove(name);
                    self.thaw(&mut index, What::Freeze(name.clone()));
                }
            }
            key => {
                let Some(pipeline) = key.pipeline() else { return };
                let Some(known) = index.pipelines.get_mut(pipeline) else { return };
                if known.forget(key, version) {
                    self.tell(pipeline, What::of(key));
                }
                if known.is_nothing() {
                    index.pipelines.remove(pipeline);
                }
            }
        }
    }

    /// What shall be seen of the targets of a pipeline.
    pub(crate) fn interest(&self, pipeline: &PipelineKey) -> Option<Arc<Interest>> {
        self.read().pipelines.get(pipeline)?.interest().cloned()
    }

    /// Takes in what was seen of a target.
    pub fn see(&self, seen: Seen) {
        let mut index = self.write();
        let Some(known) = index.pipelines.get_mut(&seen.pipeline) else { return };
        let Some(environment) = seen.interest.targets.get(&seen.target).cloned() else { return };
        let (pipeline, waited) = (seen.pipeline.clone(), !known.is_seen());
        if known.see(seen) {
            if waited && known.is_seen() {
                self.woken().carry.extend(known.under_way());
            }
            self.tell(&pipeline, What::Sighting(environment));
        }
    }

    /// Looks at everything anew, because other pipelines are acted for than before.
    pub(crate) fn begin_anew(&self) {
        let index = self.read();
        self.woken().carry.extend(index.pipelines.values().flat_map(Known::under_way));
        self.decide_all(&index);
    }

    /// Somebody says that something may have happened to the proposals of a pipeline.
    pub fn poke(&self, pipeline: &PipelineKey) {
        let index = self.read();
        let Some(known) = index.pipelines.get(pipeline) else { return };
        let environments = known.pipeline().environments().iter();
        let newest = environments.filter_map(|it| known.newest(&it.name)).map(|promotion| promotion.key.clone());
        self.woken().carry.extend(newest);
        self.wake.notify_one();
    }

    /// A freeze came, went or changed: it may concern any pipeline.
    fn thaw(&self, index: &mut Index, what: What) {
        let freezes = index.frozen();
        for known in index.pipelines.values_mut() {
            known.snapshot.freezes.clone_from(&freezes);
        }
        self.changes.tell(Change { pipeline: None, what });
        self.decide_all(index);
    }

    fn decide_all(&self, index: &Index) {
        self.woken().decide.extend(index.pipelines.keys().cloned());
        self.wake.notify_one();
    }

    /// Something about a pipeline changed.
    fn tell(&self, pipeline: &PipelineKey, what: What) {
        self.changes.tell(Change { pipeline: Some(pipeline.clone()), what });
        self.woken().decide.insert(pipeline.clone());
        self.wake.notify_one();
    }

    /// What has to be looked at since this was last asked. Nothing, until the world is ready; and of a pipeline, until it
    /// can be decided on.
    pub(crate) fn wakes(&self) -> Wakes {
        let index = self.read();
        if !index.defined || !index.listed {
            return Wakes::default();
        }
        let waits = |key: &PipelineKey| !index.is_settled(key);
        let mut woken = self.woken();
        let Wakes { decide, carry } = mem::take(&mut *woken);
        let (wait, decide) = decide.into_iter().partition(waits);
        woken.decide = wait;
        let (wait, carry) = carry.into_iter().partition(|promotion: &PromotionKey| waits(&promotion.pipeline));
        woken.carry = wait;
        Wakes { decide, carry }
    }

    /// Whether a pipeline can be decided on.
    pub(crate) fn is_settled(&self, pipeline: &PipelineKey) -> bool {
        self.read().is_settled(pipeline)
    }

    /// Returns when something has changed since [`wakes`](Self::wakes) was asked.
    pub(crate) async fn woke(&self) {
        self.wake.notified().await;
    }

    fn woken(&self) -> std::sync::MutexGuard<'_, Wakes> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    fn frozen(&self) -> Vec<Freeze> {
        self.freezes.values().map(|(freeze, _)| freeze.clone()).collect()
    }

    /// Whether a pipeline can be decided on: all its targets have been seen, and it is certain how it is defined. One that
    /// has records and no definition is gone, unless what defines it cannot be read: then nothing of it is touched.
    fn is_settled(&self, key: &PipelineKey) -> bool {
        let Some(known) = self.pipelines.get(key) else { return true };
        let may_be_about_it = |flaw: &Flaw| flaw.pipelines.is_empty() || flaw.pipelines.contains(key);
        let is_unread = || self.problems.iter().any(|flaw| flaw.unread && may_be_about_it(flaw));
        known.is_seen() && !(known.is_untold() && is_unread())
    }
}
