//! What Weir says about a pipeline.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{pipeline::ClusterRef, schema};

/// What is known about a pipeline.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct PipelineStatus {
    /// The generation of the spec that this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`, `Reconciling` and `Stalled`, as kstatus reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<Condition>>,
    /// Whether a person stopped the pipeline beside its spec: `weir suspend`. Not for writing by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<bool>,
    /// The environments, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<BTreeMap<String, EnvironmentStatus>>,
}

/// What is known about an environment.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentStatus {
    /// What waits for a person's approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_approval: Option<WaitingApproval>,
    /// Why the next release is not here yet, most binding first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Vec<HoldStatus>>,
    /// The targets as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<TargetStatus>>,
    /// What Weir remembers of the environment. Not for writing by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::whole_record")]
    pub record: Option<Value>,
}

/// What waits for a person's approval.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct WaitingApproval {
    /// The revision. Empty: nothing waits.
    pub revision: String,
}

/// Why a release is not in an environment yet.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub struct HoldStatus {
    /// Its name, such as `AwaitingApproval`.
    pub reason: String,
    /// What it says.
    pub message: String,
    /// What would change it.
    pub remedy: String,
    /// Since when.
    pub since: Time,
}

/// A target as last seen.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct TargetStatus {
    /// The cluster. Missing: the one that the pipeline lives on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_ref: Option<ClusterRef>,
    /// The namespace of the workloads.
    #[serde(default)]
    pub namespace: String,
    /// Whether every workload is settled and healthy.
    pub ready: bool,
    /// The revision that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What else has to be known about it, such as that its `GitopsCluster` does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The pipeline's workloads in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workloads: Option<Vec<WorkloadStatus>>,
}

/// A workload as last seen.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadStatus {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The version that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The container images that it runs, or the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// Whether it is settled and healthy.
    pub ready: bool,
    /// What Flux says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
