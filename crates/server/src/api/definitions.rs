//! Whether a definition is valid, and where definitions are kept.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use weir_api::ManifestError;
use weir_engine::Definitions;

use crate::{caller::Caller, extract::Input, problem::Problem, router::Failed, state::Shared, view::forge};

/// How findings name the text that they are about.
pub(super) const FILE: &str = "manifest";

/// A text to be checked.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    /// Manifests, in YAML.
    manifest: String,
}

/// What is wrong with a text. Nothing, if there are no findings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Findings {
    /// In the order of their places.
    findings: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Finding {
    /// The line, counted from one.
    line: usize,
    /// The column, counted from one.
    column: usize,
    /// The field, such as `spec.environments[1].name`. Empty: the whole document.
    path: String,
    /// What was found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    /// What is allowed, or what to do.
    message: String,
}

/// Where the definitions that people propose go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DefinitionsView {
    /// The repository, without credentials.
    repository: String,
    /// The branch that definitions are taken from.
    base: String,
    /// What kind of forge reviews are on; `git`: they are kept in Weir.
    forge: &'static str,
    /// The file of a pipeline: `NAMESPACE` and `NAME` stand for those of the pipeline.
    file: String,
    /// The branch of a draft, likewise.
    branch: String,
}

impl From<ManifestError> for Finding {
    fn from(error: ManifestError) -> Self {
        let ManifestError { line, column, path, found, message, .. } = error;
        Self { line, column, path, found, message }
    }
}

impl From<&Definitions> for DefinitionsView {
    fn from(it: &Definitions) -> Self {
        Self {
            repository: it.repository.url.to_string(),
            base: it.repository.base.to_string(),
            forge: it.forge.map_or("git", forge),
            file: it.file_of("NAMESPACE", "NAME"),
            branch: Definitions::branch_of("NAMESPACE", "NAME"),
        }
    }
}

/// Check manifests as `weir lint` does. Nothing is kept.
#[utoipa::path(post, path = "/lint", tag = "drafts", request_body = Text,
    responses((status = 200, body = Findings), Failed))]
pub(super) async fn lint(_: Caller, Input(text): Input<Text>) -> Result<Json<Findings>, Problem> {
    let found = checked(move || weir_api::lint(FILE, &text.manifest)).await?;
    Ok(Json(Findings { findings: found.into_iter().map(Finding::from).collect() }))
}

/// Tell where the definitions that people propose go. `null`: nowhere.
#[utoipa::path(get, path = "/definitions", tag = "drafts",
    responses((status = 200, body = Option<DefinitionsView>), Failed))]
pub(super) async fn definitions(State(shared): State<Shared>, _: Caller) -> Json<Option<DefinitionsView>> {
    Json(shared.settings.definitions.as_ref().map(DefinitionsView::from))
}

/// Checks a text where it holds nobody up: a long one takes its time.
pub(super) async fn checked<T: Send + 'static>(check: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(check).await;
    done.map_err(|_| Problem::unavailable("lint", "the text could not be checked; try again"))
}
