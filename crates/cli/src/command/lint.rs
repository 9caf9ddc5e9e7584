//! `weir lint`: are these manifests valid?

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use serde::Serialize;
use weir_api::{Defined, Manifest, ManifestError, Object, Place, twice};

use crate::{
    document::{self, Located, Source},
    files,
    manifests::{self, Contents},
    output::{self, Format, Output, count},
    scenario,
    state::State,
};

const EXAMPLE: &str = "\
Example:
  weir lint pipelines/ freeze.yaml";

/// Check manifests: syntax, schema, rules, and what only Weir can check
///
/// States and Scenarios are checked, too. Every error is told with file, line, column and field, as a cluster with Weir's definitions would refuse it, without
/// a cluster. Objects of kinds that Weir does not define are skipped, and counted; so are files in a folder that hold no
/// objects at all, such as values of a chart.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Lint {
    /// Files, and folders to look through for *.yaml and *.yml; `-` is stdin
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    /// Print the findings on stdout, too
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Report {
    files: usize,
    objects: usize,
    skipped: usize,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    file: String,
    line: usize,
    column: usize,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, path, found, message } = self;
        write!(f, "{file}:{line}:{column}: ")?;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        if let Some(found) = found {
            write!(f, "found `{found}`, ")?;
        }
        f.write_str(message)
    }
}

impl Lint {
    pub(super) fn run(self) -> Result<()> {
        let mut report = Report::default();
        let mut pipelines = Defined::default();
        for file in files::yaml(&self.paths)? {
            report.files += 1;
            match files::text(&file) {
                Ok(text) => self.check(&Source { file: &file, text: &text }, &mut report, &mut pipelines)?,
                Err(error) => report.findings.push(located(error.downcast()?)),
            }
        }
        report.findings.iter().for_each(output::say);
        if let Some(format) = self.output {
            Output::of(format).print(&report, table)?;
        }
        let checked = format!(
            "{}, {} valid, {} of other kinds skipped",
            count(report.files, "file"),
            count(report.objects, "object"),
            report.skipped
        );
        if !report.findings.is_empty() {
            bail!("{} in {checked}", count(report.findings.len(), "finding"));
        }
        output::say(checked);
        Ok(())
    }
}

impl Lint {
    /// Checks what one file holds.
    fn check(&self, source: &Source<'_>, report: &mut Report, pipelines: &mut Defined) -> Result<()> {
        let Contents { manifests, errors, strangers } = manifests::read(&self.paths, source.file, source.text);
        let others = manifests.iter().filter(|it| matches!(it.object, Object::Other { .. })).count();
        let ours: Vec<_> = manifests.iter().filter(|it| is_ours(&it.object)).collect();
        let wrong = if ours.is_empty() { Vec::new() } else { check_ours(source, &ours)? };
        // The pipeline beside a scenario is part of its story.
        let mut own = Defined::default();
        let known = if ours.iter().any(|it| is_kind(&it.object, "Scenario")) { &mut own } else { pipelines };
        let again = twice(&source.file.display().to_string(), &manifests, known);
        report.skipped += strangers + others - ours.len();
        report.objects += (manifests.len() - others + ours.len()).saturating_sub(wrong.len() + again.len());
        report.findings.extend(errors.into_iter().map(finding));
        report.findings.extend(wrong.into_iter().map(located));
        report.findings.extend(again.into_iter().map(finding));
        Ok(())
    }
}

/// Whether it is one of the documents that are no kind of Kubernetes, or means to be: a State or a Scenario.
fn is_ours(object: &Object) -> bool {
    matches!(object, Object::Other { api_version, .. } if api_version.starts_with(document::GROUP))
}

fn is_kind(object: &Object, wanted: &str) -> bool {
    matches!(object, Object::Other { kind, .. } if kind == wanted)
}

/// What is wrong with the states and scenarios of a file, as far as the file alone tells.
fn check_ours(source: &Source<'_>, ours: &[&Manifest]) -> Result<Vec<Located>> {
    let state = source.find::<State>("State").and_then(|state| state.map_or(Ok(()), |state| state.check(source)));
    let errors = state.err().into_iter().chain(scenario::check(source));
    let mut wrong: Vec<Located> = errors.map(anyhow::Error::downcast).collect::<Result<_, _>>()?;
    let is_known = |object: &Object| is_kind(object, "State") || is_kind(object, "Scenario");
    for Manifest { place, object } in ours.iter().filter(|it| !is_known(&it.object)) {
        if let Object::Other { kind, .. } = object {
            let message = format!("kind: found `{kind}`, allowed `State`, `Scenario`");
            wrong.push(found_at(source.file, *place, message));
        }
    }
    Ok(wrong)
}

fn found_at(file: &Path, place: Place, message: String) -> Located {
    Located { file: file.display().to_string(), line: place.line as u64, column: place.column as u64, message }
}

fn located(error: Located) -> Finding {
    let Located { file, line, column, message } = error;
    let number = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    Finding { file, line: number(line), column: number(column), path: String::new(), found: None, message }
}

fn table(report: &Report) -> String {
    let rows = report.findings.iter().map(|it| {
        let place = format!("{}:{}:{}", it.file, it.line, it.column);
        vec![place, it.path.clone(), it.found.clone().unwrap_or_default(), it.message.clone()]
    });
    output::table(&["PLACE", "FIELD", "FOUND", "MESSAGE"], rows)
}

fn finding(error: ManifestError) -> Finding {
    let ManifestError { file, line, column, path, found, message } = error;
    Finding { file, line, column, path, found, message }
}
