//! Conditions, as kstatus reads them.
//!
//! `Ready` is true while the definition is understood and nothing needs a person to mend it; waiting for an approval, a
//! window or a review is no fault. `Stalled` is there while nothing will move until somebody acts, `Reconciling` while it
//! is being tried again.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use weir_core::{Hold, Plan, TargetKey, Unreachable};

use super::Shown;

/// What stays until somebody changes a file, a branch or the definition.
const STALLED: [&str; 5] = ["NothingToEdit", "AmbiguousMarker", "BranchChangedByHand", "OrderUnknown", "NoRevision"];

/// What may pass by itself, and is a fault until then.
const TRYING: [&str; 7] = [
    "DeployFailed",
    "ChecksFailing",
    "Conflict",
    "RepositoryUnavailable",
    "ForgeUnavailable",
    "RateLimited",
    "TargetUnreachable",
];

/// The conditions, without times.
pub(super) fn conditions(shown: &Shown<'_>, decided: &Plan, line: &str) -> Vec<Condition> {
    let generation = shown.generation;
    if let Some(problem) = shown.problems.first() {
        return stalled("InvalidDefinition", problem, generation);
    }
    let holds = || decided.environments.iter().flat_map(|environment| &environment.holds);
    let one_of = |names: &[&str]| holds().find(|hold: &&Hold| names.contains(&hold.reason.name()));
    if let Some(hold) = one_of(&STALLED) {
        let words = format!("{line}: {}", hold.reason);
        return vec![
            condition("Ready", false, hold.reason.name(), &words, generation),
            condition("Stalled", true, hold.reason.name(), &hold.reason.to_string(), generation),
        ];
    }
    if let Some(hold) = one_of(&TRYING) {
        let words = format!("{line}: {}", hold.reason);
        return vec![
            condition("Ready", false, hold.reason.name(), &words, generation),
            condition("Reconciling", true, hold.reason.name(), &hold.reason.to_string(), generation),
        ];
    }
    if let Some((target, why)) = unreachable(shown) {
        let words = format!("{target} cannot be read: {}", why.error);
        return vec![
            condition("Ready", false, "TargetUnreachable", &format!("{line}: {words}"), generation),
            condition("Reconciling", true, "TargetUnreachable", &words, generation),
        ];
    }
    // The word that the Weave controller uses.
    vec![condition("Ready", true, "ReconciliationSucceeded", line, generation)]
}

/// Nothing moves until somebody changes the object.
pub(super) fn stalled(reason: &str, message: &str, generation: i64) -> Vec<Condition> {
    vec![
        condition("Ready", false, reason, message, generation),
        condition("Stalled", true, reason, message, generation),
    ]
}

/// It is deleted, and goes when everything is closed.
pub(super) fn leaving(message: &str, generation: i64) -> Vec<Condition> {
    vec![
        condition("Ready", false, "Deleted", message, generation),
        condition("Reconciling", true, "Deleted", message, generation),
    ]
}

/// A target that cannot be read, even if no release waits for it.
fn unreachable<'a>(shown: &Shown<'a>) -> Option<(&'a TargetKey, &'a Unreachable)> {
    let mut targets = shown.pipeline.environments().iter().flat_map(|environment| &environment.targets);
    targets.find_map(|target| Some((target, shown.snapshot.sightings.get(target)?.unreachable.as_ref()?)))
}

fn condition(kind: &str, is_so: bool, reason: &str, message: &str, generation: i64) -> Condition {
    Condition {
        type_: kind.to_owned(),
        status: if is_so { "True" } else { "False" }.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: Some(generation),
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
    }
}

/// A moment as the API server gives it back.
pub(super) fn second(at: Timestamp) -> Time {
    Time(Timestamp::from_second(at.as_second()).unwrap_or(at))
}

/// Since when they have been so. Only another status is a transition.
pub(super) fn with_times(conditions: Vec<Condition>, before: &[Condition], now: Timestamp) -> Vec<Condition> {
    let timed = conditions.into_iter().map(|condition| {
        let same = |old: &&Condition| old.type_ == condition.type_ && old.status == condition.status;
        let since = before.iter().find(same).map_or_else(|| second(now), |old| old.last_transition_time.clone());
        Condition { last_transition_time: since, ..condition }
    });
    timed.collect()
}
