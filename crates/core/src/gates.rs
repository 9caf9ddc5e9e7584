//! Whether a release may enter now: stops, and the gates of the environment.

use jiff::{SignedDuration, Timestamp};

use crate::{
    freeze::Freeze,
    gate::{Actor, ApprovalGate, Gate},
    hold::Reason,
    moment::Moment,
    name::{EnvironmentName, PipelineKey},
    pipeline::{Environment, Pipeline},
    promotion::Approval,
    release::Release,
    snapshot::Snapshot,
};

/// A release that asks to enter an environment.
pub(crate) struct Entry<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) into: &'a Environment,
    pub(crate) from: &'a EnvironmentName,
    pub(crate) release: &'a Release,
    pub(crate) requested_by: Option<&'a Actor>,
    /// When the person asked.
    pub(crate) asked: Option<Timestamp>,
    pub(crate) approvals: &'a [Approval],
    pub(crate) soaked: Soaked,
}

/// How long the release has been healthy in the environment before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Soaked {
    /// Since then, without a break.
    Since(Timestamp),
    /// For as long as it takes, before that environment moved on; or a person asked for it.
    Enough,
    /// It is not healthy there now; another hold says so.
    Unhealthy,
}

/// What one gate says.
pub(crate) struct Answer<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) verdict: Verdict,
}

pub(crate) enum Verdict {
    Open { until: Option<Timestamp> },
    Closed(Reason),
}

impl<'a> Entry<'a> {
    /// Everything that keeps the release out now: stops first, then closed gates.
    pub(crate) fn holds(&self, moment: &Moment) -> Vec<Reason> {
        let mut holds = Vec::new();
        self.stops(moment, &mut holds);
        for gate in &self.into.gates {
            if let Verdict::Closed(reason) = self.ask(gate, moment) {
                holds.push(reason);
            }
        }
        holds
    }

    /// What each gate says.
    pub(crate) fn answers(&self, moment: &Moment) -> impl Iterator<Item = Answer<'a>> {
        self.into.gates.iter().map(|gate| Answer { gate, verdict: self.ask(gate, moment) })
    }

    /// Suspension and freezes. A quarantine of one release does not bind a person who asks for that release in spite of it.
    pub(crate) fn stops(&self, moment: &Moment, holds: &mut Vec<Reason>) {
        if self.pipeline.suspended {
            holds.push(Reason::Suspended);
        }
        let at = holds.len();
        for freeze in freezes(self.snapshot, &self.pipeline.key, &self.into.name, self.release) {
            if freeze.selector.is_quarantine() && self.asked.is_some_and(|asked| freeze.from <= asked) {
                continue;
            }
            holds.extend(frozen(freeze, moment));
        }
        holds[at..].sort_by(|one, other| freeze_name(one).cmp(&freeze_name(other)));
    }

    fn ask(&self, gate: &Gate, moment: &Moment) -> Verdict {
        match gate {
            Gate::Approval(gate) => self.ask_people(gate, moment),
            Gate::Window(window) => {
                let state = window.at(moment.now);
                moment.changes(state.changes);
                if state.open {
                    Verdict::Open { until: state.changes }
                } else {
                    Verdict::Closed(Reason::OutsideWindow { opens: state.changes })
                }
            }
            Gate::Soak(duration) => self.ask_soak(*duration, moment),
        }
    }

    fn ask_soak(&self, duration: SignedDuration, moment: &Moment) -> Verdict {
        let Soaked::Since(healthy) = self.soaked else { return Verdict::Open { until: None } };
        let opens = healthy.checked_add(duration).unwrap_or(Timestamp::MAX);
        if opens <= moment.now {
            return Verdict::Open { until: None };
        }
        moment.changes(Some(opens));
        Verdict::Closed(Reason::Soaking { environment: self.from.clone(), healthy, opens })
    }

    /// Counts each person once, for this release only, while their word lasts.
    fn ask_people(&self, gate: &ApprovalGate, moment: &Moment) -> Verdict {
        let mut given: Vec<(&str, Option<Timestamp>)> = Vec::new();
        for approval in self.approvals {
            let author = self.requested_by.is_some_and(|author| is_same_person(&author.name, &approval.by.name));
            let counts =
                approval.release == *self.release && gate.from.include(&approval.by) && (gate.allow_author || !author);
            let ends = gate.expires_after.map(|after| approval.at.checked_add(after).unwrap_or(Timestamp::MAX));
            if !counts || ends.is_some_and(|ends| ends <= moment.now) {
                continue;
            }
            if approval.at > moment.now {
                moment.changes(Some(approval.at));
                continue;
            }
            match given.iter_mut().find(|(name, _)| is_same_person(name, &approval.by.name)) {
                Some((_, known)) => *known = (*known).max(ends),
                None => given.push((&approval.by.name, ends)),
            }
        }
        let need = gate.count.max(1);
        if given.len() >= need as usize {
            // Open until so many have expired that too few are left.
            let mut ends: Vec<_> = given.iter().map(|(_, ends)| ends.unwrap_or(Timestamp::MAX)).collect();
            ends.sort_unstable();
            let until = Some(ends[given.len() - need as usize]).filter(|until| *until < Timestamp::MAX);
            moment.changes(until);
            return Verdict::Open { until };
        }
        moment.changes(given.iter().filter_map(|(_, ends)| *ends).min());
        let mut given: Vec<_> = given.into_iter().map(|(name, _)| name.to_owned()).collect();
        given.sort();
        let author = self.requested_by.filter(|author| !gate.allow_author && gate.from.include(author));
        Verdict::Closed(Reason::AwaitingApproval {
            release: self.release.clone(),
            given,
            need,
            from: gate.from.clone(),
            except: author.map(|author| author.name.clone()),
        })
    }

    /// Whether there are approval gates, and all of them are open.
    pub(crate) fn is_approved(&self, moment: &Moment) -> bool {
        let mut gates = self.into.gates.iter().filter(|gate| matches!(gate, Gate::Approval(_))).peekable();
        gates.peek().is_some() && gates.all(|gate| matches!(self.ask(gate, moment), Verdict::Open { .. }))
    }
}

/// Accounts that differ only in case are the same person to most who keep them.
fn is_same_person(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// The freezes that select a promotion, whether or not they count now.
fn freezes<'a>(
    snapshot: &'a Snapshot,
    pipeline: &'a PipelineKey,
    environment: &'a EnvironmentName,
    release: &'a Release,
) -> impl Iterator<Item = &'a Freeze> {
    snapshot.freezes.iter().filter(move |freeze| freeze.selector.selects(pipeline, environment, release))
}

fn frozen(freeze: &Freeze, moment: &Moment) -> Option<Reason> {
    moment.changes(freeze.next_edge(moment.now));
    freeze.lasts(moment.now).then(|| Reason::Frozen {
        freeze: freeze.name.clone(),
        by: freeze.by.clone(),
        why: freeze.reason.clone(),
        until: freeze.until,
    })
}

fn freeze_name(reason: &Reason) -> Option<&str> {
    match reason {
        Reason::Frozen { freeze, .. } => Some(freeze.as_str()),
        _ => None,
    }
}

/// The quarantines of a release that count now. Unless they are shown, all that matters is when the last of them ends.
pub(crate) fn quarantines(
    snapshot: &Snapshot,
    pipeline: &PipelineKey,
    environment: &EnvironmentName,
    release: &Release,
    moment: &Moment,
    shown: bool,
) -> Vec<Reason> {
    let all = || freezes(snapshot, pipeline, environment, release).filter(|freeze| freeze.selector.is_quarantine());
    let unseen = Moment::new(moment.now);
    let watch = if shown { moment } else { &unseen };
    let mut holds: Vec<_> = all().filter_map(|freeze| frozen(freeze, watch)).collect();
    holds.sort_by(|one, other| freeze_name(one).cmp(&freeze_name(other)));
    if !shown && !holds.is_empty() {
        moment.changes(released(all, moment.now));
    }
    holds
}

/// The first moment from which on none of these freezes counts.
fn released<'a, F: Iterator<Item = &'a Freeze>>(freezes: impl Fn() -> F, now: Timestamp) -> Option<Timestamp> {
    let mut at = now;
    while let Some(freeze) = freezes().find(|freeze| freeze.lasts(at)) {
        at = freeze.until?;
    }
    Some(at)
}
