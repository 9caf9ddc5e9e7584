//! A stop, as a Kubernetes object.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{patterns, schema};

/// What is stopped, why, and for how long.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "pipelines.weave.works",
    version = "v1alpha1",
    kind = "Freeze",
    derive = "PartialEq",
    doc = "A stop: while it lasts, nothing is written to Git for what it selects, except that proposals are closed.",
    printcolumn(name = "Namespace", type_ = "string", json_path = ".spec.selector.namespace"),
    printcolumn(name = "Pipeline", type_ = "string", json_path = ".spec.selector.pipeline"),
    printcolumn(name = "Environment", type_ = "string", json_path = ".spec.selector.environment"),
    printcolumn(name = "Until", type_ = "string", json_path = ".spec.until"),
    printcolumn(name = "By", type_ = "string", json_path = ".spec.by"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".spec.reason")
)]
#[x_kube(
    validation = Rule::new("!has(self.from) || !has(self.until) || self.from < self.until")
        .message("`until` has to be later than `from`").field_path(".until")
)]
pub struct FreezeSpec {
    /// What is stopped. What is left out selects everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<FreezeSelector>,
    /// Why. Everybody who is stopped reads it.
    #[schemars(length(min = 1, max = 1024))]
    pub reason: String,
    /// Who set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub by: Option<String>,
    /// From when on it counts. Default: from when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub from: Option<String>,
    /// When it ends by itself. Default: when somebody lifts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub until: Option<String>,
}

/// What a freeze stops.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct FreezeSelector {
    /// Only pipelines of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::NAMESPACE))]
    pub namespace: Option<String>,
    /// Only pipelines of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub pipeline: Option<String>,
    /// Only promotions into environments of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::ENVIRONMENT))]
    pub environment: Option<String>,
    /// Only releases that hold this revision: a quarantine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), regex(pattern = patterns::WORD))]
    pub release: Option<String>,
}
