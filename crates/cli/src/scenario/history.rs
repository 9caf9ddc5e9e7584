//! What happened and what was decided, line by line.

use jiff::Timestamp;
use serde::Serialize;
use weir_core::{Carried, EnvironmentName, EnvironmentPlan, Hold, Promotion, Release, Snapshot};

/// One thing that happened or was decided.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// When.
    pub(crate) at: Timestamp,
    /// Where; `None`: it concerns the whole pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<EnvironmentName>,
    /// What kind of thing.
    pub(crate) event: Event,
    /// The release, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) release: Option<Release>,
    /// The phase or the hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// In words.
    pub(crate) sentence: String,
}

/// The kinds of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Event {
    /// A step of the scenario.
    Fact,
    /// Something that the scenario assumes to happen by itself.
    Assumed,
    /// Weir decided to promote a release.
    Created,
    /// A promotion entered a phase.
    Phase,
    /// Something holds it from now on, or says something else than before.
    Held,
    /// Something no longer holds it.
    Released,
    /// Somebody merged it against something that held it.
    Overridden,
    /// Weir did something.
    Step,
}

/// Everything so far.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) entries: Vec<Entry>,
    holds: Vec<(EnvironmentName, Vec<Hold>)>,
}

impl History {
    /// What a decision changed.
    pub(super) fn decided(&mut self, at: Timestamp, before: &Snapshot, after: &Snapshot, plans: &[EnvironmentPlan]) {
        let mut promotions: Vec<_> = after.promotions.iter().collect();
        promotions.sort_by_key(|promotion| (&promotion.key.environment, promotion.key.ordinal));
        for promotion in promotions {
            let known = before.promotions.iter().find(|known| known.key == promotion.key);
            self.moved(at, known, promotion);
        }
        for plan in plans {
            let overridden = |after: &&Promotion| {
                let known = before.promotions.iter().find(|known| known.key == after.key);
                after.key.environment == plan.name && known.is_none_or(|known| known.overridden != after.overridden)
            };
            let overridden = after.promotions.iter().filter(overridden).flat_map(|promotion| &promotion.overridden);
            self.held(at, plan, &overridden.collect::<Vec<_>>());
        }
    }

    fn moved(&mut self, at: Timestamp, before: Option<&Promotion>, after: &Promotion) {
        let mut add = |event, name: Option<String>, sentence| {
            let environment = Some(after.key.environment.clone());
            self.entries.push(Entry { at, environment, event, release: Some(after.release.clone()), name, sentence });
        };
        if before.is_none() {
            let sentence = format!("{} shall go from {} to {}", after.release, after.from, after.key.environment);
            add(Event::Created, None, sentence);
        }
        let turns = before.map_or(0, |before| before.history.len());
        let first = usize::from(before.is_none());
        for turn in after.history.iter().skip(turns.max(first)) {
            let note = turn.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            add(Event::Phase, Some(turn.phase.to_string()), format!("{} is {}{note}", after.release, turn.phase));
        }
        if before.is_none_or(|before| before.overridden != after.overridden) {
            for hold in &after.overridden {
                add(Event::Overridden, Some(hold.reason.name().to_owned()), hold.reason.to_string());
            }
        }
    }

    /// What holds an environment's release from now on, and what does no longer. A hold that was overridden has been told
    /// as such: a freeze that was merged against did not end.
    fn held(&mut self, at: Timestamp, plan: &EnvironmentPlan, overridden: &[&Hold]) {
        let position = self.holds.iter().position(|(name, _)| *name == plan.name).unwrap_or_else(|| {
            self.holds.push((plan.name.clone(), Vec::new()));
            self.holds.len() - 1
        });
        let before = std::mem::replace(&mut self.holds[position].1, plan.holds.clone());
        let mut add = |event, hold: &Hold| {
            self.entries.push(Entry {
                at,
                environment: Some(plan.name.clone()),
                event,
                release: None,
                name: Some(hold.reason.name().to_owned()),
                sentence: hold.reason.to_string(),
            });
        };
        let is_same = |one: &Hold, other: &Hold| one.since == other.since && one.reason.name() == other.reason.name();
        let is_over = |hold: &&Hold| !plan.holds.iter().any(|now| is_same(hold, now));
        for hold in before.iter().filter(is_over).filter(|hold| !overridden.iter().any(|it| is_same(hold, it))) {
            add(Event::Released, hold);
        }
        for hold in plan.holds.iter().filter(|hold| !before.contains(hold)) {
            add(Event::Held, hold);
        }
    }

    /// What Weir did.
    pub(super) fn carried(&mut self, at: Timestamp, steps: &[Carried]) {
        for step in steps {
            let Some(sentence) = step.told() else { continue };
            let Carried { promotion, release, .. } = step;
            let environment = Some(promotion.environment.clone());
            let release = Some(release.clone());
            self.entries.push(Entry { at, environment, event: Event::Step, release, name: None, sentence });
        }
    }

    /// Something happened.
    pub(super) fn happened(
        &mut self,
        at: Timestamp,
        environment: Option<EnvironmentName>,
        event: Event,
        sentence: String,
    ) {
        self.entries.push(Entry { at, environment, event, release: None, name: None, sentence });
    }
}
