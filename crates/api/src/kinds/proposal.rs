//! A change that waits for review on a Git server that has no pull requests, as a Kubernetes object.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{address::Address, patterns, schema};

/// What is proposed.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "pipelines.weave.works",
    version = "v1alpha1",
    kind = "Proposal",
    namespaced,
    status = "ProposalStatus",
    derive = "PartialEq",
    doc = "A change that waits for review in Weir, for Git servers that have no pull requests. Made by Weir.",
    printcolumn(name = "Title", type_ = "string", json_path = ".spec.title"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Branch", type_ = "string", json_path = ".spec.branch"),
    printcolumn(name = "Base", type_ = "string", json_path = ".spec.base"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[schemars(inline)]
pub struct ProposalSpec {
    /// The pipeline, in the same namespace.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub pipeline: String,
    /// The environment that the release would enter.
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::ENVIRONMENT))]
    pub environment: String,
    /// The turn of the promotion that opened it.
    #[schemars(range(min = 0))]
    pub ordinal: i64,
    /// The address of the repository.
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::REPOSITORY))]
    pub repository: Address,
    /// The branch that it would be merged into.
    #[schemars(length(min = 1, max = 244))]
    pub base: String,
    /// The branch with the change.
    #[schemars(length(min = 1, max = 244))]
    pub branch: String,
    /// The commit that it builds on.
    #[schemars(length(max = 64), regex(pattern = patterns::COMMIT))]
    pub parent: String,
    /// The commit that is proposed.
    #[schemars(length(max = 64), regex(pattern = patterns::COMMIT))]
    pub head: String,
    /// What that commit declares: a revision for each workload.
    #[schemars(extend("minProperties" = 1))]
    pub release: BTreeMap<String, String>,
    /// The values that it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub edits: Option<Vec<ProposalEdit>>,
    /// One line.
    #[schemars(length(min = 1, max = 1024))]
    pub title: String,
    /// The explanation, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub body: Option<String>,
}

/// One value that a proposal changes.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct ProposalEdit {
    /// The file.
    #[schemars(length(min = 1, max = 4096))]
    pub file: String,
    /// What stands there on the base branch.
    #[schemars(length(max = 4096))]
    pub before: String,
    /// What shall stand there.
    #[schemars(length(max = 4096))]
    pub after: String,
}

/// What became of a proposal. Not for writing by hand.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct ProposalStatus {
    /// Open, merged or closed.
    #[serde(default)]
    pub state: ProposalState,
    /// When it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub opened: Option<String>,
    /// When, by whom and why it was merged or closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::record")]
    pub ended: Option<Value>,
    /// Who wants it merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::record")]
    pub merge: Option<Value>,
    /// What reviewers said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::records")]
    pub reviews: Option<Vec<Value>>,
    /// What people wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::records")]
    pub comments: Option<Vec<Value>>,
}

/// Whether a proposal still waits.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum ProposalState {
    /// It waits.
    #[default]
    Open,
    /// It was merged.
    Merged,
    /// It was closed without a merge.
    Closed,
}
