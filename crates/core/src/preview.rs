//! What would come of something that a person does, before they do it.

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::{
    explain::{Explanation, explain},
    order::Order,
    pipeline::Pipeline,
    promotion::{Approval, Promotion},
    rehearsal::{Carried, Rehearsal},
    release::Release,
    snapshot::{EnvironmentRecord, Snapshot},
};

/// What would come of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The release that it is about.
    pub release: Release,
    /// Whether that release is not known to be newer than what runs. What runs already does not go back.
    pub goes_back: bool,
    /// What has to be known about it: how it stands to what is there, for instance.
    pub notes: Vec<String>,
    /// What is then done by itself, if nothing goes wrong, and nobody does anything more.
    pub steps: Vec<Carried>,
    /// How the environment stands after that.
    pub then: Explanation,
}

/// Plays through what comes of a promotion that somebody asked for or changed, if it were written down now. `about` is the
/// release that they mean, which may be another than the one whose turn it is. `None`: the pipeline has no such
/// environment.
pub fn preview(
    pipeline: &Pipeline,
    snapshot: &Snapshot,
    promotion: &Promotion,
    about: Release,
    now: Timestamp,
) -> Option<Preview> {
    let environment = promotion.key.environment.clone();
    let meant = Promotion { release: about.clone(), ..promotion.clone() };
    let known = snapshot.promotions.iter().position(|known| known.key == promotion.key);
    let mut rehearsal = Rehearsal::new(pipeline.clone(), snapshot.clone(), now);
    match known {
        Some(index) => rehearsal.snapshot.promotions[index] = promotion.clone(),
        None => rehearsal.snapshot.promotions.push(promotion.clone()),
    }
    let mut steps = rehearsal.settle();
    steps.retain(|step| step.promotion.environment == environment);
    let notes = match known.and_then(|known| snapshot.promotions.get(known)) {
        None => asked(snapshot, promotion),
        Some(_) if promotion.rejection.is_some() => Vec::new(),
        Some(before) => {
            let turn = rehearsal.promotion(&environment).is_some_and(|newest| newest.release == about);
            agreed(snapshot, before, promotion, &meant, turn)
        }
    };
    let then = explain(pipeline, &rehearsal.snapshot, &environment, now)?;
    let goes_back = goes_back(snapshot, &meant);
    Some(Preview { release: about, goes_back, notes, steps, then })
}

/// How the release of a promotion stands to what runs where it goes.
pub fn relation(snapshot: &Snapshot, promotion: &Promotion) -> String {
    let (release, environment) = (&promotion.release, &promotion.key.environment);
    let runs = snapshot.environments.get(environment).and_then(|record| record.runs.as_ref());
    let Some(runs) = runs else { return format!("{environment} is not known to run anything yet") };
    if runs.covers(release) {
        return format!("{environment} runs {runs} already");
    }
    let how = match age(snapshot, promotion, runs) {
        Some(Ordering::Greater) => format!("{release} is newer"),
        Some(Ordering::Less) => format!("{release} is older; once it is there, {runs} is refused"),
        _ => format!("nobody knows whether {release} is newer"),
    };
    format!("{environment} runs {runs}: {how}")
}

/// Whether the release of a promotion is not known to be newer than what runs where it goes.
fn goes_back(snapshot: &Snapshot, promotion: &Promotion) -> bool {
    let runs = snapshot.environments.get(&promotion.key.environment).and_then(|record| record.runs.as_ref());
    let others = runs.filter(|runs| !runs.covers(&promotion.release));
    others.is_some_and(|runs| age(snapshot, promotion, runs) != Some(Ordering::Greater))
}

/// How what is asked for stands to what runs, to what is on its way, and to what was refused.
fn asked(snapshot: &Snapshot, promotion: &Promotion) -> Vec<String> {
    let (release, environment) = (&promotion.release, &promotion.key.environment);
    let mut notes = vec![relation(snapshot, promotion)];
    let ours = |other: &&Promotion| {
        other.key.pipeline == promotion.key.pipeline && other.key.environment == *environment && other.phase.is_live()
    };
    match snapshot.promotions.iter().filter(ours).max_by_key(|other| other.key.ordinal) {
        Some(live) if live.release == *release => notes.push(format!("{release} is on its way already")),
        Some(live) => notes.push(format!("{}, which is on its way, gives way to it", live.release)),
        None => {}
    }
    let record = snapshot.environments.get(environment);
    if let Some(refusal) = record.and_then(|record| record.refusal(release)) {
        notes.push(format!("{release} was refused here, which is lifted: {}", refusal.why));
    }
    notes
}

/// What has to be known before somebody agrees. `meant` is the promotion as it would be with the release that they mean;
/// `turn`: it is the turn of that, then.
fn agreed(snapshot: &Snapshot, before: &Promotion, after: &Promotion, meant: &Promotion, turn: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if turn {
        notes.push(relation(snapshot, meant));
    }
    let (first, about) = (&after.release, &meant.release);
    if first != about {
        let gives_way = format!("{first}, which is on its way, gives way to it");
        notes.push(if turn { gives_way } else { format!("it is not the turn of {about}: {first} goes first") });
    }
    if let Some(given) = after.approvals.last() {
        let again = |old: &&Approval| old.by.name == given.by.name && old.release == given.release;
        notes.extend(before.approvals.iter().find(again).map(|old| format!("{} agreed to it already", old.by.name)));
    }
    notes
}

/// How the release of a promotion stands to what runs, in the order of where it comes from.
fn age(snapshot: &Snapshot, promotion: &Promotion, runs: &Release) -> Option<Ordering> {
    let unknown = EnvironmentRecord::default();
    let from = snapshot.environments.get(&promotion.from).unwrap_or(&unknown);
    Order::between(&promotion.release, runs, from).compare(&promotion.release, runs)
}
