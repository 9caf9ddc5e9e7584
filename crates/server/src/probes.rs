//! For whoever looks after the process. Open to everybody: nothing here names a pipeline.

use axum::{
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
};

use crate::{problem::Problem, state::Shared};

/// Tell whether the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "probes", responses((status = 200, description = "It is")))]
pub(crate) async fn alive() -> StatusCode {
    StatusCode::OK
}

/// Tell whether everything has been read that answers depend on.
#[utoipa::path(get, path = "/readyz", tag = "probes",
    responses((status = 200, description = "It has"), (status = 503, description = "Not yet", body = Problem)))]
pub(crate) async fn ready(State(shared): State<Shared>) -> Result<StatusCode, Problem> {
    if shared.world().is_ready() {
        return Ok(StatusCode::OK);
    }
    Err(Problem::unavailable("not-ready", "definitions and records are still being read"))
}

/// Show what is measured, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "probes",
    responses((status = 200, content_type = "application/openmetrics-text", body = String)))]
pub(crate) async fn metrics(State(shared): State<Shared>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], shared.metrics.text(shared.world()))
}
