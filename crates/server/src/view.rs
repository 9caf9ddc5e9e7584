//! What the API shows: plain data with words that people read, made from what the core knows.
//!
//! Nothing here decides; holds and verdicts come from `weir_core`.

mod draft;
mod environment;
mod explanation;
mod history;
mod pipeline;
mod preview;
mod promotion;
mod proposal;
mod timeline;
mod tree;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use draft::{DraftSummary, DraftView};
pub(crate) use environment::{EnvironmentView, environment, forge};
pub(crate) use explanation::Explanation;
pub(crate) use history::HistoryView;
pub(crate) use pipeline::{PipelineSummary, PipelineView};
pub(crate) use preview::PreviewView;
pub(crate) use promotion::PromotionView;
pub(crate) use proposal::{ProposalSummary, ProposalView};
pub(crate) use timeline::PromotionStory;
pub(crate) use tree::TreeView;

/// A pipeline, by namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct PipelineRef {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
}

impl From<&weir_core::PipelineKey> for PipelineRef {
    fn from(key: &weir_core::PipelineKey) -> Self {
        Self { namespace: key.namespace.to_string(), name: key.name.to_string() }
    }
}

/// The revisions that go together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Release {
    /// As people say it: `6.2.0`, or `a 1.0, b 2.0` where several workloads go together.
    name: String,
    /// The revision of each workload, by `KIND/NAME`.
    workloads: BTreeMap<String, String>,
}

impl From<&weir_core::Release> for Release {
    fn from(release: &weir_core::Release) -> Self {
        let each = release.members().iter();
        let workloads = each.map(|(workload, revision)| (workload.to_string(), revision.to_string())).collect();
        Self { name: release.to_string(), workloads }
    }
}

/// Why a release is not further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Hold {
    /// Which hold: `Soaking`, `AwaitingApproval`, …
    name: String,
    /// What it says.
    sentence: String,
    /// Since when.
    since: Timestamp,
    /// What would end it.
    remedy: String,
}

impl From<&weir_core::Hold> for Hold {
    fn from(hold: &weir_core::Hold) -> Self {
        let reason = &hold.reason;
        Self {
            name: reason.name().to_owned(),
            sentence: reason.to_string(),
            since: hold.since,
            remedy: reason.remedy().to_string(),
        }
    }
}

/// A step that is being taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Step {
    /// `locate`, `propose`, `push`, `merge`, `close` or `notify`.
    name: &'static str,
    /// The head that is merged, or what the proposal is closed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl From<&weir_core::Intent> for Step {
    fn from(intent: &weir_core::Intent) -> Self {
        use weir_core::Intent;
        let (name, detail) = match intent {
            Intent::Locate => ("locate", None),
            Intent::Propose => ("propose", None),
            Intent::Push => ("push", None),
            Intent::Merge(head) => ("merge", Some(head.to_string())),
            Intent::Close(note) => ("close", Some(note.to_string())),
            Intent::Notify => ("notify", None),
        };
        Self { name, detail }
    }
}

/// A person, or a machine with an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Actor {
    /// The account's name.
    name: String,
    /// The groups it was in.
    groups: Vec<String>,
}

impl From<&weir_core::Actor> for Actor {
    fn from(actor: &weir_core::Actor) -> Self {
        Self { name: actor.name.clone(), groups: actor.groups.clone() }
    }
}

/// All of these, as they are shown.
pub(crate) fn all<'a, T: 'a, V: From<&'a T>>(items: impl IntoIterator<Item = &'a T>) -> Vec<V> {
    items.into_iter().map(V::from).collect()
}
