//! How the promotion that has its turn stands: everything that holds it, and the next step to take.

use jiff::Timestamp;

use crate::{
    candidate::Pair,
    gate::{Actor, Gate},
    gates::{Entry, Soaked},
    hold::Reason,
    ledger::Line,
    policy::{Merge, Policy, Strategy},
    promotion::{Approval, Checks, Declared, Intent, Phase, ProblemWith, Promotion, ProposalState, Review},
    release::Release,
    snapshot::{EnvironmentRecord, Snapshot},
    support::Support,
};

/// How the live promotion stands, if it goes on.
pub(crate) struct Assessment {
    pub(crate) phase: Phase,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) intent: Option<Intent>,
    pub(crate) soaked: Option<Timestamp>,
}

/// Whether a release has to soak before it enters.
pub(crate) fn soaks(pair: &Pair<'_, '_>) -> bool {
    pair.into.definition.gates.iter().any(|gate| matches!(gate, Gate::Soak(_)))
}

/// A release, as it asks the gates.
pub(crate) fn entry<'p>(
    pair: &Pair<'p, 'p>,
    release: &'p Release,
    requested_by: Option<&'p Actor>,
    approvals: &'p [Approval],
    soaked: Soaked,
) -> Entry<'p> {
    Entry {
        pipeline: pair.pipeline,
        snapshot: pair.snapshot,
        into: pair.into.definition,
        from: pair.from.name(),
        release,
        requested_by,
        asked: None,
        approvals,
        soaked,
    }
}

/// The promotion, as it asks the gates.
pub(crate) fn ask<'p>(pair: &Pair<'p, 'p>, promotion: &'p Promotion) -> Entry<'p> {
    let (soaked, _) = stand_behind(promotion, pair, &mut Vec::new());
    of_promotion(pair, promotion, soaked)
}

/// What somebody asked for was asked for when it was first seen.
fn of_promotion<'p>(pair: &Pair<'p, 'p>, promotion: &'p Promotion, soaked: Soaked) -> Entry<'p> {
    let asked = promotion.history.first().map_or(pair.moment.now, |turn| turn.at);
    let entry = entry(pair, &promotion.release, promotion.requested_by.as_ref(), &promotion.approvals, soaked);
    Entry { asked: promotion.requested_by.as_ref().map(|_| asked), ..entry }
}

/// How the promotion that has its turn stands, and what is the next step to take.
pub(crate) fn assess(line: &Line<'_>, pair: &Pair<'_, '_>, policy: &Policy) -> Assessment {
    let promotion = &*line.promotion;
    let mut reasons = Vec::new();
    let (soaked, memory) = stand_behind(promotion, pair, &mut reasons);
    let gates = of_promotion(pair, promotion, soaked).holds(pair.moment);
    let ready = |soak: &Reason| matches!(soak, Reason::Soaking { .. });
    let memory = match soaked {
        Soaked::Since(_) if soaks(pair) && !gates.iter().any(ready) => memory.or(Some(pair.moment.now)),
        Soaked::Since(_) => None,
        Soaked::Enough | Soaked::Unhealthy => memory,
    };
    reasons.extend(gates);
    let closed = !reasons.is_empty();
    let facts = &promotion.leg.facts;
    reasons.extend(facts.problem.as_ref().map(|problem| match problem.with {
        ProblemWith::Repository => {
            Reason::RepositoryUnavailable { message: problem.message.clone(), retry: problem.retry }
        }
        ProblemWith::Forge => Reason::ForgeUnavailable { message: problem.message.clone(), retry: problem.retry },
        ProblemWith::RateLimit => Reason::RateLimited { retry: problem.retry },
    }));
    let (phase, step) = match &policy.strategy {
        Strategy::Notification => (Phase::Pending, Some(Intent::Notify)),
        Strategy::Push(_) => (Phase::Pending, locate(promotion, &mut reasons).or(Some(Intent::Push))),
        Strategy::PullRequest(_) => {
            let locate = locate(promotion, &mut reasons);
            let (phase, step) = propose(promotion, pair.snapshot, policy, &mut reasons);
            (phase, locate.or(step))
        }
    };
    let intent = step.filter(|step| !closed || *step == Intent::Locate);
    Assessment { phase, reasons, intent, soaked: memory }
}

/// Whether the environment before still stands behind the release, and how long it has soaked there.
fn stand_behind(promotion: &Promotion, pair: &Pair<'_, '_>, reasons: &mut Vec<Reason>) -> (Soaked, Option<Timestamp>) {
    let release = &promotion.release;
    let support = pair.support(release);
    if let Support::Healthy { since } = support {
        return (Soaked::Since(since), promotion.soaked);
    }
    let requested = promotion.requested_by.is_some();
    match support {
        Support::Unhealthy(reason) => {
            reasons.push(reason);
            (Soaked::Unhealthy, None)
        }
        Support::Lacking(reason) => {
            reasons.push(reason);
            (Soaked::Unhealthy, promotion.soaked)
        }
        Support::Absent if !requested => {
            reasons.push(pair.missing(release));
            (Soaked::Unhealthy, None)
        }
        Support::Healthy { .. } | Support::Replaced | Support::Absent | Support::GoneBack(_) => {
            let seen = |record: &EnvironmentRecord| record.first_success(release).is_some();
            if requested && !seen(&pair.from.record) && !seen(&pair.into.record) {
                reasons.push(pair.missing(release));
            }
            (Soaked::Enough, promotion.soaked)
        }
    }
}

/// Whether the places to edit have to be looked for, and what is wrong with them.
fn locate(promotion: &Promotion, reasons: &mut Vec<Reason>) -> Option<Intent> {
    let facts = &promotion.leg.facts;
    let Some(base) = &facts.base else { return Some(Intent::Locate) };
    match &base.declares {
        Declared::Releases(_) => {}
        Declared::Nothing { looked_for } => reasons.push(Reason::NothingToEdit { looked_for: looked_for.clone() }),
        Declared::Ambiguous { place } => reasons.push(Reason::AmbiguousMarker { place: place.clone() }),
    }
    let merged_since = facts
        .proposal
        .as_ref()
        .is_some_and(|proposal| matches!(proposal.state, ProposalState::Merged { at, .. } if at > base.seen));
    (merged_since || !matches!(base.declares, Declared::Releases(_))).then_some(Intent::Locate)
}

/// The next step of a proposal, and what it waits for.
fn propose(
    promotion: &Promotion,
    snapshot: &Snapshot,
    policy: &Policy,
    reasons: &mut Vec<Reason>,
) -> (Phase, Option<Intent>) {
    let proposal = promotion.leg.facts.proposal.as_ref().filter(|proposal| proposal.state == ProposalState::Open);
    let Some(proposal) = proposal else { return (Phase::Pending, Some(Intent::Propose)) };
    // On a forge a number says little; Weir's own proposals are called by their names.
    let url = proposal.url.as_ref().filter(|_| policy.strategy.forge().is_some());
    let id = || url.unwrap_or(&proposal.id).clone();
    let theirs = proposal.changed_by.is_some();
    if !theirs && proposal.release.as_ref() != Some(&promotion.release) {
        return (Phase::Pending, Some(Intent::Propose));
    }
    let held = reasons.len();
    if let Some(by) = &proposal.changed_by {
        let release = proposal.release.as_ref().or_else(|| written(promotion, snapshot)).cloned();
        reasons.push(Reason::BranchChangedByHand { by: by.clone(), proposal: id(), release });
    }
    if proposal.conflict {
        reasons.push(Reason::Conflict { proposal: id() });
    }
    match &proposal.checks {
        Checks::Passing => {}
        Checks::Pending(checks) => reasons.push(Reason::ChecksPending { proposal: id(), checks: checks.clone() }),
        Checks::Failing(checks) => reasons.push(Reason::ChecksFailing { proposal: id(), checks: checks.clone() }),
    }
    let reviewed = matches!(proposal.review, Review::NotRequired | Review::Approved);
    let wanted = policy.merge == Merge::Auto || proposal.merge_asked_by.is_some();
    if !wanted || !reviewed {
        reasons.push(Reason::AwaitingReview { proposal: id() });
    }
    let step = match (proposal.conflict, reasons.len() == held) {
        (true, _) => Some(Intent::Propose).filter(|_| !theirs),
        (false, true) => Some(Intent::Merge(proposal.head.clone())),
        (false, false) => None,
    };
    (Phase::Proposed, step)
}

/// The release that Weir wrote to the branch last. A promotion takes over the branch of the one before, so it is that
/// of the first one that knows the branch as it is.
fn written<'a>(promotion: &Promotion, snapshot: &'a Snapshot) -> Option<&'a Release> {
    let branch = promotion.leg.facts.branch.as_ref()?;
    let (pipeline, environment) = (&promotion.key.pipeline, &promotion.key.environment);
    let ours = |it: &&Promotion| it.key.pipeline == *pipeline && it.key.environment == *environment;
    let same = snapshot.promotions.iter().filter(ours).filter(|it| it.leg.facts.branch.as_ref() == Some(branch));
    same.min_by_key(|it| it.key.ordinal).map(|it| &it.release)
}
