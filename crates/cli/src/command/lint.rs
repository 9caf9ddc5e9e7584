//! `weir lint`: are these manifests valid?

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Serialize;
use weir_api::{ManifestError, Object};

use crate::{
    files,
    output::{self, Format, Output, count},
};

const EXAMPLE: &str = "\
Example:
  weir lint pipelines/ freeze.yaml";

/// Check manifests: syntax, schema, rules, and what only Weir can check
///
/// Every error is told with file, line, column and field, as a cluster with Weir's definitions would refuse it, without
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
            let (manifests, mut errors) = weir_api::read(&file.display().to_string(), &files::text(&file)?);
            if !self.paths.contains(&file) {
                report.skipped += forgive_strangers(&mut errors);
            }
            let skipped = manifests.iter().filter(|it| matches!(it.object, Object::Other { .. })).count();
            report.skipped += skipped;
            report.objects += manifests.len() - skipped;
            lines.extend(errors.iter().map(ToString::to_string));
            report.findings.extend(errors.into_iter().map(finding));
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

/// Takes out what is wrong with documents that do not mean to be objects: they name neither version nor kind.
fn forgive_strangers(errors: &mut Vec<ManifestError>) -> usize {
    let lacks = |error: &ManifestError, field: &str| error.path == field && error.found.is_none();
    let place = |error: &ManifestError| (error.line, error.column);
    let lacking = |field: &str| errors.iter().filter(|error| lacks(error, field)).map(place).collect::<Vec<_>>();
    let (versions, kinds) = (lacking("apiVersion"), lacking("kind"));
    let strangers: Vec<_> = versions.into_iter().filter(|place| kinds.contains(place)).collect();
    errors.retain(|error| {
        let header = lacks(error, "apiVersion") || lacks(error, "kind");
        !(header && strangers.contains(&place(error)))
    });
    strangers.len()
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
