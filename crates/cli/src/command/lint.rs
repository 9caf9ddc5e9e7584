//! `weir lint`: are these manifests valid?

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Serialize;
use weir_api::{ManifestError, Object};

use crate::{
    files,
    output::{self, Output, count},
};

const EXAMPLE: &str = "\
Example:
  weir lint pipelines/ freeze.yaml";

/// Check manifests: syntax, schema, rules, and what only Weir can check
///
/// Every error is told with file, line, column and field, as a cluster with Weir's definitions would refuse it, without
/// a cluster. Objects of kinds that Weir does not define are skipped, and counted.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Lint {
    /// Files, and folders to look through for *.yaml and *.yml; `-` is stdin
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
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
            let (manifests, errors) = weir_api::read(&file.display().to_string(), &files::text(&file)?);
            let skipped = manifests.iter().filter(|it| matches!(it.object, Object::Other { .. })).count();
            report.skipped += skipped;
            report.objects += manifests.len() - skipped;
            lines.extend(errors.iter().map(ToString::to_string));
            report.findings.extend(errors.into_iter().map(finding));
        }
        lines.iter().for_each(output::say);
        self.output.print(&report, |_| String::new())?;
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

fn finding(error: ManifestError) -> Finding {
    let ManifestError { file, line, column, path, found, message } = error;
    Finding { file, line, column, path, found, message }
}
