//! `weir plan`: what Weir would do now.

use std::fmt::Write as _;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use weir_core::{
    EnvironmentName, Hold, Intent, Phase, Pipeline, PipelineKey, Release, Snapshot, TargetKey, apply, plan,
};

use super::question::Question;
use crate::output::{self, Output};

const EXAMPLE: &str = "\
Example:
  weir plan -f pipeline.yaml --state state.yaml --at 2026-11-13T14:30:00Z";

/// Show what Weir would do now, for every environment of a pipeline
///
/// Nothing is written anywhere. All of Weir decides by the same rules.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Plan {
    #[command(flatten)]
    question: Question,
    /// The pipeline, if the files define several: NAMESPACE/NAME or NAME
    pipeline: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    pipeline: PipelineKey,
    at: Timestamp,
    environments: Vec<Environment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_check: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Environment {
    name: EnvironmentName,
    targets: Vec<Target>,
    /// The release that is next: on its way, or waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Release>,
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Intent>,
    holds: Vec<Because>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    name: TargetKey,
    /// What it runs, or ran when it was last seen to be healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Release>,
    /// Since when it has been healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    healthy_since: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Because {
    name: &'static str,
    sentence: String,
    since: Timestamp,
    remedy: String,
}

impl Plan {
    pub(super) fn run(self) -> Result<()> {
        let matter = self.question.read(self.pipeline.as_deref())?;
        self.output.print(&report(&matter.pipeline, matter.snapshot, matter.at), text)
    }
}

fn report(pipeline: &Pipeline, snapshot: Snapshot, at: Timestamp) -> Report {
    let decided = plan(pipeline, &snapshot, at);
    let snapshot = apply(&decided, snapshot);
    let environments = decided.environments.iter().zip(pipeline.environments()).map(|(found, definition)| {
        let mine = |promotion: &&weir_core::Promotion| {
            promotion.key.environment == found.name && Some(promotion.key.ordinal) == found.promotion
        };
        let promotion = snapshot.promotions.iter().find(mine);
        let record = snapshot.environments.get(&found.name);
        let target = |key: &TargetKey| {
            let seen = record.and_then(|record| record.targets.get(key));
            Target {
                name: key.clone(),
                runs: seen.and_then(|seen| seen.release.clone()),
                healthy_since: seen.filter(|seen| seen.unreachable.is_none()).and_then(|seen| seen.healthy_since),
            }
        };
        let under_way = promotion.filter(|promotion| promotion.phase != Phase::Succeeded);
        Environment {
            name: found.name.clone(),
            targets: definition.targets.iter().map(target).collect(),
            next: under_way.map(|promotion| promotion.release.clone()).or_else(|| found.candidate.clone()),
            promotion: promotion.map(|promotion| promotion.key.ordinal),
            phase: promotion.map(|promotion| promotion.phase),
            step: found.step.clone(),
            holds: found.holds.iter().map(because).collect(),
        }
    });
    let environments = environments.collect();
    Report { pipeline: pipeline.key.clone(), at, environments, next_check: decided.next_check }
}

fn because(hold: &Hold) -> Because {
    Because {
        name: hold.reason.name(),
        sentence: hold.reason.to_string(),
        since: hold.since,
        remedy: hold.reason.remedy().to_string(),
    }
}

fn text(report: &Report) -> String {
    let header = ["ENVIRONMENT", "RUNS", "NEXT", "PHASE", "STEP", "HELD BY"];
    let rows = report.environments.iter().map(|environment| {
        let shown = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let held: Vec<_> = environment.holds.iter().map(|hold| hold.name).collect();
        vec![
            environment.name.to_string(),
            runs(&environment.targets),
            shown(environment.next.as_ref().map(ToString::to_string)),
            shown(environment.phase.as_ref().map(ToString::to_string)),
            shown(environment.step.as_ref().map(|step| step_word(step).to_owned())),
            shown((!held.is_empty()).then(|| held.join(", "))),
        ]
    });
    let mut text = format!("{} at {}\n\n{}", report.pipeline, report.at, output::table(&header, rows));
    for environment in report.environments.iter().filter(|environment| !environment.holds.is_empty()) {
        let _ = writeln!(text, "\n{}", environment.name);
        for Because { name, sentence, remedy, .. } in &environment.holds {
            let _ = writeln!(text, "  ✗ {name}: {sentence}\n    → {remedy}");
        }
    }
    if let Some(next) = report.next_check {
        let _ = writeln!(text, "\nNext look: {next}");
    }
    text
}

/// What the targets run: one release if they agree, or how many of them run which.
fn runs(targets: &[Target]) -> String {
    let mut found: Vec<(&Release, usize)> = Vec::new();
    for release in targets.iter().filter_map(|target| target.runs.as_ref()) {
        match found.iter_mut().find(|(known, _)| *known == release) {
            Some((_, count)) => *count += 1,
            None => found.push((release, 1)),
        }
    }
    match found.as_slice() {
        [] => "-".to_owned(),
        [(release, count)] if *count == targets.len() => release.to_string(),
        several => {
            let parts = several.iter().map(|(release, count)| format!("{release} on {count} of {}", targets.len()));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

fn step_word(step: &Intent) -> &'static str {
    match step {
        Intent::Locate => "look in Git",
        Intent::Propose => "open proposal",
        Intent::Push => "push",
        Intent::Merge(_) => "merge proposal",
        Intent::Close(_) => "close proposal",
        Intent::Notify => "notify",
    }
}
