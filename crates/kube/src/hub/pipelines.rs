//! The Pipelines as this process last saw them, and the records in their status.
//!
//! Several records live in one object, so the resource version of the object says little about any of them. A record's
//! version is the resource version at which *its own* content changed, as far as this process saw. Everything that comes
//! from the API server goes through [`Pipelines::observe`], be it from a watch, from a read or as the answer to a write;
//! what is older than what is known changes nothing.

mod part;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{
    Api, Client,
    api::{ApiResource, Object},
};
use serde_json::Value;
use tokio::sync::watch;
use weir_api::{OlderPipeline, Pipeline, PipelineGroup, PipelineSpec, PipelineStatus};
use weir_core::{Name, Namespace, PipelineKey};
use weir_ports::RecordVersion;

pub(super) use part::{Part, status};

/// A Pipeline of either group.
pub(super) type PipelineObject = Object<PipelineSpec, PipelineStatus>;

/// Both groups. The newer one comes first.
pub(super) const GROUPS: [PipelineGroup; 2] = [PipelineGroup::Weave, PipelineGroup::Wego];

/// The Pipelines as last seen.
pub(super) struct Pipelines {
    client: Client,
    known: Mutex<BTreeMap<PipelineKey, Known>>,
    newest: AtomicU64,
    /// Counts what was learnt, for those who wait for news.
    news: watch::Sender<u64>,
}

/// One name, in both groups.
#[derive(Default)]
struct Known {
    objects: BTreeMap<PipelineGroup, Slot>,
    records: BTreeMap<Part, (Value, RecordVersion)>,
}

enum Slot {
    There(Arc<PipelineObject>),
    /// Gone, at the latest at this resource version.
    Gone(u64),
}

/// The object that defines a pipeline, and all records that are known of it.
#[derive(Clone)]
pub(super) struct Defining {
    pub(super) group: PipelineGroup,
    pub(super) object: Arc<PipelineObject>,
    pub(super) records: BTreeMap<Part, (Value, RecordVersion)>,
}

impl Pipelines {
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: Mutex::default(), newest: AtomicU64::default(), news: watch::Sender::default() }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The Pipelines of a group in a namespace.
    pub(super) fn api(&self, group: PipelineGroup, namespace: &Namespace) -> Api<PipelineObject> {
        Api::namespaced_with(self.client.clone(), namespace.as_str(), &resource(group))
    }

    /// Takes in an object. Who wrote which field of it is of no use here, and is often longer than the rest.
    pub(super) fn observe(&self, group: PipelineGroup, mut object: PipelineObject) {
        let Some(key) = key(&object.metadata) else { return };
        object.metadata.managed_fields = None;
        let version = version(&object.metadata);
        self.saw(version);
        let mut known = self.lock();
        let known = known.entry(key).or_default();
        if known.objects.get(&group).is_some_and(|slot| slot.version() >= version) {
            return;
        }
        known.objects.insert(group, Slot::There(Arc::new(object)));
        known.settle(version);
        self.news.send_modify(|count| *count += 1);
    }

    /// Takes in that there is none of that name any more. What was seen after this version is another one.
    pub(super) fn gone(&self, group: PipelineGroup, key: &PipelineKey, at: u64) {
        self.saw(at);
        let mut known = self.lock();
        let Some(known) = known.get_mut(key) else { return };
        let Some(Slot::There(object)) = known.objects.get(&group) else { return };
        if at < version(&object.metadata) {
            return;
        }
        known.objects.insert(group, Slot::Gone(at));
        known.settle(self.newest());
        self.news.send_modify(|count| *count += 1);
    }

    /// The object that defines a pipeline, as last seen.
    pub(super) fn defining(&self, key: &PipelineKey) -> Option<Defining> {
        self.lock().get(key)?.defining()
    }

    /// The object of one group, as last seen.
    pub(super) fn object(&self, group: PipelineGroup, key: &PipelineKey) -> Option<Arc<PipelineObject>> {
        match self.lock().get(key)?.objects.get(&group)? {
            Slot::There(object) => Some(Arc::clone(object)),
            Slot::Gone(_) => None,
        }
    }

    /// The records of a pipeline.
    pub(super) fn records(&self, key: &PipelineKey) -> BTreeMap<Part, (Value, RecordVersion)> {
        self.lock().get(key).map(|known| known.records.clone()).unwrap_or_default()
    }

    /// All objects, as last seen.
    pub(super) fn all(&self) -> Vec<(PipelineKey, PipelineGroup)> {
        let known = self.lock();
        let there = known.iter().flat_map(|(key, known)| {
            let there = known.objects.iter().filter(|(_, slot)| matches!(slot, Slot::There(_)));
            there.map(|(group, _)| (key.clone(), *group))
        });
        there.collect()
    }

    /// Reads the objects of a pipeline anew, in both groups.
    pub(super) async fn fetch(&self, key: &PipelineKey) -> Result<Option<Defining>, kube::Error> {
        for group in GROUPS {
            let before = self.object(group, key).map(|object| version(&object.metadata));
            match self.api(group, &key.namespace).get_opt(key.name.as_str()).await? {
                Some(object) => self.observe(group, object),
                None => self.gone(group, key, before.unwrap_or_default()),
            }
        }
        Ok(self.defining(key))
    }

    /// The object that defines a pipeline, read if nothing is known of it.
    pub(super) async fn find(&self, key: &PipelineKey) -> Result<Option<Defining>, kube::Error> {
        match self.defining(key) {
            Some(defining) => Ok(Some(defining)),
            None => self.fetch(key).await,
        }
    }

    /// Takes in that the API server told of this resource version.
    pub(super) fn saw(&self, version: u64) {
        self.newest.fetch_max(version, Ordering::Relaxed);
    }

    /// The newest resource version that was seen of anything.
    pub(super) fn newest(&self) -> u64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// Tells that something was learnt.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PipelineKey, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn defining(&self) -> Option<Defining> {
        GROUPS.iter().find_map(|group| match self.objects.get(group)? {
            Slot::There(object) => {
                Some(Defining { group: *group, object: Arc::clone(object), records: self.records.clone() })
            }
            Slot::Gone(_) => None,
        })
    }

    /// What the objects say now; what changed has changed at this version. The newer group is read last, so that it wins.
    fn settle(&mut self, version: u64) {
        let mut records = BTreeMap::new();
        for group in GROUPS.iter().rev() {
            if let Some(Slot::There(object)) = self.objects.get(group) {
                records.extend(part::parts(object.status.as_ref()));
            }
        }
        let versioned = records.into_iter().map(|(part, content)| {
            let known = self.records.get(&part).filter(|(known, _)| *known == content);
            let version = known.map_or(RecordVersion(version), |(_, version)| *version);
            (part, (content, version))
        });
        self.records = versioned.collect();
    }
}

impl Slot {
    fn version(&self) -> u64 {
        match self {
            Self::There(object) => version(&object.metadata),
            Self::Gone(at) => *at,
        }
    }
}

impl Defining {
    /// What ties a record to its pipeline, so that it goes with it.
    pub(super) fn owner(&self) -> OwnerReference {
        let ApiResource { api_version, kind, .. } = resource(self.group);
        OwnerReference {
            api_version,
            kind,
            name: self.object.metadata.name.clone().unwrap_or_default(),
            uid: self.object.metadata.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: None,
        }
    }

    /// A record, if there is one.
    pub(super) fn record(&self, part: &Part) -> Option<&(Value, RecordVersion)> {
        self.records.get(part)
    }
}

/// The Pipelines of a group, to the API server.
pub(super) fn resource(group: PipelineGroup) -> ApiResource {
    match group {
        PipelineGroup::Weave => ApiResource::erase::<Pipeline>(&()),
        PipelineGroup::Wego => ApiResource::erase::<OlderPipeline>(&()),
    }
}

/// Which pipeline an object is.
pub(super) fn key(metadata: &ObjectMeta) -> Option<PipelineKey> {
    let namespace = Namespace::new(metadata.namespace.as_deref()?).ok()?;
    Some(PipelineKey { namespace, name: Name::new(metadata.name.as_deref()?).ok()? })
}

/// The resource version of an object. The API server's are numbers that grow.
pub(super) fn version(metadata: &ObjectMeta) -> u64 {
    metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or_default()
}
