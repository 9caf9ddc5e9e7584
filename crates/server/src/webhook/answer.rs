//! What a sender is told.

use serde::Serialize;
use utoipa::ToSchema;

use crate::view::{Hold, Release};

/// What was understood of an event, and what follows from it.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// `stored`; `known`, if it was stored before; `outdated`, if something newer was; or `ignored`.
    pub(super) outcome: &'static str,
    /// What was understood, or why it was ignored.
    pub(super) message: String,
    /// The environment that it was reported for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) environment: Option<String>,
    /// The target that reported. Missing: several could be meant, so it counts for the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    /// The workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workload: Option<String>,
    /// The version that was deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// The environment that it may go to next. Missing: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// Where to look what becomes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) follow: Option<String>,
    /// The release that is promoted, if that was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) release: Option<Release>,
    /// The phase of its promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<String>,
    /// What holds it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) holds: Vec<Hold>,
}
