//! What a proposal changes, line by line.

use axum::{
    Json,
    extract::State,
    http::{
        HeaderMap,
        header::{ACCEPT, CONTENT_TYPE},
    },
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use similar::TextDiff;
use utoipa::ToSchema;
use weir_core::{Name, Namespace};
use weir_engine::Difference;
use weir_ports::Verb;

use super::find;
use crate::{caller::Caller, extract::Path, problem::Problem, router::Failed, state::Shared};

/// What a proposal changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Diff {
    /// The commit that is proposed.
    head: String,
    /// The commit that it builds on.
    parent: String,
    /// The files that it changes.
    files: Vec<FileDiff>,
}

/// What a proposal changes in one file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileDiff {
    /// Where it is.
    path: String,
    /// The change in unified form.
    unified: String,
    /// What it was.
    before: String,
    /// What it becomes.
    after: String,
}

/// Show what a proposal changes: as JSON, or as a unified diff for `Accept: text/plain`.
#[utoipa::path(get, path = "/proposals/{namespace}/{name}/diff", tag = "proposals",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, content((Diff = "application/json"), (String = "text/plain"))), Failed))]
pub(super) async fn diff(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let proposal = find::proposal(&shared, &namespace, &name).await?;
    let files = shared.backend.difference(&proposal).await?;
    let files: Vec<_> = files.into_iter().filter(|file| file.before != file.after).map(FileDiff::from).collect();
    if wants_text(&headers) {
        let text: String = files.iter().map(|file| file.unified.as_str()).collect();
        return Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response());
    }
    let (head, parent) = (proposal.head.to_string(), proposal.parent.to_string());
    Ok(Json(Diff { head, parent, files }).into_response())
}

fn wants_text(headers: &HeaderMap) -> bool {
    let wanted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let first = wanted.split(',').find_map(|kind| match kind.split(';').next()?.trim() {
        "text/plain" | "text/*" => Some(true),
        "application/json" | "application/*" | "*/*" => Some(false),
        _ => None,
    });
    first.unwrap_or(false)
}

impl From<Difference> for FileDiff {
    fn from(file: Difference) -> Self {
        let name = |side: &str, text: &str| match text {
            "" => "/dev/null".to_owned(),
            _ => format!("{side}/{}", file.path),
        };
        let (before, after) = (name("a", &file.before), name("b", &file.after));
        let lines = TextDiff::from_lines(&file.before, &file.after);
        let unified = lines.unified_diff().context_radius(3).header(&before, &after).to_string();
        Self { path: file.path.to_string(), unified, before: file.before, after: file.after }
    }
}
