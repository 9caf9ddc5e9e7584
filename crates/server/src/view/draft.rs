//! A definition that somebody proposed.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_engine::{Definitions, Draft, WholeDraft};
use weir_ports::PullRequestState;

use super::forge;

/// A draft, in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DraftSummary {
    /// The namespace of the pipeline that it would define.
    namespace: String,
    /// The name of that pipeline.
    name: String,
    /// The branch that it is on.
    branch: String,
    /// The file that it adds.
    file: String,
    /// The commit that is proposed.
    head: String,
    /// Who asked for it, or whose commit it is.
    by: String,
    /// Why, in their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// When.
    at: Timestamp,
}

/// All of a draft.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftView {
    #[serde(flatten)]
    summary: DraftSummary,
    /// The repository, without credentials.
    repository: String,
    /// The branch that it would be merged into.
    base: String,
    /// Where it is decided about: a kind of forge, or `git`: here.
    forge: &'static str,
    /// The file. Missing: the commit does not have it, or it is not the one Pipeline and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Whether the commit is Weir's own. Any other can only be merged with Git.
    ours: bool,
    /// Its pull request, on a forge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<DraftPullRequest>,
}

/// The pull request of a draft.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftPullRequest {
    /// Where people find it.
    url: String,
    /// `open`, `merged` or `closed`.
    state: &'static str,
}

impl From<Draft> for DraftSummary {
    fn from(it: Draft) -> Self {
        Self {
            namespace: it.key.namespace.to_string(),
            name: it.key.name.to_string(),
            branch: it.branch.to_string(),
            file: it.file.to_string(),
            head: it.head.to_string(),
            by: it.by,
            why: it.why,
            at: it.at,
        }
    }
}

impl DraftView {
    pub(crate) fn new(it: WholeDraft, definitions: &Definitions) -> Self {
        let state = |state: &PullRequestState| match state {
            PullRequestState::Open => "open",
            PullRequestState::Merged { .. } => "merged",
            PullRequestState::Closed { .. } => "closed",
        };
        Self {
            summary: it.draft.into(),
            repository: definitions.repository.url.to_string(),
            base: definitions.repository.base.to_string(),
            forge: definitions.forge.map_or("git", forge),
            text: it.text,
            ours: it.is_ours,
            pull_request: it
                .pull_request
                .map(|it| DraftPullRequest { url: it.url.to_string(), state: state(&it.state) }),
        }
    }
}
