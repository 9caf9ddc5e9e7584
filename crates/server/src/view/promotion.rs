//! A promotion.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{Checks, ProblemWith, Promotion, ProposalState, promotion_name};

use super::{Actor, Hold, PipelineRef, Release, Step, all};

/// The record of moving one release into one environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromotionView {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
    /// The pipeline.
    pipeline: PipelineRef,
    /// The environment that is entered.
    environment: String,
    /// The turn. The highest is the one that counts.
    ordinal: u64,
    /// The environment that the release comes from.
    from: String,
    /// What is promoted.
    release: Release,
    /// Who asked for it. Missing: Weir's own decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_by: Option<Actor>,
    /// How far it is: `Pending`, `Proposed`, `Delivered`, `Succeeded`, `Failed`, `Rejected`, `Superseded`, `Withdrawn` or
    /// `RolledBack`.
    phase: String,
    /// Whether it is on its way, and not in Git yet.
    live: bool,
    /// Why it is not further.
    holds: Vec<Hold>,
    /// The releases whose place it took.
    skips: Vec<Release>,
    /// The holds that were in force when a person merged all the same.
    overridden: Vec<Hold>,
    /// The phases it went through.
    history: Vec<Turn>,
    /// What people agreed to.
    approvals: Vec<Approval>,
    /// Whoever does not want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection: Option<Rejection>,
    /// The step that is being taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
    /// Its proposal, as last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<SeenProposal>,
    /// What went wrong in the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Attempt>,
}

/// A phase that a promotion entered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Turn {
    /// The phase.
    phase: String,
    /// When.
    at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// One person's agreement.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Approval {
    /// Who.
    by: Actor,
    /// To what.
    release: Release,
    /// When.
    at: Timestamp,
}

/// One person's word that it shall not go on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rejection {
    /// Who.
    by: Actor,
    /// When.
    at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// A proposal, on a forge or in Weir, as last seen.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeenProposal {
    /// Its number on the forge, or its name in Weir.
    id: String,
    /// Where a person finds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// `open`, `merged` or `closed`.
    state: &'static str,
    /// The commit that is proposed.
    head: String,
    /// `passing`, `pending` or `failing`.
    checks: &'static str,
    /// `notRequired`, `required`, `approved` or `changesRequested`.
    review: &'static str,
    /// Whether it can no longer be merged as it is.
    conflict: bool,
}

/// What went wrong in the last attempt.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Attempt {
    /// `repository`, `forge` or `rateLimit`.
    with: &'static str,
    /// What was being done and what went wrong.
    message: String,
    /// When it is tried again.
    retry: Timestamp,
}

impl From<&Promotion> for PromotionView {
    fn from(it: &Promotion) -> Self {
        let facts = &it.leg.facts;
        Self {
            namespace: it.key.pipeline.namespace.to_string(),
            name: promotion_name(&it.key),
            pipeline: (&it.key.pipeline).into(),
            environment: it.key.environment.to_string(),
            ordinal: it.key.ordinal,
            from: it.from.to_string(),
            release: (&it.release).into(),
            requested_by: it.requested_by.as_ref().map(Actor::from),
            phase: it.phase.to_string(),
            live: it.phase.is_live(),
            holds: all(&it.holds),
            skips: all(&it.skips),
            overridden: all(&it.overridden),
            history: all(&it.history),
            approvals: all(&it.approvals),
            rejection: it.rejection.as_ref().map(Rejection::from),
            step: it.leg.intent.as_ref().map(Step::from),
            proposal: facts.proposal.as_ref().map(SeenProposal::from),
            problem: facts.problem.as_ref().map(Attempt::from),
        }
    }
}

impl From<&weir_core::Turn> for Turn {
    fn from(it: &weir_core::Turn) -> Self {
        Self { phase: it.phase.to_string(), at: it.at, note: it.note.as_deref().map(str::to_owned) }
    }
}

impl From<&weir_core::Approval> for Approval {
    fn from(it: &weir_core::Approval) -> Self {
        Self { by: (&it.by).into(), release: (&it.release).into(), at: it.at }
    }
}

impl From<&weir_core::Rejection> for Rejection {
    fn from(it: &weir_core::Rejection) -> Self {
        Self { by: (&it.by).into(), at: it.at, why: it.why.as_deref().map(str::to_owned) }
    }
}

impl From<&weir_core::Proposal> for SeenProposal {
    fn from(it: &weir_core::Proposal) -> Self {
        Self {
            id: it.id.to_string(),
            url: it.url.as_deref().map(str::to_owned),
            state: match it.state {
                ProposalState::Open => "open",
                ProposalState::Merged { .. } => "merged",
                ProposalState::Closed { .. } => "closed",
            },
            head: it.head.to_string(),
            checks: match it.checks {
                Checks::Passing => "passing",
                Checks::Pending(_) => "pending",
                Checks::Failing(_) => "failing",
            },
            review: super::proposal::review(it.review),
            conflict: it.conflict,
        }
    }
}

impl From<&weir_core::Problem> for Attempt {
    fn from(it: &weir_core::Problem) -> Self {
        let with = match it.with {
            ProblemWith::Repository => "repository",
            ProblemWith::Forge => "forge",
            ProblemWith::RateLimit => "rateLimit",
        };
        Self { with, message: it.message.to_string(), retry: it.retry }
    }
}
