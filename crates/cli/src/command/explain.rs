//! `weir explain`: why is it not further?

use anyhow::Result;
use weir_core::EnvironmentName;

use super::question::Question;
use crate::{naming, output::Output};

const EXAMPLE: &str = "\
Example:
  weir explain -f docs/examples/pipeline-pull-request.yaml --state docs/examples/state-podinfo.yaml prod";

/// Explain why a release is, or is not, promoted into an environment
///
/// Lists everything that holds it, most binding first, with what would release it; then the gates that are open; then
/// how the targets of the environment stand.
#[derive(clap::Args)]
#[command(
    after_help = EXAMPLE,
    override_usage = "weir explain [OPTIONS] --file <FILE> --state <FILE> [PIPELINE] <ENVIRONMENT>"
)]
pub(crate) struct Explain {
    #[command(flatten)]
    question: Question,
    /// The environment; before it, if the files define several, the pipeline: NAMESPACE/NAME or NAME
    #[arg(value_names = ["PIPELINE", "ENVIRONMENT"], num_args = 1..=2, required = true)]
    what: Vec<String>,
    #[command(flatten)]
    output: Output,
}

impl Explain {
    pub(super) fn run(self) -> Result<()> {
        let (pipeline, environment) = match self.what.as_slice() {
            [pipeline, environment] => (Some(pipeline.as_str()), environment.as_str()),
            [environment] => (None, environment.as_str()),
            _ => (None, ""),
        };
        let environment: EnvironmentName = environment.parse()?;
        let matter = self.question.read(pipeline)?;
        naming::environment(&matter.pipeline, &environment)?;
        let explanation = weir_core::explain(&matter.pipeline, &matter.snapshot, &environment, matter.at);
        self.output.print(&explanation, |found| found.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}
