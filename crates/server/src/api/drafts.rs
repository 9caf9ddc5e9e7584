//! Definitions that people propose. They are kept in Git, and asked for there.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weir_core::{CommitId, Name, Namespace, PipelineKey};
use weir_engine::Definitions;
use weir_ports::Verb;

use super::definitions::{FILE, checked};
use crate::{
    caller::Caller,
    extract::{Input, Path},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::{DraftSummary, DraftView},
};

/// A definition to be proposed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Defined {
    /// One Pipeline, in YAML, and nothing else.
    manifest: String,
    /// Why.
    why: Option<String>,
}

/// What is decided about.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    /// The commit that was looked at.
    #[schema(value_type = String)]
    head: CommitId,
    /// Why.
    why: Option<String>,
}

/// The drafts that wait.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftList {
    /// By namespace and name.
    items: Vec<DraftSummary>,
}

/// A draft that was merged.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MergedDraft {
    /// The commit of the base branch that has it.
    commit: String,
}

/// List the drafts that wait, by namespace and name: those that the caller may look at.
#[utoipa::path(get, path = "/drafts", tag = "drafts", responses((status = 200, body = DraftList), Failed))]
pub(super) async fn list(State(shared): State<Shared>, caller: Caller) -> Result<Json<DraftList>, Problem> {
    let Some(definitions) = &shared.settings.definitions else { return Ok(Json(DraftList { items: Vec::new() })) };
    let mut drafts = shared.backend.drafts(definitions).await?;
    let homes = drafts.iter().map(|draft| draft.key.namespace.clone()).collect();
    let visible = caller.sees(&shared, homes).await?;
    drafts.retain(|draft| visible.sees(&draft.key.namespace));
    Ok(Json(DraftList { items: drafts.into_iter().map(DraftSummary::from).collect() }))
}

/// Propose the definition of a pipeline that is not there yet, as a pull request or as a proposal that is kept in Weir.
/// Proposing it again changes what is proposed.
#[utoipa::path(post, path = "/drafts", tag = "drafts", request_body = Defined,
    responses((status = 201, body = DraftView), Failed))]
pub(super) async fn propose(
    State(shared): State<Shared>,
    caller: Caller,
    Input(body): Input<Defined>,
) -> Result<(StatusCode, Json<DraftView>), Problem> {
    let text = body.manifest;
    let (read, text) = checked(move || (weir_api::definition(FILE, &text), text)).await?;
    let pipeline = read.map_err(|found| {
        let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
        Problem::unprocessable(format!("it is not proposed: {}", lines.join("; ")))
    })?;
    caller.must(&shared, Verb::Define, &pipeline.key.namespace).await?;
    let definitions = kept(&shared)?;
    let whole = shared.backend.propose(definitions, &caller.asks(body.why), &pipeline, &text).await?;
    Ok((StatusCode::CREATED, Json(DraftView::new(whole, definitions))))
}

/// Show all of a draft.
#[utoipa::path(get, path = "/drafts/{namespace}/{name}", tag = "drafts",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = DraftView), Failed))]
pub(super) async fn show(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
) -> Result<Json<DraftView>, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let definitions = kept(&shared)?;
    let whole = shared.backend.draft(definitions, &PipelineKey { namespace, name }).await?;
    Ok(Json(DraftView::new(whole, definitions)))
}

/// Merge a draft at the head that one looked at. On a forge that is done there.
#[utoipa::path(post, path = "/drafts/{namespace}/{name}/merge", tag = "drafts",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Seen,
    responses((status = 200, body = MergedDraft), Failed))]
pub(super) async fn merge(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
    Input(body): Input<Seen>,
) -> Result<Json<MergedDraft>, Problem> {
    let (key, asked) = (PipelineKey { namespace, name }, caller.asks(body.why));
    caller.must(&shared, Verb::Promote, &key).await?;
    let commit = shared.backend.merge_draft(kept(&shared)?, &asked, &key, &body.head).await?;
    Ok(Json(MergedDraft { commit: commit.to_string() }))
}

/// Close a draft at the head that one looked at: it is not wanted. On a forge that is done there.
#[utoipa::path(post, path = "/drafts/{namespace}/{name}/close", tag = "drafts",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Seen,
    responses((status = 204, description = "It is closed"), Failed))]
pub(super) async fn close(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
    Input(body): Input<Seen>,
) -> Result<StatusCode, Problem> {
    let (key, asked) = (PipelineKey { namespace, name }, caller.asks(body.why));
    caller.must(&shared, Verb::Promote, &key).await?;
    shared.backend.close_draft(kept(&shared)?, &asked, &key, &body.head).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Where definitions are kept.
fn kept(shared: &Shared) -> Result<&Definitions, Problem> {
    let words = "no repository is set for definitions: start the server with `--definitions URL`";
    shared.settings.definitions.as_ref().ok_or_else(|| Problem::conflict(words))
}
