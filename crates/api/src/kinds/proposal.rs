//! A change that waits for review on a Git server that has no pull requests, as a Kubernetes object.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The address of the repository.
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::REPOSITORY))]
    pub repository: Address,
    /// The branch that it would be merged into.
    #[schemars(length(min = 1, max = 244))]
    pub base: String,
    /// The branch with the change.
    #[schemars(length(min = 1, max = 244))]
    pub branch: String,
    /// The commit that is proposed.
    #[schemars(regex(pattern = patterns::COMMIT))]
    pub head: String,
    /// One line.
    #[schemars(length(min = 1, max = 1024))]
    pub title: String,
    /// The explanation, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 65536))]
    pub body: Option<String>,
}

/// What became of a proposal. Not for writing by hand.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct ProposalStatus {
    /// Open, merged or closed.
    #[serde(default)]
    pub state: ProposalState,
    /// What reviewers said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub reviews: Option<Vec<Review>>,
    /// What people wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub comments: Option<Vec<Comment>>,
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

/// What one reviewer said.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub struct Review {
    /// Who.
    #[schemars(length(min = 1, max = 253))]
    pub by: String,
    /// What.
    pub verdict: Verdict,
    /// The commit that was reviewed. A review counts for that commit only.
    #[schemars(regex(pattern = patterns::COMMIT))]
    pub head: String,
    /// When.
    #[schemars(schema_with = "schema::time")]
    pub at: String,
}

/// What a reviewer can say.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It is fine.
    Approved,
    /// It has to change.
    ChangesRequested,
}

/// What one person wrote.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub struct Comment {
    /// Who.
    #[schemars(length(min = 1, max = 253))]
    pub by: String,
    /// What, in Markdown.
    #[schemars(length(min = 1, max = 65536))]
    pub body: String,
    /// When.
    #[schemars(schema_with = "schema::time")]
    pub at: String,
}
