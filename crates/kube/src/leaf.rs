//! The clusters that workloads run on, as they are seen.
//!
//! [`Leaves`] watches what Flux deploys where somebody wants to see it, and nothing else. Every cluster
//! has a task of its own (`cluster`), which holds what is known of it (`picture`); what a pipeline sees in that is decided
//! by a pure function (`look`), and what is seen last stands on a board (`board`) that any number of followers read.
//!
//! A cluster is reached by the kubeconfig in the Secret that its `GitopsCluster` names. It is read again now and then,
//! and at once when a cluster does not answer, so that new credentials need no restart. Weir writes nothing to a leaf,
//! except labels, if it is told to.

mod access;
mod behind;
mod board;
mod cluster;
mod details;
mod fault;
mod inventory;
mod kubeconfig;
mod labels;
mod look;
mod mail;
mod picture;
mod settings;
mod source;
mod state;
mod trim;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use futures_core::Stream;
use kube::Client;
use tokio::{runtime::Handle, task::AbortHandle};
use weir_core::{ClusterKey, PipelineKey, TargetKey, WorkloadKey};
use weir_ports::{Catalog, Clusters, Interest, Seen, TreeObject, Unseen};

pub(crate) use fault::root;
pub use settings::LeafSettings;

use access::Way;
use behind::Behind;
use board::Board;
use cluster::Cluster;
use details::Reader;
use mail::Mail;

/// Clusters that are watched. When it is dropped, nothing is any more.
pub struct Leaves<C> {
    catalog: Arc<C>,
    local: Option<Client>,
    settings: Arc<LeafSettings>,
    board: Arc<Board>,
    runtime: Handle,
    wanted: Mutex<Wanted>,
}

#[derive(Default)]
struct Wanted {
    interests: BTreeMap<PipelineKey, Arc<Interest>>,
    clusters: BTreeMap<Option<ClusterKey>, Running>,
}

/// How a cluster is read, while there is a way in.
type Door = Mutex<Option<Reader>>;

/// The task of a cluster, and the pipelines that want to see something there.
struct Running {
    mail: Arc<Mail>,
    door: Arc<Door>,
    pipelines: BTreeSet<PipelineKey>,
    task: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<C: Catalog + 'static> Leaves<C> {
    /// The clusters of a catalog, and the one that Weir runs on, if there is one. Its tasks run on the runtime that it is
    /// made on; without one it panics.
    pub fn new(catalog: Arc<C>, local: Option<Client>, settings: LeafSettings) -> Self {
        let (board, wanted) = (Arc::default(), Mutex::default());
        Self { catalog, local, settings: Arc::new(settings), board, runtime: Handle::current(), wanted }
    }

    fn start(&self, key: Option<&ClusterKey>) -> Running {
        let (mail, door) = (Arc::<Mail>::default(), Arc::<Door>::default());
        let local = self.local.clone().filter(|_| key.is_none()).map(Way::local);
        let task = Cluster::run(
            key.cloned(),
            local,
            Arc::clone(&self.catalog),
            Arc::clone(&self.settings),
            Arc::clone(&self.board),
            (Arc::clone(&mail), Arc::clone(&door)),
        );
        Running { mail, door, pipelines: BTreeSet::new(), task: self.runtime.spawn(task).abort_handle() }
    }
}

impl<C: Catalog + 'static> Clusters for Leaves<C> {
    fn want(&self, pipeline: &PipelineKey, interest: Option<Arc<Interest>>) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let before = wanted.interests.get(pipeline);
        if before.map(|it| &**it) == interest.as_deref() {
            return;
        }
        let of = |interest: Option<&Arc<Interest>>| -> BTreeSet<Option<ClusterKey>> {
            interest.into_iter().flat_map(|it| it.targets.keys()).map(|target| target.cluster.clone()).collect()
        };
        let (old, new) = (of(before), of(interest.as_ref()));
        self.board.expect(pipeline, interest.clone());
        match &interest {
            Some(interest) => wanted.interests.insert(pipeline.clone(), Arc::clone(interest)),
            None => wanted.interests.remove(pipeline),
        };
        for cluster in old.difference(&new) {
            if let Some(running) = wanted.clusters.get_mut(cluster) {
                running.mail.post(pipeline, None);
                running.pipelines.remove(pipeline);
            }
        }
        let Some(interest) = interest else {
            wanted.clusters.retain(|_, running| !running.pipelines.is_empty());
            return;
        };
        for cluster in new {
            if cluster.is_none() && self.local.is_none() {
                for target in interest.targets.keys().filter(|target| target.cluster.is_none()) {
                    self.board.tell(pipeline, &interest, target, None);
                }
                continue;
            }
            let running = wanted.clusters.entry(cluster);
            let running = running.or_insert_with_key(|key| self.start(key.as_ref()));
            running.pipelines.insert(pipeline.clone());
            running.mail.post(pipeline, Some(Arc::clone(&interest)));
        }
        wanted.clusters.retain(|_, running| !running.pipelines.is_empty());
    }

    fn watch(&self) -> impl Stream<Item = Seen> + Send + Unpin + 'static {
        self.board.follow()
    }

    async fn behind(&self, target: &TargetKey, workload: &WorkloadKey) -> Result<TreeObject, Unseen> {
        let door = {
            let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            wanted.clusters.get(&target.cluster).map(|running| Arc::clone(&running.door))
        };
        let door = door.ok_or(Unseen::NotWatched)?;
        let reader = door.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let reader = reader.ok_or_else(|| Unseen::Unreachable("there is no way in at the moment".to_owned()))?;
        Behind::new(reader).look(&target.namespace, workload).await
    }
}
