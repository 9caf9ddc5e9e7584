//! Whose turn it is: at most one promotion into an environment is on its way, and what becomes of it.

use std::{borrow::Cow, sync::Arc};

use crate::{
    candidate::{Candidate, Offer, Pair},
    delivered::{Refused, deploying, since},
    gates::Soaked,
    hold::{Hold, Reason, Remedy},
    ledger::{Ledger, Line},
    order::Order,
    policy::{Concurrency, Merge, Policy},
    promotion::{Intent, Phase, Promotion, Proposal, ProposalState},
    release::Release,
    step::{Assessment, assess, entry, soaks},
    support::Support,
    turnover::Turnover,
};

/// What came of looking at the candidate.
pub(crate) enum Advance {
    /// A promotion was created: look again.
    Created,
    /// This is how it stands: the candidate that has no promotion, and why it has none.
    Settled { candidate: Option<Release>, holds: Vec<Reason> },
}

/// Ends what is over: delivered, rejected, withdrawn, or overtaken by a higher ordinal.
pub(crate) fn settle(ledger: &mut Ledger<'_>, pair: &Pair<'_, '_>, policy: &Policy, refusals: &mut Vec<Refused>) {
    let now = pair.moment.now;
    let Some(highest) = ledger.lines.len().checked_sub(1) else { return };
    for line in &mut ledger.lines {
        if line.promotion.phase.is_live() && line.promotion.from != *pair.from.name() {
            let note = format!("{} no longer comes after {}", pair.into.name(), line.promotion.from);
            line.end(Phase::Withdrawn, now, note);
        }
    }
    for line in ledger.lines.iter_mut().filter(|line| line.promotion.phase.is_live()) {
        settle_live(line, pair, policy, refusals);
    }
    let (lower, top) = ledger.lines.split_at_mut(highest);
    let Some(top) = top.first() else { return };
    for line in lower {
        let overtaken = line.promotion.phase == Phase::Superseded
            && top.promotion.phase.is_live()
            && top.promotion.skips.contains(&line.promotion.release);
        if line.promotion.phase.is_live() {
            line.end(Phase::Superseded, now, taken_over(&top.promotion));
        } else if overtaken && is_declared(pair, &line.promotion.release) {
            line.end(Phase::Delivered, now, "it was merged before it could be replaced");
        }
    }
}

fn taken_over(by: &Promotion) -> String {
    match &by.requested_by {
        Some(actor) => format!("{} asked for {}", actor.name, by.release),
        None => format!("{} took its place", by.release),
    }
}

/// Git decides: what was rejected or withdrawn while it was being merged is there. Returns what was let in like that.
pub(crate) fn let_in(ledger: &mut Ledger<'_>, pair: &Pair<'_, '_>) -> Option<Release> {
    let line = ledger.lines.last_mut()?;
    let proposal = line.promotion.leg.facts.proposal.as_ref();
    let merged = matches!(line.promotion.phase, Phase::Rejected | Phase::Withdrawn)
        && proposal.is_some_and(|proposal| matches!(proposal.state, ProposalState::Merged { .. }))
        && is_declared(pair, &line.promotion.release);
    merged.then(|| {
        deliver(line, pair);
        line.promotion.release.clone()
    })
}

fn is_declared(pair: &Pair<'_, '_>, release: &Release) -> bool {
    !pair.declared.is_empty() && pair.declared.iter().all(|declared| declared.covers(release))
}

fn settle_live(line: &mut Line<'_>, pair: &Pair<'_, '_>, policy: &Policy, refusals: &mut Vec<Refused>) {
    let now = pair.moment.now;
    let release = line.promotion.release.clone();
    let requested = line.promotion.requested_by.is_some();
    if is_delivered(line, pair, policy) {
        deliver(line, pair);
        return;
    }
    if let Some((phase, note, refused)) =
        line.promotion.leg.facts.proposal.as_ref().and_then(|p| reviewed(p, line, pair))
    {
        if let Some(refused) = refused {
            refusals.push(Refused { release: refused, why: note.clone() });
        }
        if let Some(phase) = phase {
            line.end(phase, now, note);
            return;
        }
    }
    if let Some(rejection) = &line.promotion.rejection {
        let why = rejection.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let note: Arc<str> = format!("{} rejected it{why}", rejection.by.name).into();
        refusals.push(Refused { release, why: note.clone() });
        line.end(Phase::Rejected, now, note);
        return;
    }
    if requested {
        return;
    }
    if let Some(refusal) = pair.into.record.refusal(&release) {
        line.end(Phase::Withdrawn, now, refusal.why.clone());
        return;
    }
    if let Some(there) = pair.newer_there(&release) {
        line.end(Phase::Withdrawn, now, format!("{} has {there}, which is newer", pair.into.name()));
        return;
    }
    match pair.support(&release) {
        Support::GoneBack(to) => {
            line.end(Phase::Withdrawn, now, format!("{} went back to {to}", pair.from.name()));
        }
        Support::Replaced if line.promotion.soaked.is_none() && soaks(pair) => {
            line.end(Phase::Superseded, now, format!("{} moved on before it had soaked", pair.from.name()));
        }
        _ => {}
    }
}

/// Git decides: the base branch declares it. Without a repository, the other side accepted it.
fn is_delivered(line: &Line<'_>, pair: &Pair<'_, '_>, policy: &Policy) -> bool {
    let promotion = &line.promotion;
    if policy.strategy.repository().is_some() {
        return is_declared(pair, &promotion.release);
    }
    promotion.leg.facts.accepted.is_some() || pair.into.runs(&promotion.release)
}

fn deliver(line: &mut Line<'_>, pair: &Pair<'_, '_>) {
    let now = pair.moment.now;
    let release = line.promotion.release.clone();
    let merged_by = line.promotion.leg.facts.proposal.as_ref().and_then(|proposal| match &proposal.state {
        ProposalState::Merged { by, .. } => by.clone(),
        _ => None,
    });
    let note: Arc<str> = match (&merged_by, line.has_open_proposal()) {
        (Some(by), _) => format!("merged by {by}").into(),
        (None, true) => format!("the base branch declares {release} already").into(),
        (None, false) => format!("{release} was delivered").into(),
    };
    if merged_by.is_some() {
        let against = |hold: &&Hold| !matches!(hold.reason, Reason::AwaitingReview { .. });
        let overridden: Vec<_> = line.promotion.holds.iter().filter(against).cloned().collect();
        if !overridden.is_empty() {
            line.promotion.to_mut().overridden = overridden;
        }
    }
    line.end(Phase::Delivered, now, note);
}

/// What a proposal that is no longer open means: the phase it ends with, why, and what is refused.
type Reviewed = (Option<Phase>, Arc<str>, Option<Release>);

fn reviewed(proposal: &Proposal, line: &Line<'_>, pair: &Pair<'_, '_>) -> Option<Reviewed> {
    let release = &line.promotion.release;
    let other = proposal.release.as_ref().filter(|other| *other != release);
    match &proposal.state {
        ProposalState::Open => None,
        ProposalState::Closed { by } => {
            let by = by.as_deref().unwrap_or("somebody");
            let note: Arc<str> = format!("{by} closed proposal {}", proposal.id).into();
            match other {
                // It was closed while it still held the release before this one.
                Some(other) => Some((None, note, Some(other.clone()))),
                None => Some((Some(Phase::Rejected), note, Some(release.clone()))),
            }
        }
        ProposalState::Merged { at, .. } => {
            if other.is_some_and(|other| line.promotion.skips.contains(other)) {
                return None;
            }
            let seen = line.promotion.leg.facts.base.as_ref().is_some_and(|base| base.seen >= *at);
            let instead = pair.declared.first().filter(|_| seen)?;
            let newer = Order::between(instead, release, &pair.from.record).is_newer(instead, release);
            let note: Arc<str> = format!("{} was merged, and the base branch declares {instead}", proposal.id).into();
            Some(match (newer, other) {
                (true, _) => (Some(Phase::Superseded), note, None),
                (false, None) if proposal.release.is_some() => (Some(Phase::RolledBack), note, Some(release.clone())),
                (false, _) => (Some(Phase::Rejected), note, Some(release.clone())),
            })
        }
    }
}

/// Gives the candidate its turn, or says why it has none; and says how the promotion that has it stands.
pub(crate) fn advance(ledger: &mut Ledger<'_>, pair: &Pair<'_, '_>, policy: Option<&Policy>) -> Advance {
    let candidate = pair.candidate(ledger);
    let Some(live) = ledger.live() else { return begin(ledger, pair, policy, candidate) };
    let Some(policy) = policy else { return Advance::Settled { candidate: None, holds: Vec::new() } };
    let assessment = assess(live, pair, policy);
    let (mut next, mut holds) = (None, Vec::new());
    if let Candidate::Go(offer) = candidate {
        holds = succession(live, &assessment, offer, pair, policy);
        if holds.is_empty() {
            let release = offer.release.clone();
            replace(ledger, pair, release);
            return Advance::Created;
        }
        next = Some(offer.release.clone());
    }
    if let Some(line) = ledger.lines.last_mut() {
        let now = pair.moment.now;
        line.turn(assessment.phase, now, None);
        line.hold(since(assessment.reasons, &line.promotion.holds, pair.moment));
        line.intend(assessment.intent);
        if line.promotion.soaked != assessment.soaked {
            line.promotion.to_mut().soaked = assessment.soaked;
        }
    }
    Advance::Settled { candidate: next, holds }
}

fn begin(ledger: &mut Ledger<'_>, pair: &Pair<'_, '_>, policy: Option<&Policy>, candidate: Candidate<'_>) -> Advance {
    let (release, mut holds) = match candidate {
        Candidate::Go(offer) if policy.is_some() => {
            let Some(first) = undeployed_request(ledger) else {
                create(ledger, pair, offer.release.clone(), Vec::new());
                return Advance::Created;
            };
            (Some(offer.release.clone()), vec![behind(offer.release, first, true)])
        }
        Candidate::Go(offer) => (Some(offer.release.clone()), vec![no_strategy(offer.release)]),
        Candidate::Held { release: Some(release), holds } if policy.is_none() && holds.iter().any(is_for_people) => {
            let holds = vec![no_strategy(&release)];
            (Some(release), holds)
        }
        Candidate::Held { release: Some(release), holds } if holds.iter().any(is_for_people) => {
            let mut all = Vec::new();
            entry(pair, &release, None, &[], Soaked::Unhealthy).stops(pair.moment, &mut all);
            all.extend(holds.into_iter().filter(|hold| !matches!(hold, Reason::Frozen { .. })));
            (Some(release), all)
        }
        Candidate::Held { release, holds } => (release, holds),
        Candidate::Nothing => (None, Vec::new()),
    };
    // A target that came after everything had succeeded.
    if let Some(delivered) = pair.arriving(ledger).filter(|delivered| delivered.phase == Phase::Succeeded)
        && !pair.into.runs(&delivered.release)
        && pair.offers().iter().any(|offer| *offer.release == delivered.release)
    {
        holds.extend(deploying(pair.into, &delivered.release, None, false));
    }
    Advance::Settled { candidate: release, holds }
}

/// What a person asked for and Git declares, but does not run yet. Automation waits until it does, or has failed.
fn undeployed_request<'l>(ledger: &'l Ledger<'_>) -> Option<&'l Release> {
    let asked = |delivered: &&Promotion| delivered.requested_by.is_some() && delivered.phase == Phase::Delivered;
    ledger.delivered().filter(asked).map(|delivered| &delivered.release)
}

fn behind(release: &Release, first: &Release, requested: bool) -> Reason {
    Reason::Behind { release: release.clone(), first: first.clone(), requested }
}

fn no_strategy(release: &Release) -> Reason {
    Reason::NoStrategy { release: release.clone() }
}

/// Whether a person could do something about it by asking; which takes a strategy.
fn is_for_people(reason: &Reason) -> bool {
    matches!(reason.remedy(), Remedy::Ask { .. } | Remedy::Unfreeze { .. })
}

/// What keeps a newer release from taking the place of the one that has its turn.
fn succession(
    live: &Line<'_>,
    assessment: &Assessment,
    offer: Offer<'_>,
    pair: &Pair<'_, '_>,
    policy: &Policy,
) -> Vec<Reason> {
    let promotion = &live.promotion;
    let requested = promotion.requested_by.is_some();
    let entry = entry(pair, offer.release, None, &promotion.approvals, Soaked::Since(offer.since));
    let mut holds = entry.holds(pair.moment);
    let own =
        self::entry(pair, &promotion.release, promotion.requested_by.as_ref(), &promotion.approvals, Soaked::Enough);
    let stuck = assessment.reasons.iter().any(is_stuck);
    let finishing = own.is_approved(pair.moment) || is_merging(assessment, policy);
    let first = requested || (policy.concurrency == Concurrency::Finish && finishing && !stuck);
    if first {
        holds.push(behind(offer.release, &promotion.release, requested));
    }
    holds
}

/// A promotion that cannot finish by itself does not keep others waiting.
fn is_stuck(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::ChecksFailing { .. }
            | Reason::BranchChangedByHand { .. }
            | Reason::NothingToEdit { .. }
            | Reason::AmbiguousMarker { .. }
            | Reason::NotHealthyYet { .. }
            | Reason::Frozen { .. }
    )
}

fn is_merging(assessment: &Assessment, policy: &Policy) -> bool {
    matches!(assessment.intent, Some(Intent::Merge(_) | Intent::Push | Intent::Notify))
        || (policy.merge == Merge::Auto && assessment.phase == Phase::Proposed)
}

/// The newer release takes over the turn, the proposal, and the approvals that were given for it.
fn replace(ledger: &mut Ledger<'_>, pair: &Pair<'_, '_>, release: Release) {
    let Some(line) = ledger.lines.last_mut() else { return };
    line.end(Phase::Superseded, pair.moment.now, format!("{release} took its place"));
    let old = &line.promotion;
    let mut skips: Vec<Release> = old.skips.iter().filter(|skipped| **skipped != release).cloned().collect();
    if !skips.contains(&old.release) {
        skips.push(old.release.clone());
    }
    create(ledger, pair, release, skips);
}

fn create(ledger: &mut Ledger<'_>, pair: &Pair<'_, '_>, release: Release, skips: Vec<Release>) {
    let before = ledger.lines.last().map(|line| &*line.promotion);
    let turn = Turnover { before, last_ordinal: pair.into.record.last_ordinal };
    let mut promotion = turn.next(&pair.pipeline.key, pair.into.name(), pair.from.name().clone(), release);
    promotion.skips = skips;
    promotion.leg.facts.base = ledger.base.cloned();
    ledger.lines.push(Line { promotion: Cow::Owned(promotion), new: true });
}
