//! Takes in what Flux reports.
//!
//! An event is checked, understood, stored durably, and answered at once; what follows from it is the engine's. Whoever
//! wants to see what follows says so with `Prefer: wait`. An event that is answered with 202 is never lost, and one that
//! is posted twice is stored once.

mod answer;
mod outcome;
mod signature;
mod store;
mod target;

use std::time::Instant;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use utoipa::IntoParams;
use weir_api::flux::{EventError, Heard, Ignored, Reported, event};
use weir_core::{Environment, EnvironmentName, Name, Namespace, ObservationKey, Outcome, PipelineKey, VersionRule};
use weir_ports::CatalogError;

use crate::{
    extract::{Path, Query, read},
    metrics::Received,
    origin,
    prefer::Prefer,
    problem::Problem,
    settings::{Authentication, Unsigned},
    state::Shared,
};
pub(crate) use answer::Answer;
use store::Kept;

/// What an event can say beside its body.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Hint {
    /// The cluster that reports, by the name of its `GitopsCluster`. It counts more than what the event says.
    cluster: Option<String>,
}

/// What is defined about the environment that an event is for.
struct Place {
    pipeline: PipelineKey,
    environment: Environment,
    next: Option<EnvironmentName>,
    version: Option<VersionRule>,
    secret: Option<Name>,
    definition: weir_core::Pipeline,
}

/// Report a deployment: an event of Flux, as a `Provider` of type `generic-hmac` posts it.
#[utoipa::path(
    post, path = "/promotion/{namespace}/{pipeline}/{environment}", tag = "webhook",
    params(
        ("namespace" = String, Path, description = "The pipeline's namespace"),
        ("pipeline" = String, Path, description = "The pipeline"),
        ("environment" = String, Path, description = "The environment that the deployment was in"),
        ("X-Signature" = Option<String>, Header, description = "`sha256=` and the HMAC of the body in hexadecimal digits; also `sha224`, `sha384`, `sha512`"),
        ("Prefer" = Option<String>, Header, description = "`wait=SECONDS`: answer when the promotion that follows has a proposal, is delivered, or is held; 60 at most"),
        Hint,
    ),
    request_body(content_type = "application/json", description = "An event of Flux"),
    responses(
        (status = 200, description = "It was understood, and changes nothing", body = Answer),
        (status = 201, description = "With `Prefer: wait`: the promotion that follows has a proposal, at `Location`", body = Answer),
        (status = 202, description = "It is stored", body = Answer),
        (status = 204, description = "With `Prefer: wait`: the promotion that follows is delivered, without a proposal"),
        (status = 400, description = "The body is no event", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "The signature is missing or wrong", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such pipeline", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too long", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The event is not about this environment of the pipeline, or names no revision", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "Not now; `Retry-After` says when", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn receive(State(shared): State<Shared>, path: Named, hint: Hinted, request: Request) -> Response {
    let begun = Instant::now();
    let taken = take(&shared, path, hint, request).await;
    let received = match &taken {
        Ok(taken) => taken.received(),
        Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE => Received::Unavailable,
        Err(_) => Received::Refused,
    };
    shared.metrics.received(received, begun.elapsed());
    match taken {
        Ok(taken) => outcome::answer(&shared, taken).await,
        Err(problem) => problem.into_response(),
    }
}

/// The path is read when it is looked at, so that a pipeline is not missing before the world is known.
type Named = Result<Path<(String, String, String)>, Problem>;
type Hinted = Result<Query<Hint>, Problem>;

/// An event that was taken in.
enum Taken {
    /// It changes nothing.
    Ignored(Ignored),
    /// It is stored.
    Stored { place: Box<Place>, reported: Box<Reported>, key: Box<ObservationKey>, kept: Kept, prefer: Prefer },
}

impl Taken {
    fn received(&self) -> Received {
        match self {
            Self::Ignored(_) => Received::Ignored,
            Self::Stored { kept: Kept::Known, .. } => Received::Known,
            Self::Stored { kept: Kept::Stored, .. } => Received::Stored,
        }
    }
}

async fn take(shared: &Shared, path: Named, hint: Hinted, request: Request) -> Result<Taken, Problem> {
    let (head, body) = request.into_parts();
    let Path((namespace, pipeline, environment)) = path?;
    let place = locate(shared, &namespace, &pipeline, &environment)?;
    let body = check(shared, &place, &head.headers, body).await?;
    let Query(hint) = hint?;

    let now = shared.backend.now();
    let reported = match event(&body, now, place.version.as_ref()) {
        Ok(Heard::Report(reported)) => reported,
        Ok(Heard::Nothing(ignored @ (Ignored::NoRevision | Ignored::Kind { .. }))) => {
            return Err(Problem::unprocessable(ignored.to_string()));
        }
        Ok(Heard::Nothing(ignored)) => return Ok(Taken::Ignored(ignored)),
        Err(error @ EventError::Form(_)) => return Err(Problem::bad_request(error.to_string())),
        Err(error @ EventError::Name(_)) => return Err(Problem::unprocessable(error.to_string())),
    };
    let makes_no_sense = |error: weir_core::NamingError| Problem::unprocessable(error.to_string());
    place.definition.check_workload(&reported.workload).map_err(makes_no_sense)?;
    let target = target::find(&place.environment, hint.cluster.as_deref(), &reported).map_err(makes_no_sense)?;
    let key = ObservationKey {
        environment: place.environment.name.clone(),
        target: target.cloned(),
        workload: reported.workload.clone(),
    };
    let kept = store::keep(shared, &place.pipeline, &key, &reported.report).await?;
    tracing::debug!(pipeline = %place.pipeline, environment = %key.environment, %reported, ?kept, "an event came in");
    let prefer = Prefer::read(&head.headers);
    Ok(Taken::Stored { place: Box::new(place), reported: Box::new(reported), key: Box::new(key), kept, prefer })
}

/// What is defined about the environment. Until everything is known, nothing is missing.
fn locate(shared: &Shared, namespace: &str, pipeline: &str, environment: &str) -> Result<Place, Problem> {
    if !shared.world().is_ready() {
        return Err(Problem::unavailable("not-ready", "the pipelines are still being read; try again soon"));
    }
    let missing = || Problem::not_found(format!("there is no pipeline `{namespace}/{pipeline}`"));
    let home = Namespace::new(namespace).map_err(|_| missing())?;
    let name = Name::new(pipeline).map_err(|_| missing())?;
    let key = PipelineKey { namespace: home, name };
    let known = shared.world().look(&key, |known| {
        let definition = known.definition()?.clone();
        Some((definition, known.pipeline().clone()))
    });
    let (definition, defined) = known.flatten().ok_or_else(missing)?;
    let makes_no_sense = |error: weir_core::NamingError| Problem::unprocessable(error.to_string());
    let named = EnvironmentName::new(environment).map_err(|error| makes_no_sense(error.into()))?;
    let found = defined.environment_named(&named).map_err(makes_no_sense)?.clone();
    if found.targets.is_empty() {
        return Err(Problem::unprocessable(format!("environment `{named}` has no targets")));
    }
    let mut after = defined.environments().iter().skip_while(|it| it.name != named).skip(1);
    let next = after.next().map(|next| next.name.clone());
    let secret = definition.signed_with.get(&named).cloned();
    Ok(Place { pipeline: key, environment: found, next, version: definition.version, secret, definition: defined })
}

/// Reads the body, if it is signed as it has to be.
async fn check(shared: &Shared, place: &Place, headers: &HeaderMap, body: Body) -> Result<axum::body::Bytes, Problem> {
    let body = read(body, &shared.settings.limits).await?;
    let Some(name) = &place.secret else {
        unsigned(shared, place, headers)?;
        return Ok(body);
    };
    let secret = match shared.backend.secret(&place.pipeline.namespace, name).await {
        Ok(secret) => secret,
        Err(error @ CatalogError::NoSecret { .. }) => return Err(Problem::unsigned(error.to_string())),
        Err(error @ CatalogError::Unavailable { .. }) => return Err(Problem::unavailable("secret", error.to_string())),
    };
    let key = secret.get("hmac-key").map(ExposeSecret::expose_secret).filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| Problem::unsigned(format!("Secret `{name}` has no `hmac-key`; add one")))?;
    signature::verify(headers, &body, key).map_err(|error| Problem::unsigned(error.to_string()))?;
    Ok(body)
}

/// Whether an event may come without a signature.
fn unsigned(shared: &Shared, place: &Place, headers: &HeaderMap) -> Result<(), Problem> {
    match (&shared.settings.authentication, shared.settings.unsigned) {
        (Authentication::Open { port, .. }, Unsigned::Accept) => origin::check(headers, None, *port),
        _ => Err(Problem::unsigned(format!(
            "nothing signs the events of environment `{}`; create a Secret with `hmac-key` in namespace `{}`, and name \
             it in `promotion.strategy.secretRef` of pipeline `{}`",
            place.environment.name, place.pipeline.namespace, place.pipeline.name
        ))),
    }
}

impl Place {
    /// The release that was reported in a success.
    fn succeeded(reported: &Reported) -> Option<&weir_core::Revision> {
        match &reported.report.outcome {
            Outcome::Succeeded(revision) => Some(revision),
            Outcome::Failed { .. } => None,
        }
    }
}
