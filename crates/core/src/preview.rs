//! What would come of something that a person does, before they do it.

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::{
    explain::{Explanation, explain},
    order::Order,
    pipeline::Pipeline,
    promotion::Promotion,
    rehearsal::{Carried, Rehearsal},
    release::Release,
    snapshot::{EnvironmentRecord, Snapshot},
};

/// What would come of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The release that it is about.
    pub release: Release,
    /// How that release stands to what is there, if a person asks for it.
    pub notes: Vec<String>,
    /// What is then done by itself, if nothing goes wrong, and nobody does anything more.
    pub steps: Vec<Carried>,
    /// How the environment stands after that.
    pub then: Explanation,
}

/// Plays through what comes of a promotion that somebody asked for or changed, if it were written down now. `None`: the
/// pipeline has no such environment.
pub fn preview(pipeline: &Pipeline, snapshot: &Snapshot, promotion: Promotion, now: Timestamp) -> Option<Preview> {
    let environment = promotion.key.environment.clone();
    let release = promotion.release.clone();
    let known = snapshot.promotions.iter().position(|known| known.key == promotion.key);
    let notes = if known.is_none() { notes(snapshot, &promotion) } else { Vec::new() };
    let mut rehearsal = Rehearsal::new(pipeline.clone(), snapshot.clone(), now);
    match known {
        Some(index) => rehearsal.snapshot.promotions[index] = promotion,
        None => rehearsal.snapshot.promotions.push(promotion),
    }
    let mut steps = rehearsal.settle();
    steps.retain(|step| step.promotion.environment == environment);
    let then = explain(pipeline, &rehearsal.snapshot, &environment, now)?;
    Some(Preview { release, notes, steps, then })
}

/// Whether the release of a promotion is not known to be newer than what runs where it goes. What runs already is neither.
pub fn goes_back(snapshot: &Snapshot, promotion: &Promotion) -> bool {
    let runs = snapshot.environments.get(&promotion.key.environment).and_then(|record| record.runs.as_ref());
    let others = runs.filter(|runs| !runs.covers(&promotion.release));
    others.is_some_and(|runs| age(snapshot, promotion, runs) != Some(Ordering::Greater))
}

/// How what is asked for stands to what runs, to what is on its way, and to what was refused.
fn notes(snapshot: &Snapshot, promotion: &Promotion) -> Vec<String> {
    let (release, environment) = (&promotion.release, &promotion.key.environment);
    let record = snapshot.environments.get(environment);
    let mut notes = vec![match record.and_then(|record| record.runs.as_ref()) {
        None => format!("{environment} is not known to run anything yet"),
        Some(runs) if runs.covers(release) => format!("{environment} runs {runs} already"),
        Some(runs) => {
            let relation = match age(snapshot, promotion, runs) {
                Some(Ordering::Greater) => format!("{release} is newer"),
                Some(Ordering::Less) => format!("{release} is older"),
                _ => format!("nobody knows whether {release} is newer"),
            };
            format!("{environment} runs {runs}: {relation}")
        }
    }];
    let ours = |other: &&Promotion| {
        other.key.pipeline == promotion.key.pipeline && other.key.environment == *environment && other.phase.is_live()
    };
    match snapshot.promotions.iter().filter(ours).max_by_key(|other| other.key.ordinal) {
        Some(live) if live.release == *release => notes.push(format!("{release} is on its way already")),
        Some(live) => notes.push(format!("{}, which is on its way, gives way to it", live.release)),
        None => {}
    }
    if let Some(refusal) = record.and_then(|record| record.refusal(release)) {
        notes.push(format!("it was refused here, which is lifted: {}", refusal.why));
    }
    notes
}

/// How the release of a promotion stands to what runs, in the order of where it comes from.
fn age(snapshot: &Snapshot, promotion: &Promotion, runs: &Release) -> Option<Ordering> {
    let unknown = EnvironmentRecord::default();
    let from = snapshot.environments.get(&promotion.from).unwrap_or(&unknown);
    Order::between(&promotion.release, runs, from).compare(&promotion.release, runs)
}
