//! What is measured, for Prometheus.

mod follow;
mod timed;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use weir_core::{Phase, Reason};
use weir_engine::World;

pub(crate) use follow::follow;
pub use timed::Timed;

/// What is measured. One for the whole process; clones are the same.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    registry: Registry,
    counts: Mutex<()>,
    pipelines: Gauge,
    promotions: Family<PhaseLabel, Gauge>,
    holds: Family<HoldLabel, Gauge>,
    catalog_problems: Gauge,
    to_proposal: Histogram,
    to_healthy: Histogram,
    webhook: Family<OutcomeLabel, Histogram>,
    webhook_total: Family<CodeLabel, Counter>,
    git: Family<GitLabel, Histogram>,
    requests: Family<RequestLabel, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabel {
    phase: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HoldLabel {
    hold: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabel {
    code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GitLabel {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    method: String,
    route: String,
    code: u16,
}

/// What became of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Received {
    Stored,
    Known,
    Outdated,
    /// It is a reason to look again.
    Heard,
    Ignored,
    Refused,
    Unavailable,
}

const PHASES: [Phase; 9] = [
    Phase::Pending,
    Phase::Proposed,
    Phase::Delivered,
    Phase::Succeeded,
    Phase::Failed,
    Phase::Rejected,
    Phase::Superseded,
    Phase::Withdrawn,
    Phase::RolledBack,
];

/// From half a millisecond to a quarter of a minute.
fn quick() -> Histogram {
    Histogram::new([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0])
}

/// From a second to a week: people and soaking are part of it.
fn slow() -> Histogram {
    Histogram::new([1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0, 604_800.0])
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Nothing was measured yet.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("weir");
        let pipelines = Gauge::default();
        registry.register("pipelines", "Pipelines that are defined", pipelines.clone());
        let promotions = Family::default();
        registry.register("promotions", "Promotions among the records, by phase", promotions.clone());
        let holds = Family::default();
        registry.register("holds", "Holds of promotions and candidates, by name", holds.clone());
        let catalog_problems = Gauge::default();
        registry.register("catalog_problems", "What is wrong with the definitions", catalog_problems.clone());
        let to_proposal = slow();
        let help = "From the first success in the environment before to the proposal";
        registry.register("event_to_proposal_seconds", help, to_proposal.clone());
        let to_healthy = slow();
        let help = "From the first success in the environment before until every target runs it";
        registry.register("event_to_healthy_seconds", help, to_healthy.clone());
        let webhook = Family::new_with_constructor(quick as fn() -> Histogram);
        registry.register("webhook_seconds", "Taking in an event, without waiting for what follows", webhook.clone());
        let webhook_total = Family::default();
        registry.register(
            "webhook",
            "Events that were posted, by the code they were answered with",
            webhook_total.clone(),
        );
        let git = Family::new_with_constructor(quick as fn() -> Histogram);
        registry.register("git_seconds", "What is done with Git repositories", git.clone());
        let requests = Family::default();
        registry.register("requests", "Requests that were answered", requests.clone());
        let counts = Mutex::default();
        Self(Arc::new(Inner {
            registry,
            counts,
            pipelines,
            promotions,
            holds,
            catalog_problems,
            to_proposal,
            to_healthy,
            webhook,
            webhook_total,
            git,
            requests,
        }))
    }

    pub(crate) fn received(&self, received: Received, time: Duration) {
        let outcome = match received {
            Received::Stored => "stored",
            Received::Known => "known",
            Received::Outdated => "outdated",
            Received::Heard => "heard",
            Received::Ignored => "ignored",
            Received::Refused => "refused",
            Received::Unavailable => "unavailable",
        };
        self.0.webhook.get_or_create(&OutcomeLabel { outcome }).observe(time.as_secs_f64());
    }

    pub(crate) fn webhook_answered(&self, code: u16) {
        self.0.webhook_total.get_or_create(&CodeLabel { code }).inc();
    }

    pub(crate) fn answered(&self, method: String, route: String, code: u16) {
        self.0.requests.get_or_create(&RequestLabel { method, route, code }).inc();
    }

    fn git(&self, operation: &'static str, outcome: &'static str, time: Duration) {
        self.0.git.get_or_create(&GitLabel { operation, outcome }).observe(time.as_secs_f64());
    }

    /// Everything as text. What can be counted is counted now.
    pub(crate) fn text(&self, world: &World) -> String {
        let _one_at_a_time = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        self.count(world);
        let mut text = String::new();
        if encode(&mut text, &self.0.registry).is_err() {
            tracing::warn!("the metrics cannot be written down");
        }
        text
    }

    fn count(&self, world: &World) {
        let mut phases = [0_i64; PHASES.len()];
        let mut holds = [0_i64; Reason::NAMES.len()];
        let mut pipelines = 0;
        world.scan(None, |_, known| {
            pipelines += i64::from(known.definition().is_some());
            for promotion in &known.snapshot().promotions {
                if let Some(place) = PHASES.iter().position(|phase| *phase == promotion.phase) {
                    phases[place] += 1;
                }
            }
            let promotions = known.snapshot().promotions.iter().flat_map(|it| &it.holds);
            let candidates = known.snapshot().environments.values().flat_map(|it| &it.holds);
            for hold in promotions.chain(candidates) {
                if let Some(place) = Reason::NAMES.iter().position(|name| *name == hold.reason.name()) {
                    holds[place] += 1;
                }
            }
            true
        });
        self.0.pipelines.set(pipelines);
        for (phase, count) in PHASES.iter().zip(phases) {
            self.0.promotions.get_or_create(&PhaseLabel { phase: phase.to_string() }).set(count);
        }
        for (hold, count) in Reason::NAMES.into_iter().zip(holds) {
            self.0.holds.get_or_create(&HoldLabel { hold }).set(count);
        }
        self.0.catalog_problems.set(i64::try_from(world.problems().len()).unwrap_or(i64::MAX));
    }
}
