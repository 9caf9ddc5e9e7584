//! Takes in what forges post: a reason to look again, and nothing more.

use std::{collections::BTreeMap, time::Instant};

use axum::{
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use weir_core::{ForgeKind, Name, Pipeline, Strategy};
use weir_forge::hook::{Happened, Heard, Refused, hear};

use super::{defined, measure, with_key};
use crate::{
    extract::{Path, read},
    metrics::Received,
    problem::Problem,
    state::Shared,
};

/// Tell that something happened to a pull request: an event of the forge, which has to be signed.
#[utoipa::path(
    post, path = "/hooks/forge/{namespace}/{name}", tag = "webhook",
    params(
        ("namespace" = String, Path, description = "The pipeline's namespace"),
        ("name" = String, Path, description = "The pipeline"),
        ("X-Gitea-Signature" = Option<String>, Header, description = "The HMAC of the body with SHA-256, in hexadecimal digits; also `X-Forgejo-Signature`, or `X-Hub-Signature-256` with `sha256=` before it"),
        ("X-Gitea-Event" = Option<String>, Header, description = "What happened; also `X-Forgejo-Event`"),
    ),
    request_body(content_type = "application/json", description = "An event of the forge"),
    responses(
        (status = 202, description = "The pull requests of the pipeline are looked at"),
        (status = 204, description = "It was understood, and is of no interest"),
        (status = 400, description = "The body is no event", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "The signature is missing or wrong, or nothing can sign the event", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such pipeline", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too long", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "Not now; `Retry-After` says when", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn receive(State(shared): State<Shared>, path: Named, request: Request) -> Response {
    let begun = Instant::now();
    let taken = take(&shared, path, request).await;
    let received = |heard: &Heard| if heard.what == Happened::Other { Received::Ignored } else { Received::Heard };
    measure(&shared, begun, taken.as_ref().map(received));
    match taken {
        Ok(Heard { what: Happened::Other, .. }) => StatusCode::NO_CONTENT.into_response(),
        Ok(_) => StatusCode::ACCEPTED.into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// The path is read when it is looked at, so that a pipeline is not missing before the world is known.
type Named = Result<Path<(String, String)>, Problem>;

async fn take(shared: &Shared, path: Named, request: Request) -> Result<Heard, Problem> {
    let (parts, body) = request.into_parts();
    let Path((namespace, name)) = path?;
    let (_, pipeline) = defined(shared, &namespace, &name)?;
    let body = read(body, &shared.settings.limits).await?;
    let mut refused = Problem::unsigned_in(
        SIGNATURE,
        format!(
            "nothing signs what a forge posts for pipeline `{}`; add an `hmac-key` to the Secret that \
             `pull-request.secretRef` names, where `type` is `gitea`",
            pipeline.key
        ),
    );
    for (secret, kind) in signers(&pipeline) {
        let check = |key: &[u8]| hear(kind, &parts.headers, &body, key).map_err(problem);
        match with_key(shared, &pipeline.key.namespace, &secret, check).await {
            Ok(heard) => {
                if heard.what != Happened::Other {
                    tracing::debug!(pipeline = %pipeline.key, ?heard, "a forge posted an event");
                    shared.world().poke(&pipeline.key);
                }
                return Ok(heard);
            }
            Err(problem) => refused = problem,
        }
    }
    Err(refused)
}

/// The header that is asked for.
const SIGNATURE: &str = "X-Hub-Signature-256";

/// The Secrets that open the repositories of a pipeline on forges whose events are understood.
fn signers(pipeline: &Pipeline) -> BTreeMap<Name, ForgeKind> {
    let strategies = pipeline.environments().iter().filter_map(|it| it.promotion.as_ref()).map(|it| &it.strategy);
    let signer = |strategy: &Strategy| match strategy {
        Strategy::PullRequest(it) if it.forge == ForgeKind::Gitea => Some((it.repository.secret.clone()?, it.forge)),
        _ => None,
    };
    strategies.filter_map(signer).collect()
}

fn problem(refused: Refused) -> Problem {
    match refused {
        Refused::Unreadable(_) => Problem::bad_request(refused.to_string()),
        Refused::Unsigned | Refused::Form | Refused::Wrong | Refused::Unsupported(_) => {
            Problem::unsigned_in(SIGNATURE, refused.to_string())
        }
    }
}
