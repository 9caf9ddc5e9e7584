//! The whole answer to "why is it not further?", for one environment, as reasons in order and as data.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    apply::apply,
    candidate::Pair,
    deployed::{Place, Standing},
    gate::Gate,
    gates::{Soaked, Verdict},
    hold::Hold,
    ledger::Ledger,
    moment::Moment,
    name::{EnvironmentName, PipelineKey},
    pipeline::{Environment, Pipeline},
    plan::{EnvironmentPlan, plan},
    policy::When,
    promotion::{Intent, Phase, Promotion},
    release::Release,
    snapshot::Snapshot,
    step,
};

/// The answer for one environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The pipeline.
    pub pipeline: PipelineKey,
    /// The environment.
    pub environment: EnvironmentName,
    /// In short.
    pub verdict: Situation,
    /// The release that the verdict is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// The phase of its promotion, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// What will be done next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Intent>,
    /// What speaks against it, most binding first; then what speaks for it; then how the targets stand.
    pub reasons: Vec<Because>,
    /// When time alone changes the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_check: Option<Timestamp>,
}

/// How a release stands before an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Situation {
    /// Nothing is promoted into the first environment of a pipeline.
    First,
    /// There is nothing to promote.
    Nothing,
    /// Something holds it.
    Waits,
    /// A step is being taken.
    Moves,
    /// Git declares it, and it does not run everywhere yet.
    Arrives,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    /// For or against.
    pub weighs: Weighs,
    /// The hold, the gate, or the target.
    pub name: String,
    /// What it says.
    pub sentence: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// What would change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Whether it is about the release after the one whose turn it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub next: bool,
}

/// Whether a reason speaks for or against going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Weighs {
    /// A hold.
    Against,
    /// An open gate.
    For,
    /// Neither: how a target stands.
    Fact,
}

/// Explains one environment. `None`: the pipeline has no such environment.
pub fn explain(
    pipeline: &Pipeline,
    snapshot: &Snapshot,
    environment: &EnvironmentName,
    now: Timestamp,
) -> Option<Explanation> {
    let index = pipeline.environments().iter().position(|known| known.name == *environment)?;
    let decided = plan(pipeline, snapshot, now);
    let found = decided.environments.get(index)?;
    let snapshot = apply(&decided, snapshot.clone());
    let mine = |promotion: &&Promotion| {
        promotion.key.environment == *environment && Some(promotion.key.ordinal) == found.promotion
    };
    let promotion = snapshot.promotions.iter().find(mine).filter(|promotion| concerns(promotion));
    let next = |hold: &Hold| promotion.is_some() && found.next.contains(hold);
    let mut reasons: Vec<_> = found.holds.iter().map(|hold| against(hold, next(hold))).collect();
    let definition = &pipeline.environments()[index];
    if let (Some(promotion), Some(from)) = (promotion, index.checked_sub(1)) {
        reasons.extend(gates(pipeline, &snapshot, &pipeline.environments()[from], definition, promotion, now));
    }
    reasons.extend(facts(pipeline, &snapshot, definition, now));
    Some(Explanation {
        pipeline: pipeline.key.clone(),
        environment: environment.clone(),
        verdict: situation(index, found, promotion),
        release: promotion.map(|promotion| &promotion.release).or(found.candidate.as_ref()).cloned(),
        phase: promotion.map(|promotion| promotion.phase),
        step: found.step.clone(),
        reasons,
        next_check: decided.next_check,
    })
}

/// A promotion that is over explains nothing.
fn concerns(promotion: &Promotion) -> bool {
    promotion.phase.is_live() || !promotion.holds.is_empty()
}

fn situation(index: usize, found: &EnvironmentPlan, promotion: Option<&Promotion>) -> Situation {
    let arriving = promotion.is_some_and(|promotion| !promotion.phase.is_live());
    match () {
        () if index == 0 => Situation::First,
        () if arriving => Situation::Arrives,
        () if !found.holds.is_empty() => Situation::Waits,
        () if found.step.is_some() => Situation::Moves,
        () => Situation::Nothing,
    }
}

fn against(hold: &Hold, next: bool) -> Because {
    Because {
        weighs: Weighs::Against,
        name: hold.reason.name().to_owned(),
        sentence: hold.reason.to_string(),
        since: Some(hold.since),
        remedy: Some(hold.reason.remedy().to_string()),
        next,
    }
}

/// The gates that are open for a promotion.
fn gates(
    pipeline: &Pipeline,
    snapshot: &Snapshot,
    from: &Environment,
    into: &Environment,
    promotion: &Promotion,
    now: Timestamp,
) -> Vec<Because> {
    if !promotion.phase.is_live() {
        return Vec::new();
    }
    let moment = Moment::new(now);
    let from = Place::look(from, &pipeline.application, snapshot, now);
    let into = Place::look(into, &pipeline.application, snapshot, now);
    let ledger = Ledger::of(snapshot, pipeline, into.name());
    let when = into.definition.promotion.as_ref().map_or(When::Any, |policy| policy.when);
    let pair =
        Pair { pipeline, snapshot, from: &from, into: &into, when, moment: &moment, declared: ledger.declared() };
    let entry = step::ask(&pair, promotion);
    let open = entry.answers(&moment).filter_map(|answer| {
        let Verdict::Open { until } = answer.verdict else { return None };
        let (name, what) = match answer.gate {
            Gate::Approval(gate) => ("approval", format!("{} or more of {} agreed", gate.count, gate.from)),
            Gate::Window(window) => ("window", window.to_string()),
            Gate::Soak(duration) => match entry.soaked {
                Soaked::Since(since) => {
                    ("soak", format!("healthy in {} since {since:.0}, needs {duration:#}", from.name()))
                }
                _ => ("soak", format!("{} moved on: nothing is left to soak", from.name())),
            },
        };
        let until = until.map(|until| format!(", open until {until:.0}")).unwrap_or_default();
        let sentence = format!("{what}{until}");
        Some(Because { weighs: Weighs::For, name: name.to_owned(), sentence, since: None, remedy: None, next: false })
    });
    open.collect()
}

/// How the targets of the environment stand.
fn facts(pipeline: &Pipeline, snapshot: &Snapshot, environment: &Environment, now: Timestamp) -> Vec<Because> {
    let place = Place::look(environment, &pipeline.application, snapshot, now);
    let fact = |target: &crate::deployed::Target<'_>| {
        let (sentence, since) = match &target.standing {
            Standing::Runs { release, since } => (format!("runs {release}"), Some(*since)),
            Standing::Unsettled { attempted, failed, message } => {
                let what = attempted.as_ref().map_or_else(|| "a deployment".to_owned(), ToString::to_string);
                let how = if *failed { "failed" } else { "is being deployed" };
                let why = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
                (format!("{what} {how}{why}"), None)
            }
            Standing::NoRevision { workload, found } => (format!("{workload} follows `{found}`"), None),
            Standing::Empty => ("nothing is known to run there".to_owned(), None),
            Standing::Unreachable(why) => (format!("cannot be read: {}", why.error), Some(why.since)),
        };
        let remark = snapshot.remark(target.key).map(|remark| format!("; {remark}")).unwrap_or_default();
        let sentence = format!("{sentence}{remark}");
        Because { weighs: Weighs::Fact, name: target.key.to_string(), sentence, since, remedy: None, next: false }
    };
    if place.targets.is_empty() {
        let sentence = "it has none, so nothing enters or leaves it".to_owned();
        return vec![Because {
            weighs: Weighs::Fact,
            name: "targets".to_owned(),
            sentence,
            since: None,
            remedy: None,
            next: false,
        }];
    }
    place.targets.iter().map(fact).collect()
}

impl Explanation {
    /// Whether what is proposed is somebody's own by now, whatever waits.
    fn is_theirs(&self) -> bool {
        self.reasons.iter().any(|reason| reason.name == "BranchChangedByHand")
    }

    /// The verdict as a sentence.
    pub fn headline(&self) -> String {
        let release = self.release.as_ref().map(ToString::to_string).unwrap_or_default();
        let what = format!("{} {release}", self.pipeline.name);
        let what = what.trim_end();
        let environment = &self.environment;
        match self.verdict {
            Situation::First => {
                format!("{environment} is where {} begins: nothing is promoted into it", self.pipeline.name)
            }
            Situation::Nothing => format!("{environment} has nothing to wait for"),
            Situation::Waits if self.phase == Some(Phase::Proposed) && !self.is_theirs() => {
                format!("{what} is proposed for {environment}")
            }
            Situation::Waits if self.reasons.first().is_some_and(|reason| reason.name == "Refused") => {
                format!("{what} does not go to {environment}")
            }
            Situation::Waits => format!("{what} waits before {environment}"),
            Situation::Moves => {
                format!("{what} goes to {environment}: {}", self.step.as_ref().map(step).unwrap_or_default())
            }
            Situation::Arrives => format!("{what} is in Git for {environment}, and does not run everywhere yet"),
        }
    }
}

/// What a step does, in words.
fn step(intent: &Intent) -> String {
    match intent {
        Intent::Locate => "its place in the repository is being looked for".to_owned(),
        Intent::Propose => "its proposal is being opened".to_owned(),
        Intent::Push => "it is being pushed".to_owned(),
        Intent::Merge(head) => format!("its proposal is being merged at {}", &head.as_str()[..12]),
        Intent::Close(note) => format!("its proposal is being closed: {note}"),
        Intent::Notify => "the other side is being told".to_owned(),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        let width = self.reasons.iter().map(|reason| reason.name.chars().count()).max().unwrap_or_default();
        for reason in &self.reasons {
            let mark = match reason.weighs {
                Weighs::Against => '✗',
                Weighs::For => '✔',
                Weighs::Fact => '·',
            };
            writeln!(f, "  {mark} {:width$}  {}", reason.name, reason.sentence)?;
            if let Some(remedy) = &reason.remedy {
                writeln!(f, "    {:width$}  → {remedy}", "")?;
            }
        }
        self.next_check.map_or(Ok(()), |at| writeln!(f, "Next look: {at:.0}"))
    }
}
