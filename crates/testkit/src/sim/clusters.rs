//! Clusters that a test changes as it likes. What is not put into them is known by reports alone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{Stream, stream};
use tokio::sync::Notify;
use weir_core::{PipelineKey, Sighting, TargetKey, WorkloadKey};
use weir_ports::{Clusters, Interest, Seen, TreeObject, TreeState, Unseen};

use super::Fate;

/// The clusters, as one run of an engine sees them.
#[derive(Debug, Clone)]
pub struct SimClusters {
    shared: Arc<Shared>,
    wanted: Arc<Mutex<BTreeMap<PipelineKey, Arc<Interest>>>>,
    fate: Fate,
}

#[derive(Debug, Default)]
struct Shared {
    targets: Mutex<BTreeMap<TargetKey, Arc<Sighting>>>,
    changed: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SimClusters {
    pub(super) fn new(fate: Fate) -> Self {
        Self { shared: Arc::default(), wanted: Arc::default(), fate }
    }

    /// The same clusters, as another run sees them.
    pub(super) fn under(&self, fate: Fate) -> Self {
        Self { shared: self.shared.clone(), wanted: Arc::default(), fate }
    }

    /// Shows something of a target. `None`: nobody can read its cluster.
    pub fn show(&self, target: &TargetKey, sighting: Option<Sighting>) {
        match sighting {
            Some(sighting) => lock(&self.shared.targets).insert(target.clone(), Arc::new(sighting)),
            None => lock(&self.shared.targets).remove(target),
        };
        self.shared.changed.notify_waiters();
    }

    /// What is shown of a target.
    pub fn shown(&self, target: &TargetKey) -> Option<Arc<Sighting>> {
        lock(&self.shared.targets).get(target).cloned()
    }
}

impl Clusters for SimClusters {
    fn want(&self, pipeline: &PipelineKey, interest: Option<Arc<Interest>>) {
        match interest {
            Some(interest) => lock(&self.wanted).insert(pipeline.clone(), interest),
            None => lock(&self.wanted).remove(pipeline),
        };
        self.shared.changed.notify_waiters();
    }

    fn watch(&self) -> impl Stream<Item = Seen> + Send + Unpin + 'static {
        let follower = Follower { clusters: self.clone(), told: BTreeMap::new() };
        Box::pin(stream::unfold(follower, |mut follower| async move { Some((follower.next().await, follower)) }))
    }

    /// There is nothing behind what a test shows.
    async fn behind(&self, target: &TargetKey, workload: &WorkloadKey) -> Result<TreeObject, Unseen> {
        let seen = self.shown(target).ok_or(Unseen::NotWatched)?;
        if let Some(why) = &seen.unreachable {
            return Err(Unseen::Unreachable(why.error.to_string()));
        }
        Ok(TreeObject {
            kind: workload.kind.to_string(),
            namespace: Some(target.namespace.to_string()),
            name: workload.name.to_string(),
            state: TreeState::Healthy,
            version: None,
            message: None,
            leads_to: Vec::new(),
            left_out: 0,
        })
    }
}

struct Follower {
    clusters: SimClusters,
    told: BTreeMap<(PipelineKey, TargetKey), Seen>,
}

impl Follower {
    async fn next(&mut self) -> Seen {
        let shared = self.clusters.shared.clone();
        loop {
            let changed = shared.changed.notified();
            if self.news().is_empty() {
                changed.await;
                continue;
            }
            self.clusters.fate.delay().await;
            // Whatever happened meanwhile is told, and what was before it is not.
            let news = self.news();
            if let Some(seen) = self.clusters.fate.chance().pick(&news).cloned() {
                self.told.insert((seen.pipeline.clone(), seen.target.clone()), seen.clone());
                return seen;
            }
        }
    }

    fn news(&self) -> Vec<Seen> {
        let mut news = Vec::new();
        for (pipeline, interest) in lock(&self.clusters.wanted).iter() {
            for target in interest.targets.keys() {
                let sighting = self.clusters.shown(target);
                let (pipeline, interest, target) = (pipeline.clone(), interest.clone(), target.clone());
                let seen = Seen { pipeline, interest, target, sighting };
                // Whoever asks anew is told anew, also if it is the same.
                let is_told =
                    |told: &Seen| told.sighting == seen.sighting && Arc::ptr_eq(&told.interest, &seen.interest);
                if !self.told.get(&(seen.pipeline.clone(), seen.target.clone())).is_some_and(is_told) {
                    news.push(seen);
                }
            }
        }
        news
    }
}
