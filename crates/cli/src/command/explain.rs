//! `weir explain`: why is it not further?

use std::{fmt::Write as _, path::PathBuf};

use anyhow::{Result, anyhow};
use serde_json::Value;
use weir_core::EnvironmentName;

use super::question::Question;
use crate::{
    output::Output,
    remote::{Server, environment_path, pipeline, text, wait},
    time::Time,
};

const EXAMPLE: &str = "\
Examples:
  weir explain podinfo prod
  weir explain -f pipeline.yaml --state state.yaml prod";

/// Explain why a release is, or is not, promoted into an environment
///
/// Lists everything that holds it, most binding first, with what would release it; then the gates that are open; then
/// how the targets of the environment stand. Asks a server; with -f and --state it works on files alone.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE, allow_missing_positional = true)]
pub(crate) struct Explain {
    /// File or folder with the Pipeline; Freezes beside it count. May be given more than once; `-` is stdin
    #[arg(short, long = "file", value_name = "FILE", requires = "state")]
    files: Vec<PathBuf>,
    /// File with the State: what runs where, what is under way, what is frozen
    #[arg(long, value_name = "FILE", requires = "files")]
    state: Option<PathBuf>,
    /// The moment that it is about, such as 2026-11-13T14:30:00Z. Default: `at` of the state, or else now
    #[arg(long, value_name = "TIME", requires = "files")]
    at: Option<Time>,
    /// The pipeline: NAMESPACE/NAME or NAME. Not needed if the files define only one
    pipeline: Option<String>,
    /// The environment that it is about
    #[arg(required = true)]
    environment: EnvironmentName,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    output: Output,
}

impl Explain {
    pub(super) fn run(self) -> Result<()> {
        match self.state.clone() {
            Some(state) => self.by_files(state),
            None => self.by_server(),
        }
    }

    fn by_files(self, state: PathBuf) -> Result<()> {
        let question = Question { files: self.files, state, at: self.at };
        let matter = question.read(self.pipeline.as_deref())?;
        matter.pipeline.environment_named(&self.environment)?;
        let explanation = weir_core::explain(&matter.pipeline, &matter.snapshot, &self.environment, matter.at);
        self.output.print(&explanation, |found| found.as_ref().map(ToString::to_string).unwrap_or_default())
    }

    fn by_server(self) -> Result<()> {
        let named = self
            .pipeline
            .as_deref()
            .ok_or_else(|| anyhow!("which pipeline? write `weir explain PIPELINE ENVIRONMENT`"))?;
        let key = pipeline(named)?;
        let client = self.server.client()?;
        let path = format!("{}/explain", environment_path(&key, &self.environment));
        let found: Value = wait(client.get(&path, &[]))?;
        self.output.print(&found, told)
    }
}

/// What a server explains, in the form that it has for files.
pub(super) fn told(found: &Value) -> String {
    let reasons = found.get("reasons").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let width = reasons.iter().map(|reason| text(reason, "/name").chars().count()).max().unwrap_or_default();
    let mut words = format!("{}\n", text(found, "/headline"));
    for reason in reasons {
        let mark = match text(reason, "/weighs").as_str() {
            "against" => '✗',
            "for" => '✔',
            _ => '·',
        };
        let _ = writeln!(words, "  {mark} {:width$}  {}", text(reason, "/name"), text(reason, "/sentence"));
        let remedy = text(reason, "/remedy");
        if !remedy.is_empty() {
            let _ = writeln!(words, "    {:width$}  → {remedy}", "");
        }
    }
    let next = text(found, "/nextCheck");
    if !next.is_empty() {
        let _ = writeln!(words, "Next look: {next}");
    }
    words
}
