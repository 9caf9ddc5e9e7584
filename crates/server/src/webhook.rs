//! Takes in what Flux reports, and in `forge` what forges post.
//!
//! An event is checked, understood, stored durably, and answered at once; what follows from it is the engine's. Whoever
//! wants to see what follows says so with `Prefer: wait`. An event that is answered with 202 is never lost, and one that
//! is posted twice is stored once.

mod answer;
pub(crate) mod forge;
mod outcome;
mod signature;
mod store;
mod target;

use std::{collections::BTreeSet, time::Instant};

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
use weir_core::{
    Environment, EnvironmentName, Name, Namespace, NamingError, ObservationKey, Outcome, Pipeline, PipelineKey,
    Revision, VersionRule,
};
use weir_ports::{CatalogError, Definition};

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

/// The pipeline that an event is for, and the environment that it names.
struct Place {
    pipeline: Pipeline,
    version: Option<VersionRule>,
    named: String,
    /// The Secrets that may sign it. Those of all environments, if it names one that is not defined: who cannot sign
    /// anything is not told what there is.
    secrets: BTreeSet<Name>,
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
        (status = 201, description = "With `Prefer: wait`: the promotion that follows has an open proposal, at `Location`", body = Answer),
        (status = 202, description = "It is stored", body = Answer),
        (status = 204, description = "With `Prefer: wait`: the promotion that follows is delivered"),
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
    measure(&shared, begun, taken.as_ref().map(Taken::received));
    match taken {
        Ok(taken) => outcome::answer(&shared, taken).await,
        Err(problem) => problem.into_response(),
    }
}

/// Measures how long it took to take in an event.
fn measure(shared: &Shared, begun: Instant, received: Result<Received, &Problem>) {
    let received = received.unwrap_or_else(|problem| match problem.status() {
        StatusCode::SERVICE_UNAVAILABLE => {
            shared.troubled(problem);
            Received::Unavailable
        }
        _ => Received::Refused,
    });
    shared.metrics.received(received, begun.elapsed());
}

/// The path is read when it is looked at, so that a pipeline is not missing before the world is known.
type Named = Result<Path<(String, String, String)>, Problem>;
type Hinted = Result<Query<Hint>, Problem>;

/// An event that was taken in.
enum Taken {
    /// It changes nothing.
    Ignored(Ignored),
    /// It is stored.
    Stored {
        place: Box<Place>,
        next: Option<EnvironmentName>,
        reported: Box<Reported>,
        key: Box<ObservationKey>,
        kept: Kept,
        prefer: Prefer,
    },
}

impl Taken {
    fn received(&self) -> Received {
        match self {
            Self::Ignored(_) => Received::Ignored,
            Self::Stored { kept: Kept::Known, .. } => Received::Known,
            Self::Stored { kept: Kept::Outdated, .. } => Received::Outdated,
            Self::Stored { kept: Kept::Stored, .. } => Received::Stored,
        }
    }
}

async fn take(shared: &Shared, path: Named, hint: Hinted, request: Request) -> Result<Taken, Problem> {
    let (parts, body) = request.into_parts();
    let Path((namespace, pipeline, environment)) = path?;
    let place = locate(shared, &namespace, &pipeline, environment)?;
    let body = check(shared, &place, &parts.headers, body).await?;
    let Query(hint) = hint?;

    let now = shared.backend.now();
    let heard = event(&body, now, place.version.as_ref()).map_err(|error| match error {
        EventError::Form(_) => Problem::bad_request(error.to_string()),
        EventError::Name(_) => Problem::unprocessable(error.to_string()),
    })?;
    let environment = place.environment()?;
    let reported = match heard {
        Heard::Report(reported) => reported,
        Heard::Nothing(ignored @ (Ignored::NoRevision | Ignored::NoChart(_) | Ignored::Kind { .. })) => {
            return Err(Problem::unprocessable(ignored.to_string()));
        }
        Heard::Nothing(ignored) => return Ok(Taken::Ignored(ignored)),
    };
    place.pipeline.check_workload(&reported.workload).map_err(makes_no_sense)?;
    let target = target::find(environment, hint.cluster.as_deref(), &reported).map_err(makes_no_sense)?;
    let key = ObservationKey {
        environment: environment.name.clone(),
        target: target.cloned(),
        workload: reported.workload.clone(),
    };
    let kept = store::keep(shared, &place.pipeline.key, &key, &reported.report).await?;
    let pipeline = &place.pipeline.key;
    tracing::debug!(%pipeline, environment = %key.environment, %reported, ?kept, "an event came in");
    let mut after = place.pipeline.environments().iter().skip_while(|it| it.name != key.environment).skip(1);
    let next = after.next().map(|next| next.name.clone());
    let prefer = Prefer::read(&parts.headers);
    let (reported, key, place) = (Box::new(reported), Box::new(key), Box::new(place));
    Ok(Taken::Stored { place, next, reported, key, kept, prefer })
}

fn makes_no_sense(error: impl Into<NamingError>) -> Problem {
    Problem::unprocessable(error.into().to_string())
}

/// The pipeline as it is defined. Until everything is known, nothing is missing.
fn defined(shared: &Shared, namespace: &str, pipeline: &str) -> Result<(Definition, Pipeline), Problem> {
    if !shared.world().is_ready() {
        return Err(Problem::unavailable("not-ready", "the pipelines are still being read; try again soon"));
    }
    let missing = || Problem::not_found(format!("there is no pipeline `{namespace}/{pipeline}`"));
    let key = PipelineKey {
        namespace: Namespace::new(namespace).map_err(|_| missing())?,
        name: Name::new(pipeline).map_err(|_| missing())?,
    };
    let known = shared.world().look(&key, |known| Some((known.definition()?.clone(), known.pipeline().clone())));
    known.flatten().ok_or_else(missing)
}

/// The pipeline, and what may sign for the environment.
fn locate(shared: &Shared, namespace: &str, pipeline: &str, environment: String) -> Result<Place, Problem> {
    let (definition, pipeline) = defined(shared, namespace, pipeline)?;
    let signed = definition.signed_with.iter();
    let own = |name: &EnvironmentName| name.as_str() == environment;
    let defined = pipeline.environments().iter().any(|it| own(&it.name));
    let secrets = signed.filter(|(name, _)| !defined || own(name)).map(|(_, secret)| secret.clone()).collect();
    Ok(Place { pipeline, version: definition.version, named: environment, secrets })
}

/// Reads the body, if it is signed as it has to be.
async fn check(shared: &Shared, place: &Place, headers: &HeaderMap, body: Body) -> Result<axum::body::Bytes, Problem> {
    let body = read(body, &shared.settings.limits).await?;
    if place.secrets.is_empty() {
        unsigned(shared, place, headers)?;
        return Ok(body);
    }
    let mut refused = None;
    for name in &place.secrets {
        let check =
            |key: &[u8]| signature::verify(headers, &body, key).map_err(|error| Problem::unsigned(error.to_string()));
        match with_key(shared, &place.pipeline.key.namespace, name, check).await {
            Ok(()) => return Ok(body),
            Err(problem) => refused = Some(problem),
        }
    }
    Err(refused.unwrap_or_else(|| Problem::unsigned("nothing signs the event")))
}

/// Checks something with the `hmac-key` of a Secret.
async fn with_key<T>(
    shared: &Shared,
    home: &Namespace,
    name: &Name,
    check: impl FnOnce(&[u8]) -> Result<T, Problem>,
) -> Result<T, Problem> {
    // Whoever asks may be anybody: which Secret it is about is for the log alone.
    let secret = shared.backend.secret(home, name).await.map_err(|error| {
        tracing::warn!(%error, "an event cannot be checked");
        match error {
            CatalogError::NoSecret { .. } => Problem::unsigned(UNCHECKED),
            CatalogError::Unavailable { .. } => Problem::unavailable("secret", UNCHECKED),
        }
    })?;
    let key = secret.get("hmac-key").map(ExposeSecret::expose_secret).filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| {
        tracing::warn!("an event cannot be checked: Secret `{home}/{name}` has no `hmac-key`; add one");
        Problem::unsigned(UNCHECKED)
    })?;
    check(key)
}

/// What a stranger is told when there is nothing to check a signature with.
const UNCHECKED: &str = "there is no key to check the signature with; Weir's log says why";

/// Whether an event may come without a signature.
fn unsigned(shared: &Shared, place: &Place, headers: &HeaderMap) -> Result<(), Problem> {
    match (&shared.settings.authentication, shared.settings.unsigned) {
        (Authentication::Open { port, .. }, Unsigned::Accept) => origin::check(headers, None, *port),
        _ => Err(Problem::unsigned(format!(
            "nothing signs the events of environment `{}`; create a Secret with `hmac-key` beside the pipeline, and \
             name it in `promotion.strategy.secretRef`",
            place.named
        ))),
    }
}

impl Place {
    /// The environment, which has to be one that reports can be about.
    fn environment(&self) -> Result<&Environment, Problem> {
        let name = EnvironmentName::new(&self.named).map_err(makes_no_sense)?;
        let environment = self.pipeline.environment_named(&name).map_err(makes_no_sense)?;
        if environment.targets.is_empty() {
            return Err(Problem::unprocessable(format!("environment `{name}` has no targets")));
        }
        Ok(environment)
    }
}

/// The revision that was reported in a success.
fn succeeded(reported: &Reported) -> Option<&Revision> {
    match &reported.report.outcome {
        Outcome::Succeeded(revision) => Some(revision),
        Outcome::Failed { .. } => None,
    }
}
