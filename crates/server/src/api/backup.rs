//! A copy of everything that is kept, on the server's machine.

use std::path::PathBuf;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;
use weir_ports::{Deed, Scope, Verb};

use crate::{caller::Caller, extract::Input, problem::Problem, router::Failed, state::Shared};

/// Where the copy shall be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupWanted {
    /// A file on the server's machine, by its full path.
    #[schema(value_type = String)]
    file: PathBuf,
}

/// Write a copy of everything that is kept to a file on the server's machine. Only where the listener is open to that
/// machine alone.
#[utoipa::path(post, path = "/backup", tag = "status", request_body = BackupWanted,
    responses((status = 204, description = "The copy is written"), Failed))]
pub(super) async fn backup(
    State(shared): State<Shared>,
    caller: Caller,
    Input(body): Input<BackupWanted>,
) -> Result<StatusCode, Problem> {
    caller.must(&shared, Verb::Pause, Scope::All).await?;
    if !shared.is_open() {
        let detail = "the file would be written on the server's machine; ask there, on its loopback address";
        return Err(Problem::forbidden(detail));
    }
    let backup = shared.settings.backup.clone();
    let backup = backup.ok_or_else(|| Problem::not_found("there is nothing here that could be copied"))?;
    if !body.file.is_absolute() {
        return Err(Problem::unprocessable("give `file` as a full path"));
    }
    let deed = Deed {
        at: shared.backend.now(),
        by: caller.actor.clone(),
        verb: "backup".to_owned(),
        object: format!("file/{}", body.file.display()),
        namespace: None,
        pipeline: None,
        detail: None,
        why: None,
    };
    // On a full disk nothing can be written down, and a copy on another one is what is needed.
    if let Err(error) = shared.backend.note(&deed).await {
        tracing::warn!(by = deed.by.name, object = deed.object, %error, "a backup is made that cannot be noted");
    }
    backup(body.file).await.map_err(Problem::conflict)?;
    Ok(StatusCode::NO_CONTENT)
}
