//! The durable record of moving one release into one environment, as a Kubernetes object.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{patterns, schema};

/// Which release shall go where. Written once, when the promotion is made.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "pipelines.weave.works",
    version = "v1alpha1",
    kind = "Promotion",
    namespaced,
    status = "PromotionStatus",
    derive = "PartialEq",
    doc = "The record of moving one release into one environment. Made by Weir, and by people who ask for a release.",
    printcolumn(name = "Pipeline", type_ = "string", json_path = ".spec.pipeline"),
    printcolumn(name = "Environment", type_ = "string", json_path = ".spec.environment"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Release", type_ = "string", json_path = ".spec.release"),
    printcolumn(name = "Hold", type_ = "string", json_path = ".status.holds[0].reason"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct PromotionSpec {
    /// The pipeline, in the same namespace.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub pipeline: String,
    /// The environment that is entered.
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::ENVIRONMENT))]
    pub environment: String,
    /// The turn. The highest is the one that counts.
    #[schemars(range(min = 0))]
    pub ordinal: i64,
    /// The environment that the release comes from.
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::ENVIRONMENT))]
    pub from: String,
    /// What is promoted: a revision for each workload, such as `HelmRelease/podinfo: 6.2.0`.
    #[schemars(extend("minProperties" = 1))]
    pub release: BTreeMap<String, String>,
    /// The person who asked for it. Missing: Weir's own decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<Requester>,
}

/// Somebody with an account.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct Requester {
    /// The account's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The groups it was in at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
}

/// How far a promotion is, and what is known of it. Not for writing by hand.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct PromotionStatus {
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::phase")]
    pub phase: Option<String>,
    /// Why it is not further, most binding first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::records")]
    pub holds: Option<Vec<Value>>,
    /// The releases that were on their way when this one took their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skips: Option<Vec<BTreeMap<String, String>>>,
    /// When the release had been healthy for long enough in the environment before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub soaked: Option<String>,
    /// The holds that were in force when a person merged the proposal all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::records")]
    pub overridden: Option<Vec<Value>>,
    /// The phases it went through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::records")]
    pub history: Option<Vec<Value>>,
    /// What people agreed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::records")]
    pub approvals: Option<Vec<Value>>,
    /// Whoever does not want it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::record")]
    pub rejection: Option<Value>,
    /// What shall be done about it, and what was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::record")]
    pub leg: Option<Value>,
}
