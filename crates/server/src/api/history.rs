//! What ran in an environment.

use axum::{Json, extract::State};
use weir_core::{EnvironmentName, Name, Namespace, PipelineKey};
use weir_ports::{HistoryQuery, Verb};

use super::find;
use crate::{caller::Caller, extract::Path, problem::Problem, router::Failed, state::Shared, view::HistoryView};

/// How many promotions are looked through: more than there are releases that an environment remembers.
const PROMOTIONS: usize = 500;

/// Tell what ran in an environment, from when to when, and how it came there; newest first, as far as it is remembered.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}/environments/{environment}/history", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path)),
    responses((status = 200, body = HistoryView), Failed))]
pub(super) async fn history(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name, environment)): Path<(Namespace, Name, EnvironmentName)>,
) -> Result<Json<HistoryView>, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let key = PipelineKey { namespace, name };
    let order = shared.world().look(&key, |known| {
        known.pipeline().environment_named(&environment).map_err(|error| Problem::not_found(error.to_string()))?;
        let record = known.snapshot().environments.get(&environment);
        Ok::<_, Problem>(record.map(|record| record.order.clone()).unwrap_or_default())
    });
    let order = order.ok_or_else(|| find::missing(&shared, &key))??;
    let query = HistoryQuery {
        pipeline: Some(key),
        namespace: None,
        environment: Some(environment),
        phases: Vec::new(),
        skip: 0,
        limit: PROMOTIONS,
    };
    Ok(Json(HistoryView::new(&order, &shared.backend.promotions(&query).await?)))
}
