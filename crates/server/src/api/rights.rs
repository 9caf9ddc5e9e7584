//! What whoever asks may do, so that a page offers nothing that would be refused.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weir_core::{Name, Namespace, PipelineKey};
use weir_ports::{Scope, Verb};

use crate::{
    caller::{Caller, right},
    extract::Query,
    problem::Problem,
    router::Failed,
    state::Shared,
};

/// Where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Where {
    /// In this namespace. Missing: in all of them.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// With this pipeline of the namespace. Missing: with all of them.
    #[param(value_type = Option<String>)]
    pipeline: Option<Name>,
}

/// What whoever asks may do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rights {
    /// `view`, `promote`, `rollback`, `pause`, `approve`, `define`: those of them that they have.
    may: Vec<&'static str>,
    /// The namespaces that they are known to have rights in. There may be more: on Kubernetes, RBAC does not tell.
    namespaces: Vec<String>,
}

/// Tell what whoever asks may do.
#[utoipa::path(get, path = "/rights", tag = "status", params(Where),
    responses((status = 200, body = Rights), Failed))]
pub(super) async fn rights(
    State(shared): State<Shared>,
    caller: Caller,
    Query(place): Query<Where>,
) -> Result<Json<Rights>, Problem> {
    let key = match (&place.namespace, place.pipeline) {
        (Some(namespace), Some(name)) => Some(PipelineKey { namespace: namespace.clone(), name }),
        (None, Some(_)) => return Err(Problem::bad_request("a pipeline is in a namespace: add `namespace`")),
        (_, None) => None,
    };
    let home = place.namespace.as_ref().map_or(Scope::All, Scope::Namespace);
    let scope = key.as_ref().map_or(home, Scope::Pipeline);
    let mut may = Vec::new();
    for verb in [Verb::View, Verb::Promote, Verb::Rollback, Verb::Pause, Verb::Approve, Verb::Define] {
        if caller.may(&shared, verb, scope).await? {
            may.push(right(verb));
        }
    }
    let namespaces = caller.homes(&shared).await?.iter().map(ToString::to_string).collect();
    Ok(Json(Rights { may, namespaces }))
}
