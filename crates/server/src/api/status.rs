//! How Weir itself is.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::PlainState;

use crate::{caller::Caller, problem::Problem, router::Failed, settings::Authentication, state::Shared, view::Actor};

/// How Weir is, and who asks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    /// Weir's version.
    version: &'static str,
    /// Whether all definitions and records have been read.
    ready: bool,
    /// Who asks.
    actor: Actor,
    /// `open` or `tokens`.
    authentication: &'static str,
    /// What is wrong with the definitions that the caller may look at; and what is wrong with Weir itself, for whoever
    /// may look at all namespaces.
    problems: Vec<String>,
    /// Whether something may have been left out, because the caller may not look at all namespaces. Missing: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    /// How many there are of what the caller may look at.
    counts: Counts,
}

/// How many there are.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    /// Pipelines that are defined.
    pipelines: usize,
    /// Those of them that are suspended.
    suspended: usize,
    /// Promotions that are on their way.
    live_promotions: usize,
    /// Proposals that Weir keeps and that are open.
    open_proposals: usize,
}

/// Show how Weir is.
#[utoipa::path(get, path = "/status", tag = "status", responses((status = 200, body = Status), Failed))]
pub(super) async fn status(State(shared): State<Shared>, caller: Caller) -> Result<Json<Status>, Problem> {
    let visible = caller.looks(&shared, None).await?;
    let mut counts = Counts::default();
    shared.world().scan(None, |key, known| {
        if visible.sees(&key.namespace) {
            let defined = known.definition().is_some();
            counts.pipelines += usize::from(defined);
            counts.suspended += usize::from(defined && known.pipeline().suspended);
            counts.live_promotions += known.snapshot().promotions.iter().filter(|it| it.phase.is_live()).count();
            counts.open_proposals += known.proposals().filter(|it| it.state == PlainState::Open).count();
        }
        true
    });
    let flaws = shared.world().problems();
    let (mine, others): (Vec<_>, Vec<_>) = flaws.iter().partition(|flaw| visible.sees_all(&flaw.pipelines));
    let mut problems: Vec<_> = mine.into_iter().map(ToString::to_string).collect();
    if visible.sees_everything() {
        problems.extend(shared.backend.access_problem());
        problems.extend(shared.backend.ownership_problem());
        problems.extend(shared.trouble());
    }
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        ready: shared.world().is_ready(),
        actor: (&caller.actor).into(),
        authentication: match shared.settings.authentication {
            Authentication::Open { .. } => "open",
            Authentication::Tokens => "tokens",
        },
        problems,
        partial: visible.is_partial() || !others.is_empty(),
        counts,
    }))
}
