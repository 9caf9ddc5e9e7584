//! What follows from an event: the promotion into the next environment, for those who wait for it.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::LOCATION},
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use weir_api::flux::Reported;
use weir_core::{
    EnvironmentName, Phase, PipelineKey, Promotion, Proposal, ProposalState, Reason, Revision, WorkloadKey, plan,
    promotion_name,
};
use weir_engine::Known;

use super::{Answer, Kept, Taken, succeeded};
use crate::{
    prefer::Prefer,
    state::Shared,
    view::{Hold, Release, all},
};

/// What came of a promotion.
struct Came {
    status: StatusCode,
    location: Option<String>,
    release: Option<Release>,
    phase: Option<Phase>,
    holds: Vec<Hold>,
}

/// Answers an event that was taken in.
pub(super) async fn answer(shared: &Shared, taken: Taken) -> Response {
    let Taken::Stored { place, next, reported, key, kept, prefer } = taken else {
        let Taken::Ignored(why) = taken else { return StatusCode::ACCEPTED.into_response() };
        let answer = Answer { outcome: "ignored", message: why.to_string(), ..Answer::default() };
        return Json(answer).into_response();
    };
    let shown = next.as_ref().unwrap_or(&key.environment);
    let follow = {
        let PipelineKey { namespace, name } = &place.pipeline.key;
        format!("/api/v1/pipelines/{namespace}/{name}/environments/{shown}")
    };
    let mut answer = Answer {
        outcome: match kept {
            Kept::Stored => "stored",
            Kept::Known => "known",
            Kept::Outdated => "outdated",
        },
        message: reported.to_string(),
        environment: Some(key.environment.to_string()),
        target: key.target.as_ref().map(ToString::to_string),
        workload: Some(key.workload.to_string()),
        version: succeeded(&reported).map(ToString::to_string),
        next: next.as_ref().map(ToString::to_string),
        follow: Some(follow.clone()),
        ..Answer::default()
    };
    let came = wait(shared, &place.pipeline.key, next.as_ref(), &reported, prefer).await;
    let (status, location) = match came {
        Some(came) => {
            answer.release = came.release;
            answer.phase = came.phase.map(|phase| phase.to_string());
            answer.holds = came.holds;
            (came.status, came.location.unwrap_or(follow))
        }
        None => (StatusCode::ACCEPTED, follow),
    };
    let mut response =
        if status == StatusCode::NO_CONTENT { status.into_response() } else { (status, Json(answer)).into_response() };
    let mut put = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    };
    put(LOCATION, &location);
    if let Some(applied) = prefer.applied() {
        put(axum::http::HeaderName::from_static("preference-applied"), &applied);
    }
    response
}

/// Waits for the promotion of what succeeded into the next environment, if that is wished.
async fn wait(
    shared: &Shared,
    pipeline: &PipelineKey,
    next: Option<&EnvironmentName>,
    reported: &Reported,
    prefer: Prefer,
) -> Option<Came> {
    let Prefer::Wait(_) = prefer else { return None };
    let (next, revision) = (next?, succeeded(reported)?);
    let look = |known: &Known| look(known, next, &reported.workload, revision, shared.backend.now());
    shared.wait(pipeline, prefer.time(0), look).await
}

/// What has come of a revision so far. `None`: it is on its way, and nothing holds it.
fn look(
    known: &Known,
    next: &EnvironmentName,
    workload: &WorkloadKey,
    revision: &Revision,
    now: Timestamp,
) -> Option<Came> {
    let carries = |it: &&Promotion| it.key.environment == *next && it.release.revision(workload) == Some(revision);
    let promotion = known.snapshot().promotions.iter().filter(carries).max_by_key(|it| it.key.ordinal);
    let came = |status, location: Option<String>, holds| Came {
        status,
        location,
        release: promotion.map(|it| Release::from(&it.release)),
        phase: promotion.map(|it| it.phase),
        holds,
    };
    let plan = plan(known.pipeline(), known.snapshot(), now);
    let decided_on = promotion.and_then(|it| plan.promotion(&it.key, known.snapshot()));
    if let (Some(promotion), Some(decided_on)) = (promotion, &decided_on) {
        let phase = decided_on.phase;
        if matches!(phase, Phase::Delivered | Phase::Succeeded) {
            return Some(Came { phase: Some(phase), ..came(StatusCode::NO_CONTENT, None, Vec::new()) });
        }
        if !phase.is_live() {
            return Some(Came { phase: Some(phase), ..came(StatusCode::ACCEPTED, None, Vec::new()) });
        }
        // It may have taken over a proposal that still holds the release before it.
        let proposal = promotion.leg.facts.proposal.as_ref();
        let own = |it: &&Proposal| it.state == ProposalState::Open && it.release.as_ref() == Some(&promotion.release);
        if let Some(proposal) = proposal.filter(own) {
            let namespace = &promotion.key.pipeline.namespace;
            let here = || format!("/api/v1/proposals/{namespace}/{}", promotion_name(&promotion.key));
            let url = proposal.url.as_deref().map_or_else(here, str::to_owned);
            let came = came(StatusCode::CREATED, Some(url), all(&decided_on.holds));
            return Some(Came { phase: Some(phase), ..came });
        }
    }
    let decided = plan.environments.iter().find(|it| it.name == *next)?;
    // What holds the release before this one is none of its business.
    let own = match &decided_on {
        Some(planned) => all(&planned.holds),
        None => all(decided
            .holds
            .iter()
            .filter(|hold| !matches!(hold.reason, Reason::Deploying { .. } | Reason::DeployFailed { .. }))),
    };
    if !own.is_empty() {
        return Some(came(StatusCode::ACCEPTED, None, own));
    }
    // Nothing to promote: it runs there already, or is not what the environment would get.
    let idle = decided.step.is_none() && decided.candidate.is_none() && plan.writes.is_empty();
    idle.then(|| came(StatusCode::ACCEPTED, None, Vec::new()))
}
