//! The objects of Flux behind a workload, and what it applied.

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;
use weir_core::{EnvironmentName, Name, Namespace, PipelineKey, TargetKey, WorkloadKey};
use weir_ports::Verb;

use super::find;
use crate::{
    caller::Caller,
    extract::{Path, Query},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::TreeView,
};

/// Which workload.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// The target, as its `name` says: `NAMESPACE`, or `CLUSTER-NAMESPACE/CLUSTER/NAMESPACE`.
    #[param(value_type = String)]
    target: TargetKey,
    /// The workload: `HelmRelease/NAME` or `Kustomization/NAME`.
    #[param(value_type = String)]
    workload: WorkloadKey,
}

/// Show the objects behind a workload, from its source to what it applied. They are read from the cluster now.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}/environments/{environment}/tree", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path), Which),
    responses((status = 200, body = TreeView), Failed))]
pub(super) async fn tree(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name, environment)): Path<(Namespace, Name, EnvironmentName)>,
    Query(Which { target, workload }): Query<Which>,
) -> Result<Json<TreeView>, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let key = PipelineKey { namespace, name };
    // Whoever may look at a pipeline may look at what belongs to it, and at nothing else.
    let belongs = shared.world().look(&key, |known| {
        let defined = known.pipeline().environment(&environment);
        let is_there = defined.is_some_and(|defined| defined.targets.contains(&target));
        is_there && known.snapshot().running(&environment, Some(&target)).iter().any(|it| *it.workload == workload)
    });
    match belongs {
        Some(true) => Ok(Json(shared.backend.behind(&target, &workload).await?.into())),
        Some(false) => {
            let detail = format!("`{key}` has no workload `{workload}` in target `{target}` of `{environment}`");
            Err(Problem::not_found(detail))
        }
        None => Err(find::missing(&shared, &key)),
    }
}
