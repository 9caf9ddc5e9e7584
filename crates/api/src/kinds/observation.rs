//! What alerts and CI reported about a workload, as a Kubernetes object.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{patterns, schema};

/// What the reports are about.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "pipelines.weave.works",
    version = "v1alpha1",
    kind = "Observation",
    namespaced,
    status = "ObservationStatus",
    derive = "PartialEq",
    doc = "What alerts and CI reported about one workload of one environment. Made by Weir.",
    printcolumn(name = "Pipeline", type_ = "string", json_path = ".spec.pipeline"),
    printcolumn(name = "Environment", type_ = "string", json_path = ".spec.environment"),
    printcolumn(name = "Workload", type_ = "string", json_path = ".spec.workload"),
    printcolumn(name = "Revision", type_ = "string", json_path = ".status.success.revision"),
    printcolumn(name = "Last", type_ = "date", json_path = ".status.last.at")
)]
#[schemars(inline)]
pub struct ObservationSpec {
    /// The pipeline, in the same namespace.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub pipeline: String,
    /// The environment it was reported for.
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::ENVIRONMENT))]
    pub environment: String,
    /// The target, as `NAMESPACE` or `CLUSTER-NAMESPACE/CLUSTER/NAMESPACE`. Missing: some target of the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 400))]
    pub target: Option<String>,
    /// The workload, such as `HelmRelease/podinfo`.
    #[schemars(length(min = 1, max = 300), regex(pattern = patterns::WORKLOAD))]
    pub workload: String,
}

/// What was reported. Not for writing by hand.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ObservationStatus {
    /// The newest event.
    #[schemars(schema_with = "schema::record")]
    pub last: Value,
    /// The newest success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::record")]
    pub success: Option<Value>,
    /// When the newest failure happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub failed: Option<String>,
}
