//! The kinds that keep a record each.

use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Api, Client, Resource, core::ClusterResourceScope};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use weir_api::{Freeze, Observation, Promotion, Proposal, Violation};
use weir_core::{observation_name, promotion_name};
use weir_ports::{Record, RecordKey};

/// A kind of which every object keeps one record.
pub(super) trait Kept:
    Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// What a change of the record changes about the object.
    const CHANGES: Changes;

    /// The record that it keeps. `None`: whoever made it has not said everything yet, and may never do so.
    fn record(&self) -> Option<Result<Record, Vec<Violation>>>;

    /// What is written with the object itself.
    fn spec(&self) -> Value;

    /// Whether there is something to be written once it is made.
    fn has_status(&self) -> bool;

    /// Where objects of this kind are.
    fn api(client: &Client, namespace: Option<&str>) -> Api<Self>;
}

/// What a change of a record changes about its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changes {
    /// What it is about stays; what is known of it changes.
    Status,
    /// There is no status.
    Spec,
    /// Either.
    Both,
}

/// Where the object of a record is: its namespace, and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Place {
    /// Where an object is.
    pub(super) fn of(metadata: &ObjectMeta) -> Self {
        Self { namespace: metadata.namespace.clone(), name: metadata.name.clone().unwrap_or_default() }
    }

    /// Where the object of a record is. `None`: it is a part of the status of its pipeline.
    pub(super) fn of_record(key: &RecordKey) -> Option<Self> {
        let name = match key {
            RecordKey::Pipeline(_) | RecordKey::Environment(..) => return None,
            RecordKey::Promotion(key) | RecordKey::Proposal(key) => promotion_name(key),
            RecordKey::Observation(pipeline, key) => observation_name(pipeline, key),
            RecordKey::Freeze(name) => name.to_string(),
        };
        Some(Self { namespace: key.pipeline().map(|pipeline| pipeline.namespace.to_string()), name })
    }
}

/// The Kubernetes kind of a record that has an object of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Promotion,
    Observation,
    Freeze,
    Proposal,
}

impl Kind {
    pub(super) fn of(key: &RecordKey) -> Option<Self> {
        match key {
            RecordKey::Pipeline(_) | RecordKey::Environment(..) => None,
            RecordKey::Promotion(_) => Some(Self::Promotion),
            RecordKey::Observation(..) => Some(Self::Observation),
            RecordKey::Freeze(_) => Some(Self::Freeze),
            RecordKey::Proposal(_) => Some(Self::Proposal),
        }
    }
}

fn namespaced<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

fn json(spec: &impl Serialize) -> Value {
    serde_json::to_value(spec).unwrap_or_default()
}

impl Kept for Promotion {
    const CHANGES: Changes = Changes::Status;

    fn record(&self) -> Option<Result<Record, Vec<Violation>>> {
        Some(self.to_core().map(|promotion| Record::Promotion(Box::new(promotion))))
    }

    fn spec(&self) -> Value {
        json(&self.spec)
    }

    /// One that was only just asked for needs none.
    fn has_status(&self) -> bool {
        let fresh = Self { status: None, ..self.clone() };
        fresh.to_core().ok() != self.to_core().ok()
    }

    fn api(client: &Client, namespace: Option<&str>) -> Api<Self> {
        namespaced(client, namespace)
    }
}

impl Kept for Observation {
    const CHANGES: Changes = Changes::Status;

    fn record(&self) -> Option<Result<Record, Vec<Violation>>> {
        self.status.as_ref()?;
        let read = |(pipeline, key, reported)| Record::Observation(pipeline, key, Box::new(reported));
        Some(self.to_core().map(read))
    }

    fn spec(&self) -> Value {
        json(&self.spec)
    }

    fn has_status(&self) -> bool {
        true
    }

    fn api(client: &Client, namespace: Option<&str>) -> Api<Self> {
        namespaced(client, namespace)
    }
}

impl Kept for Proposal {
    const CHANGES: Changes = Changes::Both;

    fn record(&self) -> Option<Result<Record, Vec<Violation>>> {
        self.status.as_ref()?;
        Some(self.to_core().map(|proposal| Record::Proposal(Box::new(proposal))))
    }

    fn spec(&self) -> Value {
        json(&self.spec)
    }

    fn has_status(&self) -> bool {
        true
    }

    fn api(client: &Client, namespace: Option<&str>) -> Api<Self> {
        namespaced(client, namespace)
    }
}

impl Kept for Freeze {
    const CHANGES: Changes = Changes::Spec;

    fn record(&self) -> Option<Result<Record, Vec<Violation>>> {
        Some(self.to_core().map(Record::Freeze))
    }

    fn spec(&self) -> Value {
        json(&self.spec)
    }

    fn has_status(&self) -> bool {
        false
    }

    fn api(client: &Client, _: Option<&str>) -> Api<Self> {
        cluster_wide(client)
    }
}

fn cluster_wide<K: Resource<DynamicType = (), Scope = ClusterResourceScope>>(client: &Client) -> Api<K> {
    Api::all(client.clone())
}
