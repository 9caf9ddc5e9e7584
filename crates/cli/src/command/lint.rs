//! `weir lint`: are these manifests valid?

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Serialize;
use weir_api::{ManifestError, Object};

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

impl Lint {
    pub(super) fn run(self) -> Result<()> {
        let mut report = Report::default();
        let mut lines = Vec::new();
        for file in files::yaml(&self.paths)? {
            report.files += 1;
            let text = files::text(&file)?;
            let Contents { manifests, errors, strangers } = manifests::read(&self.paths, &file, &text);
            let skipped = manifests.iter().filter(|it| matches!(it.object, Object::Other { .. })).count();
            report.skipped += skipped + strangers;
            report.objects += manifests.len() - skipped;
            lines.extend(errors.iter().map(ToString::to_string));
            report.findings.extend(errors.into_iter().map(finding));
            let ours = manifests.iter().filter(|it| is_ours(&it.object)).count();
            if ours > 0 {
                let wrong = check_ours(&Source { file: &file, text: &text })?;
                lines.extend(wrong.iter().map(ToString::to_string));
                report.skipped -= ours;
                report.objects += ours.saturating_sub(wrong.len());
                report.findings.extend(wrong.into_iter().map(located));
            }
        }
        lines.iter().for_each(output::say);
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

/// Whether it is one of the documents that are no kind of Kubernetes: a State or a Scenario.
fn is_ours(object: &Object) -> bool {
    matches!(object, Object::Other { api_version, kind, .. }
        if api_version == document::VERSION && matches!(kind.as_str(), "State" | "Scenario"))
}

/// What is wrong with the states and scenarios of a file, as far as the file alone tells.
fn check_ours(source: &Source<'_>) -> Result<Vec<Located>> {
    let checks = [source.find::<State>("State").map(drop), scenario::check(source)];
    checks.into_iter().filter_map(Result::err).map(anyhow::Error::downcast).collect()
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
