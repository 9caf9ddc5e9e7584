//! Freezes.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weir_api::parse_duration;
use weir_core::{EnvironmentName, Freeze, Name, Namespace, PipelineKey, Revision, Selector};
use weir_engine::World;
use weir_ports::{Scope, Verb};

use crate::{
    caller::{Caller, Visible},
    extract::{Input, Path, Query},
    page::{List, Page, Paging, token},
    problem::Problem,
    router::Failed,
    state::Shared,
};

/// A stop.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FreezeView {
    /// Its name.
    name: String,
    /// What it stops: only pipelines of this namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Only pipelines of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pipeline: Option<String>,
    /// Only promotions into environments of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    /// Only releases that hold this revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<String>,
    /// Why.
    reason: String,
    /// Who set it.
    by: String,
    /// From when on it counts.
    from: Timestamp,
    /// When it ends by itself. Missing: when somebody lifts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// Whether it counts now.
    active: bool,
    /// How many pipelines that may be viewed it concerns, as they are defined now. None: a name in it may be mistyped.
    pipelines: usize,
}

impl FreezeView {
    fn new(it: &Freeze, world: &World, visible: &Visible, now: Timestamp) -> Self {
        let mut pipelines = 0;
        world.scan(None, |key, known| {
            let counts = known.definition().is_some() && visible.sees(&key.namespace);
            pipelines += usize::from(counts && it.selector.concerns(known.pipeline()));
            true
        });
        Self {
            pipelines,
            name: it.name.to_string(),
            namespace: it.selector.namespace.as_ref().map(ToString::to_string),
            pipeline: it.selector.pipeline.as_ref().map(ToString::to_string),
            environment: it.selector.environment.as_ref().map(ToString::to_string),
            release: it.selector.release.as_ref().map(ToString::to_string),
            reason: it.reason.clone(),
            by: it.by.clone(),
            from: it.from,
            until: it.until,
            active: it.lasts(now),
        }
    }
}

/// A stop to be set. What is left out of the selection selects everything.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FreezeWanted {
    /// Its name. One is derived if it is missing.
    #[schema(value_type = Option<String>)]
    name: Option<Name>,
    /// Only pipelines of this namespace.
    #[schema(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// Only pipelines of this name.
    #[schema(value_type = Option<String>)]
    pipeline: Option<Name>,
    /// Only promotions into environments of this name.
    #[schema(value_type = Option<String>)]
    environment: Option<EnvironmentName>,
    /// Only releases that hold this revision: a quarantine.
    #[schema(value_type = Option<String>)]
    release: Option<Revision>,
    /// Why.
    reason: String,
    /// From when on it counts. Missing: now.
    from: Option<Timestamp>,
    /// When it ends by itself.
    until: Option<Timestamp>,
    /// How long it lasts, in place of `until`: `30m`, `1h30m`.
    #[serde(rename = "for")]
    lasts: Option<String>,
}

/// Why it is lifted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Lifted {
    /// In their words.
    why: Option<String>,
}

/// Which freezes. What is left out selects everything.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those that stop pipelines of this namespace, alone or among others.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
}

/// List freezes, by name. Those that concern all namespaces are shown to whoever may look at any.
#[utoipa::path(get, path = "/freezes", tag = "freezes", params(Which, Paging),
    responses((status = 200, body = Page<FreezeView>), Failed))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    List { which, paging }: List<Which>,
) -> Result<Json<Page<FreezeView>>, Problem> {
    let (now, after, limit) = (shared.backend.now(), paging.place()?, paging.limit());
    let looked_at = caller.looks(&shared, None).await?;
    let all = shared.world().freezes();
    let homes = all.iter().filter_map(|it| it.selector.namespace.clone()).collect();
    let visible = caller.sees(&shared, homes).await?;
    let seen = |it: &&Freeze| match &it.selector.namespace {
        Some(home) => visible.sees(home),
        None => true,
    };
    let after = |it: &&Freeze| after.as_deref().is_none_or(|after| it.name.as_str() > after);
    let stops = |it: &&Freeze| {
        let wanted = which.namespace.as_ref().zip(it.selector.namespace.as_ref());
        wanted.is_none_or(|(wanted, stopped)| wanted == stopped)
    };
    let mut rest = all.iter().filter(seen).filter(stops).filter(after);
    let page: Vec<_> = rest.by_ref().take(limit).collect();
    let more = rest.next().and(page.last()).map(|last| token(last.name.as_str()));
    let partial = all.iter().filter(stops).any(|it| !seen(&it));
    Ok(Json(Page {
        items: page.into_iter().map(|it| FreezeView::new(it, shared.world(), &looked_at, now)).collect(),
        token: more,
        partial,
    }))
}

/// Set a freeze.
#[utoipa::path(post, path = "/freezes", tag = "freezes", request_body = FreezeWanted,
    responses((status = 201, body = FreezeView), Failed))]
pub(super) async fn freeze(
    State(shared): State<Shared>,
    caller: Caller,
    Input(body): Input<FreezeWanted>,
) -> Result<Response, Problem> {
    let now = shared.backend.now();
    let freeze = define(body, &caller, now)?;
    may_pause(&shared, &caller, &freeze.selector).await?;
    // Whoever may stop something need not be allowed to look at anything.
    let visible = caller.looks(&shared, None).await.unwrap_or_else(|_| Visible::nothing());
    let view = FreezeView::new(&freeze, shared.world(), &visible, now);
    let address = format!("/api/v1/freezes/{}", freeze.name);
    shared.backend.freeze(&caller.asks(None), freeze).await?;
    Ok((StatusCode::CREATED, [(LOCATION, address)], Json(view)).into_response())
}

/// Refuses whoever may not stop what a freeze stops.
async fn may_pause(shared: &Shared, caller: &Caller, selected: &Selector) -> Result<(), Problem> {
    match (&selected.namespace, &selected.pipeline) {
        (None, _) => caller.must(shared, Verb::Pause, Scope::All).await,
        (Some(namespace), None) => caller.must(shared, Verb::Pause, namespace).await,
        (Some(namespace), Some(name)) => {
            let key = PipelineKey { namespace: namespace.clone(), name: name.clone() };
            caller.must(shared, Verb::Pause, &key).await
        }
    }
}

fn define(body: FreezeWanted, caller: &Caller, now: Timestamp) -> Result<Freeze, Problem> {
    if body.reason.trim().is_empty() {
        return Err(Problem::unprocessable("a freeze needs a `reason`, for those whom it stops"));
    }
    let from = body.from.unwrap_or(now);
    let until = match (body.until, body.lasts) {
        (Some(_), Some(_)) => return Err(Problem::unprocessable("give `until` or `for`, not both")),
        (until, None) => until,
        (None, Some(text)) => {
            let lasts = parse_duration(&text).map_err(|error| Problem::unprocessable(error.to_string()))?;
            let until = from.checked_add(lasts).map_err(|_| Problem::unprocessable("`for` is too long"))?;
            Some(until)
        }
    };
    if until.is_some_and(|until| until <= from || until <= now) {
        return Err(Problem::unprocessable("the freeze would be over before it begins; give a later end"));
    }
    let (namespace, pipeline, environment, release) = (body.namespace, body.pipeline, body.environment, body.release);
    let selector = Selector { namespace, pipeline, environment, release };
    let name = match body.name {
        Some(name) => name,
        None => derive(&selector, now)?,
    };
    Ok(Freeze { name, selector, reason: body.reason, by: caller.actor.name.clone(), from, until })
}

/// A name for a freeze, from what it stops and when it was set.
fn derive(selector: &Selector, now: Timestamp) -> Result<Name, Problem> {
    let parts = [
        selector.namespace.as_ref().map(ToString::to_string),
        selector.pipeline.as_ref().map(ToString::to_string),
        selector.environment.as_ref().map(ToString::to_string),
        selector.release.as_ref().map(ToString::to_string),
    ];
    let plain = |part: String| -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let part: String = part.chars().map(plain).take(50).collect();
        part.trim_matches('-').to_owned()
    };
    let parts: Vec<_> = parts.into_iter().flatten().map(plain).filter(|part| !part.is_empty()).collect();
    let what = if parts.is_empty() { "all".to_owned() } else { parts.join("-") };
    let name = format!("{what}-{:x}", now.as_millisecond());
    Name::new(name).map_err(|error| Problem::unprocessable(error.to_string()))
}

/// Lift a freeze.
#[utoipa::path(delete, path = "/freezes/{name}", tag = "freezes", params(("name" = String, Path), Lifted),
    responses((status = 204, description = "It is lifted"), Failed))]
pub(super) async fn unfreeze(
    State(shared): State<Shared>,
    caller: Caller,
    Path(name): Path<Name>,
    Query(lifted): Query<Lifted>,
) -> Result<StatusCode, Problem> {
    let freeze = shared.world().freezes().into_iter().find(|it| it.name == name);
    let freeze = freeze.ok_or_else(|| Problem::not_found(format!("there is no freeze `{name}`")))?;
    may_pause(&shared, &caller, &freeze.selector).await?;
    shared.backend.unfreeze(&caller.asks(lifted.why), &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
