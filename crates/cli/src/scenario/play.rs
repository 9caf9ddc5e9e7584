//! Plays a story: from one moment at which something can change to the next.

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use weir_core::{Fact, Hold, Phase, PipelineKey, Promotion, Reason, Rehearsal};

use super::{
    Story,
    assume::Assumptions,
    history::{Entry, Event, History},
    step::Stage,
};
use crate::document::Source;

/// How many moments a story may have. A story that has more is not one that a person reads.
const MOMENTS: usize = 10_000;

/// How many rounds of deciding and doing one moment may take. Every promotion takes a handful.
const ROUNDS: usize = 64;

/// A story as it was played.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Play {
    pub(crate) pipeline: PipelineKey,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) ending: Ending,
    pub(crate) history: Vec<Entry>,
}

/// Why a story ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Ending {
    /// Nothing is left that could happen by itself.
    Quiet,
    /// It goes on only when somebody does something.
    Waiting,
    /// The end that the scenario names, or 30 days after its last fact.
    Horizon,
    /// It has more moments than a story may have.
    TooLong,
    /// A step could not happen.
    Broken,
}

struct Player<'s> {
    story: &'s Story,
    rehearsal: Rehearsal,
    assumptions: Assumptions,
    history: History,
    next_check: Option<Timestamp>,
    next_step: usize,
}

impl Story {
    /// Plays it. If a step cannot happen, what came before it is still told, and then the error.
    pub(crate) fn play(&self) -> (Play, Result<()>) {
        let assume = &self.scenario.assume;
        let (deploy, merge) = (assume.deploy_after.map(|it| it.0), assume.merge_after.map(|it| it.0));
        let assumptions = Assumptions::new(deploy, merge);
        let rehearsal = Rehearsal::new(self.pipeline.clone(), self.world.snapshot.clone(), self.start);
        let history = History::default();
        let mut player = Player { story: self, rehearsal, assumptions, history, next_check: None, next_step: 0 };
        let (ending, result) = match player.run() {
            Ok(ending) => (ending, Ok(())),
            Err(error) => (Ending::Broken, Err(error)),
        };
        let play = Play {
            pipeline: self.pipeline.key.clone(),
            from: self.start,
            to: player.rehearsal.now,
            ending,
            history: player.history.entries,
        };
        (play, result)
    }
}

impl Player<'_> {
    fn run(&mut self) -> Result<Ending> {
        for (environment, declares) in &self.story.world.declares {
            let fact = Fact::Declared { environment: environment.clone(), declares: declares.clone() };
            self.rehearsal.happen(fact)?;
        }
        self.settle();
        for _ in 0..MOMENTS {
            let step = self.story.timeline.get(self.next_step).copied();
            let assumed = self.assumptions.next();
            if step.is_none() && assumed.is_none() && self.is_still() {
                return Ok(Ending::Waiting);
            }
            let Some(next) = [step, assumed, self.next_check].into_iter().flatten().min() else {
                return Ok(if self.is_held() { Ending::Waiting } else { Ending::Quiet });
            };
            if next > self.story.until {
                self.rehearsal.now = self.story.until.max(self.rehearsal.now);
                return Ok(Ending::Horizon);
            }
            self.rehearsal.now = next;
            // What the scenario says comes first: it may leave nothing to assume.
            self.take_steps()?;
            for happened in self.assumptions.happen(&mut self.rehearsal)? {
                self.history.happened(next, Some(happened.environment), Event::Assumed, happened.sentence);
            }
            self.settle();
        }
        Ok(Ending::TooLong)
    }

    /// Lets happen what the scenario says for now. Weir has a look after each step, as it would.
    fn take_steps(&mut self) -> Result<()> {
        while self.story.timeline.get(self.next_step).is_some_and(|at| *at <= self.rehearsal.now) {
            let Some(step) = self.story.scenario.steps.get(self.next_step) else { break };
            self.next_step += 1;
            let source = Source { file: &self.story.file, text: &self.story.text };
            let happening = step.value.happening(&Stage { source: &source, rehearsal: &self.rehearsal })?;
            self.assumptions.heed(&happening.fact, self.rehearsal.now);
            source.at(step.referenced, self.rehearsal.happen(happening.fact))?;
            self.history.happened(self.rehearsal.now, happening.environment, Event::Fact, happening.sentence);
            self.settle();
        }
        Ok(())
    }

    /// Decides and acts until nothing moves, and keeps what was decided and done.
    fn settle(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.rehearsal.snapshot.clone();
            let now = self.rehearsal.now;
            let plan = self.rehearsal.decide();
            self.history.decided(now, &before, &self.rehearsal.snapshot, &plan.environments);
            self.next_check = plan.next_check;
            let steps = self.rehearsal.carry();
            self.history.carried(now, &steps);
            if plan.writes.is_empty() && steps.is_empty() {
                break;
            }
        }
        self.assumptions.look(&self.rehearsal);
    }

    /// Whether time alone moves nothing any more: whatever waits, waits for somebody.
    fn is_still(&self) -> bool {
        let Rehearsal { snapshot, .. } = &self.rehearsal;
        let waits = |holds: &[Hold]| holds.iter().any(|hold| is_for_people(&hold.reason));
        let still = |promotion: &Promotion| match promotion.phase {
            Phase::Pending | Phase::Proposed => waits(&promotion.holds),
            // Its time to become healthy runs out.
            Phase::Delivered => false,
            _ => true,
        };
        let candidates = snapshot.environments.values().map(|record| &record.holds);
        let mut candidates = candidates.filter(|holds| !holds.is_empty());
        self.is_held() && snapshot.promotions.iter().all(still) && candidates.all(|holds| waits(holds))
    }

    fn is_held(&self) -> bool {
        let snapshot = &self.rehearsal.snapshot;
        snapshot.promotions.iter().any(|promotion| !promotion.holds.is_empty())
            || snapshot.environments.values().any(|record| !record.holds.is_empty())
    }
}

/// Whether a hold stays until somebody does something.
fn is_for_people(reason: &Reason) -> bool {
    !matches!(
        reason,
        Reason::Soaking { .. }
            | Reason::OutsideWindow { .. }
            | Reason::Frozen { until: Some(_), .. }
            | Reason::Deploying { .. }
            | Reason::RepositoryUnavailable { .. }
            | Reason::ForgeUnavailable { .. }
            | Reason::RateLimited { .. }
            | Reason::Behind { .. }
    )
}
