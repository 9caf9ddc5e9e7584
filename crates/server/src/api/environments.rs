//! Environments, and what people do about the promotion into one.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use weir_core::{EnvironmentName, Name, Namespace, PipelineKey, Promotion, plan, promotion_name};
use weir_engine::{Ask, Asked, Known};
use weir_ports::{Flaw, Verb};

use super::find;
use crate::{
    caller::Caller,
    extract::{Input, Path, Query},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::{EnvironmentView, Explanation, PreviewView, PromotionView, environment},
};

type Place = (Namespace, Name, EnvironmentName);

/// What shall be promoted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromotionWanted {
    /// The version, as people write it: `6.2.0`, or `HelmRelease/a=1.0, HelmRelease/b=2.0`.
    version: String,
    /// Why.
    why: Option<String>,
}

/// What is agreed to, or rejected.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judged {
    /// The version. Missing: whatever is on its way.
    version: Option<String>,
    /// Why.
    why: Option<String>,
}

/// What somebody thinks about doing.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Considered {
    /// What they would do.
    #[param(inline)]
    deed: AboutPromotion,
    /// The version, as people write it. Approving without one is about what is on its way, and so is rejecting.
    version: Option<String>,
}

/// What can be done about the promotion into an environment.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AboutPromotion {
    Promote,
    Approve,
    Reject,
}

impl Considered {
    /// What they would ask for.
    fn asks(self) -> Result<Ask, Problem> {
        match (self.deed, self.version) {
            (AboutPromotion::Promote, Some(version)) => Ok(Ask::Promote { version }),
            (AboutPromotion::Promote, None) => Err(Problem::bad_request("which version? add `version`")),
            (AboutPromotion::Approve, version) => Ok(Ask::Approve { version }),
            (AboutPromotion::Reject, version) => Ok(Ask::Reject { version }),
        }
    }
}

/// Show everything about an environment.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}/environments/{environment}", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path)),
    responses((status = 200, body = EnvironmentView), Failed))]
pub(super) async fn show(
    State(shared): State<Shared>,
    caller: Caller,
    Path(place): Path<Place>,
) -> Result<Json<EnvironmentView>, Problem> {
    let now = shared.backend.now();
    look(&shared, &caller, place, |known, unread, name| {
        let plan = plan(known.pipeline(), known.snapshot(), now);
        environment(known, &caller.actor, unread, known.pipeline().environment(name)?, &plan, now)
    })
    .await
}

/// Explain why an environment is not further.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}/environments/{environment}/explain", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path)),
    responses((status = 200, body = Explanation), Failed))]
pub(super) async fn explain(
    State(shared): State<Shared>,
    caller: Caller,
    Path(place): Path<Place>,
) -> Result<Json<Explanation>, Problem> {
    let now = shared.backend.now();
    look(&shared, &caller, place, |known, unread, name| {
        let explained = weir_core::explain(known.pipeline(), known.snapshot(), name, now)?;
        Some(Explanation::from(explained).despite(unread))
    })
    .await
}

/// Tell what would come of promoting, approving or rejecting, without doing it.
///
/// It is played through on what is known now. What would be refused is refused with the same words, and it takes the
/// same right.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}/environments/{environment}/preview", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path), Considered),
    responses((status = 200, body = PreviewView), Failed))]
pub(super) async fn preview(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name, environment)): Path<Place>,
    Query(considered): Query<Considered>,
) -> Result<Json<PreviewView>, Problem> {
    let ask = considered.asks()?;
    let (key, asked) = (PipelineKey { namespace, name }, caller.asks(None));
    may_ask(&shared, &caller, &asked, &key, &environment, &ask).await?;
    let preview = shared.backend.preview(&asked, &key, &environment, &ask)?;
    Ok(Json(preview.into()))
}

async fn look<T>(
    shared: &Shared,
    caller: &Caller,
    (namespace, name, environment): Place,
    look: impl FnOnce(&Known, &[Flaw], &EnvironmentName) -> Option<T>,
) -> Result<Json<T>, Problem> {
    caller.must(shared, Verb::View, &namespace).await?;
    let key = PipelineKey { namespace, name };
    let unread = shared.world().unread(&key);
    let found = shared.world().look(&key, |known| {
        if known.definition().is_none() && !unread.is_empty() {
            return Err(None);
        }
        let named = known.pipeline().environment_named(&environment);
        named.map_err(|error| Some(Problem::not_found(error.to_string())))?;
        Ok(look(known, &unread, &environment))
    });
    let found = found.unwrap_or(Err(None)).map_err(|why| why.unwrap_or_else(|| find::missing(shared, &key)))?;
    found.map(Json).ok_or_else(|| Problem::not_found(format!("`{key}` has no environment `{environment}`")))
}

/// Ask for a release in an environment.
#[utoipa::path(post, path = "/pipelines/{namespace}/{name}/environments/{environment}/promote", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path)),
    request_body = PromotionWanted,
    responses((status = 201, description = "It is promoted, as soon as nothing holds it", body = PromotionView), Failed))]
pub(super) async fn promote(
    State(shared): State<Shared>,
    caller: Caller,
    Path(place): Path<Place>,
    Input(body): Input<PromotionWanted>,
) -> Result<Response, Problem> {
    let promotion = ask(&shared, &caller, place, body.why, Ask::Promote { version: body.version }).await?;
    let address = format!("/api/v1/promotions/{}/{}", promotion.key.pipeline.namespace, promotion_name(&promotion.key));
    Ok((StatusCode::CREATED, [(LOCATION, address)], Json(PromotionView::from(&promotion))).into_response())
}

/// Agree to a release.
#[utoipa::path(post, path = "/pipelines/{namespace}/{name}/environments/{environment}/approve", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path)),
    request_body = Option<Judged>, responses((status = 200, body = PromotionView), Failed))]
pub(super) async fn approve(
    State(shared): State<Shared>,
    caller: Caller,
    Path(place): Path<Place>,
    Input(body): Input<Judged>,
) -> Result<Json<PromotionView>, Problem> {
    let what = Ask::Approve { version: body.version };
    let promotion = ask(&shared, &caller, place, body.why, what).await?;
    Ok(Json(PromotionView::from(&promotion)))
}

/// Reject what is on its way.
#[utoipa::path(post, path = "/pipelines/{namespace}/{name}/environments/{environment}/reject", tag = "environments",
    params(("namespace" = String, Path), ("name" = String, Path), ("environment" = String, Path)),
    request_body = Option<Judged>, responses((status = 200, body = PromotionView), Failed))]
pub(super) async fn reject(
    State(shared): State<Shared>,
    caller: Caller,
    Path(place): Path<Place>,
    Input(body): Input<Judged>,
) -> Result<Json<PromotionView>, Problem> {
    let promotion = ask(&shared, &caller, place, body.why, Ask::Reject { version: body.version }).await?;
    Ok(Json(PromotionView::from(&promotion)))
}

async fn ask(
    shared: &Shared,
    caller: &Caller,
    (namespace, name, environment): Place,
    why: Option<String>,
    what: Ask,
) -> Result<Promotion, Problem> {
    let (key, asked) = (PipelineKey { namespace, name }, caller.asks(why));
    may_ask(shared, caller, &asked, &key, &environment, &what).await?;
    Ok(shared.backend.ask(&asked, &key, &environment, what).await?)
}

/// Refuses whoever may not ask for that. To go back takes another right than to go on; whoever has one of them alone is
/// told which it takes.
async fn may_ask(
    shared: &Shared,
    caller: &Caller,
    asked: &Asked,
    key: &PipelineKey,
    environment: &EnvironmentName,
    what: &Ask,
) -> Result<(), Problem> {
    let Ask::Promote { version } = what else { return caller.must(shared, Verb::Approve, key).await };
    caller.must_any(shared, &[Verb::Rollback, Verb::Promote], key.into()).await?;
    if !shared.backend.preview(asked, key, environment, what)?.goes_back {
        return caller.must(shared, Verb::Promote, key).await;
    }
    if caller.may(shared, Verb::Rollback, key).await? {
        return Ok(());
    }
    let lacks = caller.lacks(shared, Verb::Rollback, key.into());
    let why = format!("`{version}` is not known to be newer than what {environment} runs, so this is a rollback");
    Err(Problem::forbidden(format!("{why}; {lacks}")))
}
