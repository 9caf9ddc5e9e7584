//! Pipelines.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;
use weir_core::{Name, Namespace, Phase, PipelineKey, Reason};
use weir_ports::Verb;

use super::{Why, find};
use crate::{
    caller::Caller,
    extract::{Input, Path},
    page::{Filling, List, Page, Paging, unknown},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::{PipelineSummary, PipelineView},
};

/// Which pipelines. What is left out selects everything.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those of this namespace.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// Only those whose name contains this.
    name: Option<String>,
    /// Only those with an environment whose newest promotion is in this phase.
    #[param(value_type = Option<String>)]
    phase: Option<Phase>,
    /// Only those with an environment that this holds, by its name.
    #[param(value_type = Option<String>)]
    hold: Option<HoldName>,
    /// Only those that are suspended, or that are not.
    suspended: Option<bool>,
    /// Only those where something failed or waits for somebody to mend it, or only the others.
    problem: Option<bool>,
}

/// One of the names that holds have.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct HoldName(String);

impl TryFrom<String> for HoldName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if !Reason::NAMES.contains(&&*text) {
            return Err(format!("there is no hold `{text}`; there are `{}`", Reason::NAMES.join("`, `")));
        }
        Ok(Self(text))
    }
}

impl Which {
    fn fits(&self, it: &PipelineSummary) -> bool {
        let same = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        let phase = |wanted: &Phase| it.environments.iter().any(|place| place.phase == Some(*wanted));
        let hold = |wanted: &HoldName| it.environments.iter().any(|place| place.holds.contains(&&*wanted.0));
        same(self.suspended, it.suspended)
            && same(self.problem, it.problem)
            && self.phase.as_ref().is_none_or(phase)
            && self.hold.as_ref().is_none_or(hold)
    }
}

/// List pipelines, by namespace and name.
#[utoipa::path(get, path = "/pipelines", tag = "pipelines", params(Which, Paging),
    responses((status = 200, body = Page<PipelineSummary>), Failed))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    List { which, paging }: List<Which>,
) -> Result<Json<Page<PipelineSummary>>, Problem> {
    let visible = caller.looks(&shared, which.namespace.as_ref()).await?;
    let after = paging.place()?.map(|place| place.parse::<PipelineKey>()).transpose().map_err(|_| unknown())?;
    let unread = unread(&shared);
    let nowhere = unread.iter().filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after));
    let nowhere: Vec<_> = nowhere.filter(|(key, _)| shared.world().look(key, |_| ()).is_none()).collect();
    let mut nowhere = nowhere.into_iter().peekable();
    let mut page = Filling::new(&paging);
    let mut add = |key: &PipelineKey, summary: &dyn Fn() -> PipelineSummary| {
        let name = which.name.as_deref().is_none_or(|part| key.name.as_str().contains(part));
        if !name || !visible.sees(&key.namespace) {
            return true;
        }
        let summary = summary();
        !which.fits(&summary) || page.add(|| key.to_string(), || summary)
    };
    let mut is_full = false;
    shared.world().scan(after.as_ref(), |key, known| {
        while let Some((before, why)) = nowhere.next_if(|(it, _)| *it < key) {
            is_full |= !add(before, &|| PipelineSummary::unread(before, why));
        }
        is_full = is_full || !add(key, &|| PipelineSummary::new(known, unread.get(key).map(String::as_str)));
        !is_full
    });
    if !is_full {
        nowhere.all(|(key, why)| add(key, &|| PipelineSummary::unread(key, why)));
    }
    Ok(Json(page.page(&visible)))
}

/// The pipelines with a definition that cannot be read, and why.
fn unread(shared: &Shared) -> BTreeMap<PipelineKey, String> {
    let flaws = shared.world().problems().into_iter().filter(|flaw| flaw.unread);
    flaws.flat_map(|flaw| flaw.pipelines.into_iter().map(move |key| (key, flaw.problem.clone()))).collect()
}

/// Show everything about a pipeline.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}", tag = "pipelines",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = PipelineView), Failed))]
pub(super) async fn show(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
) -> Result<Json<PipelineView>, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let (key, now) = (PipelineKey { namespace, name }, shared.backend.now());
    let unread = shared.world().unread(&key);
    let found = shared.world().look(&key, |known| {
        let told = known.definition().is_some() || unread.is_empty();
        told.then(|| PipelineView::new(known, &caller.actor, &unread, now))
    });
    found.flatten().map(Json).ok_or_else(|| find::missing(&shared, &key))
}

/// Show the definition of a pipeline, in YAML: its fields as people wrote them, without comments.
#[utoipa::path(get, path = "/pipelines/{namespace}/{name}/manifest", tag = "pipelines",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, content_type = "application/yaml", body = String), Failed))]
pub(super) async fn manifest(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
) -> Result<Response, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let key = PipelineKey { namespace, name };
    let found = shared.backend.manifest(&key).await?;
    let text = found.ok_or_else(|| Problem::not_found(format!("there is no definition of a pipeline `{key}`")))?;
    Ok(([(CONTENT_TYPE, "application/yaml")], text).into_response())
}

/// Suspend a pipeline: nothing is written to Git for it.
#[utoipa::path(post, path = "/pipelines/{namespace}/{name}/suspend", tag = "pipelines",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Option<Why>,
    responses((status = 204, description = "It is suspended"), Failed))]
pub(super) async fn suspend(
    State(shared): State<Shared>,
    caller: Caller,
    Path(path): Path<(Namespace, Name)>,
    Input(body): Input<Why>,
) -> Result<StatusCode, Problem> {
    set(&shared, &caller, path, body, true).await
}

/// Let a pipeline go on.
#[utoipa::path(post, path = "/pipelines/{namespace}/{name}/resume", tag = "pipelines",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Option<Why>,
    responses((status = 204, description = "It goes on, unless its definition suspends it"), Failed))]
pub(super) async fn resume(
    State(shared): State<Shared>,
    caller: Caller,
    Path(path): Path<(Namespace, Name)>,
    Input(body): Input<Why>,
) -> Result<StatusCode, Problem> {
    set(&shared, &caller, path, body, false).await
}

async fn set(
    shared: &Shared,
    caller: &Caller,
    (namespace, name): (Namespace, Name),
    body: Why,
    suspended: bool,
) -> Result<StatusCode, Problem> {
    let key = PipelineKey { namespace, name };
    caller.must(shared, Verb::Pause, &key).await?;
    shared.backend.suspend(&caller.asks(body.why), &key, suspended).await?;
    Ok(StatusCode::NO_CONTENT)
}
