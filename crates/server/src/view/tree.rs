//! The objects behind a workload.

use serde::Serialize;
use utoipa::ToSchema;
use weir_ports::{TreeObject, TreeState};

/// An object on a cluster, as it is at this moment, and what came of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeView {
    /// Its kind: `GitRepository`, `HelmRelease`, `Deployment`.
    kind: String,
    /// Its namespace. Missing: it is in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Its name.
    name: String,
    /// How it is doing: `healthy`, `progressing`, `failed`, `missing`, or `unread`: it was not looked at.
    state: &'static str,
    /// Of a source what it fetched, of a workload what it deploys, of what runs containers their images.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// What it says, or what has to be known about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What came of it.
    #[schema(no_recursion)]
    leads_to: Vec<TreeView>,
    /// How many more came of it, which are left out here.
    left_out: usize,
}

impl From<TreeObject> for TreeView {
    fn from(object: TreeObject) -> Self {
        let TreeObject { kind, namespace, name, state, version, message, leads_to, left_out } = object;
        let state = match state {
            TreeState::Healthy => "healthy",
            TreeState::Progressing => "progressing",
            TreeState::Failed => "failed",
            TreeState::Missing => "missing",
            TreeState::Unread => "unread",
        };
        let leads_to = leads_to.into_iter().map(Self::from).collect();
        Self { kind, namespace, name, state, version, message, leads_to, left_out }
    }
}
