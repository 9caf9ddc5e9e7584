//! What became of a promotion: delivered, seen running, failed, or taken back. Git decides, not our memory.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::{
    candidate::{Pair, unreachable},
    deployed::{Place, Standing},
    hold::{Hold, Reason},
    ledger::{Ledger, Line},
    moment::Moment,
    order::Order,
    pipeline::TargetKey,
    promotion::{Phase, Promotion},
    release::Release,
};

/// Something that shall not come to an environment again.
pub(crate) struct Refused {
    pub(crate) release: Release,
    pub(crate) why: Arc<str>,
}

/// Follows what was delivered until every target runs it.
pub(crate) fn follow(
    ledger: &mut Ledger<'_>,
    pair: &Pair<'_, '_>,
    timeout: Option<SignedDuration>,
    refusals: &mut Vec<Refused>,
) {
    let counts = |line: &Line<'_>| matches!(line.promotion.phase, Phase::Delivered | Phase::Succeeded | Phase::Failed);
    let Some(newest) = ledger.lines.iter().rposition(counts) else { return };
    let now = pair.moment.now;
    let asked = ledger.live().filter(|live| live.promotion.requested_by.is_some());
    let wanted = asked.map(|live| live.promotion.release.clone());
    let (lower, line) = ledger.lines.split_at_mut(newest);
    let Some(line) = line.first_mut() else { return };
    for before in lower.iter_mut() {
        overtake(before, &line.promotion, pair);
    }
    if let Some((phase, note)) = ended(line, pair) {
        line.end(phase, now, note);
        return;
    }
    // What comes after a request was fulfilled is nothing that it took back.
    if line.promotion.phase == Phase::Succeeded {
        return;
    }
    let release = line.promotion.release.clone();
    if line.promotion.requested_by.is_some() {
        went_back_to(pair, &release, refusals);
        // Unless somebody wants just that again.
        refusals.retain(|refused| wanted.as_ref() != Some(&refused.release));
    }
    if pair.into.runs(&release) {
        if line.promotion.phase != Phase::Succeeded {
            line.end(Phase::Succeeded, now, format!("every target of {} runs {release}", pair.into.name()));
        }
        return;
    }
    if line.promotion.phase == Phase::Succeeded {
        return;
    }
    // Not to see a target is not to see it fail.
    let timeout = timeout.filter(|_| !is_blind(pair.into, &release));
    let until = timeout.and_then(|timeout| line.promotion.delivered()?.checked_add(timeout).ok());
    if line.promotion.phase == Phase::Delivered {
        match until.filter(|until| *until <= now) {
            Some(until) => {
                line.turn(Phase::Failed, now, Some(format!("not healthy on every target by {until:.0}").into()));
            }
            None => pair.moment.changes(until),
        }
    }
    let failed = line.promotion.phase == Phase::Failed;
    let reasons = deploying(pair.into, &release, until, failed);
    line.hold(since(reasons, &line.promotion.holds, pair.moment));
}

/// Whether every target that is not known to run a release cannot be read.
fn is_blind(into: &Place<'_>, release: &Release) -> bool {
    let runs = |standing: &Standing<'_>| standing.runs().is_some_and(|running| running.covers(release));
    let mut others = into.targets.iter().filter(|target| !runs(&target.standing));
    others.all(|target| matches!(target.standing, Standing::Unreachable(_)))
}

/// What was delivered and did not run yet is over when another release is delivered. If a person asked for one that is
/// not newer, they took it back, and it shall not come again by itself.
fn overtake(before: &mut Line<'_>, by: &Promotion, pair: &Pair<'_, '_>) {
    let phase = before.promotion.phase;
    if !matches!(phase, Phase::Delivered | Phase::Failed) {
        return;
    }
    let (old, new) = (&before.promotion.release, &by.release);
    let newer = || Order::between(new, old, &pair.from.record).is_newer(new, old);
    let taken_back = by.requested_by.is_some() && old != new && !newer();
    let note = format!("{new} was delivered after it");
    if taken_back {
        before.end(Phase::RolledBack, pair.moment.now, note);
    } else if phase == Phase::Delivered {
        before.end(Phase::Superseded, pair.moment.now, note);
    }
}

/// What a person asked to go back from shall not come again by itself.
fn went_back_to(pair: &Pair<'_, '_>, release: &Release, refusals: &mut Vec<Refused>) {
    for target in &pair.into.targets {
        let there = pair.into.last_release(target).filter(|there| !there.covers(release));
        if let Some(there) =
            there.filter(|there| Order::between(there, release, &pair.from.record).is_newer(there, release))
        {
            let why = format!("{} was asked to go back to {release}", pair.into.name()).into();
            refusals.push(Refused { release: there.clone(), why });
        }
    }
}

/// What was rejected or taken back is refused, unless somebody asked for it again since.
pub(crate) fn refused(ledger: &Ledger<'_>, refusals: &mut Vec<Refused>) {
    for (index, line) in ledger.lines.iter().enumerate() {
        let promotion = &line.promotion;
        let again = || ledger.lines[index + 1..].iter().any(|later| later.promotion.release == promotion.release);
        if matches!(promotion.phase, Phase::Rejected | Phase::RolledBack) && !again() {
            let note = promotion.history.last().and_then(|turn| turn.note.clone());
            let why = note.unwrap_or_else(|| format!("its promotion was {}", promotion.phase).into());
            refusals.push(Refused { release: promotion.release.clone(), why });
        }
    }
}

/// Whether a delivered promotion is over: taken back, or overtaken.
fn ended(line: &Line<'_>, pair: &Pair<'_, '_>) -> Option<(Phase, Arc<str>)> {
    let release = &line.promotion.release;
    let into = pair.into;
    // Since it was delivered, the environment went back from it.
    if let Some(refusal) = into.record.refusal(release).filter(|_| !into.runs(release)) {
        return Some((Phase::RolledBack, refusal.why.clone()));
    }
    let older = |other: &Release| {
        [&*pair.from.record, &*into.record]
            .iter()
            .any(|record| Order::between(other, release, record).is_older(other, release))
    };
    if let Some(other) = pair.declared.first()
        && !pair.declared.iter().any(|declared| declared.covers(release))
    {
        if pair.declared.iter().all(older) {
            return Some((Phase::RolledBack, format!("the base branch went back to {other}").into()));
        }
        if line.promotion.phase == Phase::Delivered {
            return Some((Phase::Superseded, format!("the base branch declares {other}").into()));
        }
    }
    let overtaken = |running: &Release| {
        !running.covers(release) && Order::between(running, release, &pair.from.record).is_newer(running, release)
    };
    // While Git declares it, or a person wants it back, it is Flux that lags behind.
    let abandoned = pair.declared.is_empty() && line.promotion.requested_by.is_none();
    let all_newer = || into.targets.iter().all(|target| target.standing.runs().is_some_and(overtaken));
    if line.promotion.phase == Phase::Delivered && abandoned && all_newer() {
        return Some((Phase::Superseded, format!("every target of {} runs something newer", into.name()).into()));
    }
    None
}

/// Why a delivered release does not run everywhere yet.
pub(crate) fn deploying(into: &Place<'_>, release: &Release, until: Option<Timestamp>, failed: bool) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut waiting: Vec<TargetKey> = Vec::new();
    for target in &into.targets {
        match &target.standing {
            Standing::Runs { release: running, .. } if running.covers(release) => {}
            Standing::Unreachable(why) => reasons.push(unreachable(target.key, why)),
            Standing::Unsettled { attempted, failed: true, message }
                if attempted.as_ref().is_none_or(|attempted| attempted.covers(release)) =>
            {
                reasons.push(Reason::DeployFailed { target: target.key.clone(), message: message.clone() });
            }
            _ if failed => {
                let message = Some("it was not healthy in time".into());
                reasons.push(Reason::DeployFailed { target: target.key.clone(), message });
            }
            _ => waiting.push(target.key.clone()),
        }
    }
    if !waiting.is_empty() {
        let until = until.filter(|_| !failed);
        reasons.push(Reason::Deploying { targets: waiting, until });
    }
    reasons
}

/// Turns reasons into holds, most binding first. What held before has held since then.
pub(crate) fn since(mut reasons: Vec<Reason>, before: &[Hold], moment: &Moment) -> Vec<Hold> {
    reasons.sort_by_key(Reason::rank);
    reasons
        .into_iter()
        .map(|reason| {
            let known = before.iter().find(|hold| hold.reason.is_same_matter(&reason));
            Hold { since: known.map_or(moment.now, |hold| hold.since), reason }
        })
        .collect()
}
