//! A story told in advance: the document `Scenario`. Timed facts in, the history of decisions out.

mod assume;
mod history;
mod play;
mod step;
mod when;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, bail};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, de::IgnoredAny};
use serde_saphyr::Spanned;
use weir_core::Pipeline;

use crate::{
    definitions::Definitions,
    document::Source,
    files,
    state::{State, World},
    time::Time,
};

pub(crate) use history::{Entry, Event};
pub(crate) use play::{Ending, Play};
use step::Step;
use when::When;

/// How long a story goes on after its last fact, if it does not say.
const PATIENCE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "version and kind were checked before")]
struct Scenario {
    api_version: IgnoredAny,
    kind: IgnoredAny,
    /// A file with the pipeline, from the folder of the scenario. Default: a document of the same file.
    pipeline: Option<PathBuf>,
    /// A file with the state that it begins with, or a document of the same file. Default: nothing is known.
    state: Option<PathBuf>,
    start: Option<Time>,
    until: Option<Spanned<When>>,
    #[serde(default)]
    assume: Assume,
    #[serde(default)]
    steps: Vec<Spanned<Step>>,
}

/// What happens by itself in the story.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Assume {
    /// Flux deploys what Git declares after that time.
    deploy_after: Option<when::Duration>,
    /// A person merges what waits for nothing but review after that time.
    merge_after: Option<when::Duration>,
}

/// What is wrong with the scenario of a file, as far as the file alone tells.
pub(crate) fn check(source: &Source<'_>) -> Vec<Error> {
    let scenario = match source.find::<Scenario>("Scenario") {
        Ok(Some(scenario)) => scenario,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![error],
    };
    let state = source.find::<State>("State").ok().flatten();
    let start = scenario.start.or(state.and_then(|state| state.at)).map(Into::into);
    let steps = scenario.steps.iter().filter_map(|step| step.value.check(source).err());
    steps.chain(scenario.timeline(source, start).err()).collect()
}

/// Reads a scenario with all that it names, and sets the stage.
pub(crate) fn read(file: &Path) -> Result<Story> {
    let text = files::text(file)?;
    let source = Source { file, text: &text };
    let scenario: Scenario = source.read("Scenario")?;
    let beside = |path: &Path| file.parent().unwrap_or(Path::new("")).join(path);
    let mut definitions = Definitions::default();
    definitions.add(file, &text)?;
    if let Some(path) = &scenario.pipeline {
        let path = beside(path);
        definitions.add(&path, &files::text(&path)?)?;
    }
    let pipeline = definitions.pipeline(None).context("a scenario is about one pipeline")?.clone();
    let timeline = scenario.timeline(&source, None)?;
    let first = timeline.first().copied();
    let (mut world, start) = match &scenario.state {
        Some(path) => {
            let path = beside(path);
            let text = files::text(&path)?;
            let source = Source { file: &path, text: &text };
            stage(&source, Some(source.read("State")?), &pipeline, scenario.start, first)?
        }
        None => stage(&source, source.find("State")?, &pipeline, scenario.start, first)?,
    };
    world.snapshot.freezes.extend(definitions.freezes);
    let timeline = scenario.timeline(&source, Some(start))?;
    let last = timeline.last().copied().unwrap_or(start);
    let until = match &scenario.until {
        Some(until) => {
            let time = source.at(until.referenced, until.value.after(Some(last)))?;
            let begins = timeline.first().copied().unwrap_or(start);
            if time < begins {
                let words = format!("`{time}` is before `{begins}`, when it begins: nothing would be played");
                return Err(source.error(until.referenced, words));
            }
            time
        }
        None => last.checked_add(PATIENCE)?,
    };
    let file = file.to_owned();
    Ok(Story { file, text, scenario, pipeline, world, start, timeline, until })
}

/// What is known in the beginning, and when that is.
fn stage(
    source: &Source<'_>,
    state: Option<State>,
    pipeline: &Pipeline,
    start: Option<Time>,
    first: Option<Timestamp>,
) -> Result<(World, Timestamp)> {
    let start = start.or(state.as_ref().and_then(|state| state.at)).map(Into::into).or(first);
    let Some(start) = start else {
        bail!("{}: when does it begin? write `start`, or `at` in the state", source.file.display());
    };
    let world = state.map(|state| state.world(source, pipeline, start)).transpose()?;
    Ok((world.unwrap_or_default(), start))
}

/// A scenario, ready to be played.
pub(crate) struct Story {
    file: PathBuf,
    text: String,
    scenario: Scenario,
    pipeline: Pipeline,
    world: World,
    start: Timestamp,
    /// The time of each step.
    timeline: Vec<Timestamp>,
    until: Timestamp,
}

impl Scenario {
    /// The times of the steps. Without a beginning, of those up to the first that needs one.
    fn timeline(&self, source: &Source<'_>, start: Option<Timestamp>) -> Result<Vec<Timestamp>> {
        let mut times = Vec::with_capacity(self.steps.len());
        let mut last = start;
        for step in &self.steps {
            let place = step.value.at.referenced;
            if last.is_none() && step.value.at.value.is_relative() {
                break;
            }
            let time = source.at(place, step.value.at.value.after(last))?;
            if let Some(earlier) = last.filter(|last| time < *last) {
                let words = format!("`{time}` is before `{earlier}`: write the steps in the order of their times");
                return Err(source.error(place, words));
            }
            last = Some(time);
            times.push(time);
        }
        Ok(times)
    }
}
