//! `weir explain`: why is it not further?

use anyhow::Result;
use weir_core::EnvironmentName;

use super::question::Question;
use crate::output::Output;

const EXAMPLE: &str = "\
Example:
  weir explain -f pipeline.yaml --state state.yaml prod";

/// Explain why a release is, or is not, promoted into an environment
///
/// Lists everything that holds it, most binding first, with what would release it; then the gates that are open; then
/// how the targets of the environment stand.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE, allow_missing_positional = true)]
pub(crate) struct Explain {
    #[command(flatten)]
    question: Question,
    /// The pipeline, if the files define several: NAMESPACE/NAME or NAME
    pipeline: Option<String>,
    /// The environment that it is about
    #[arg(required = true)]
    environment: EnvironmentName,
    #[command(flatten)]
    output: Output,
}

impl Explain {
    pub(super) fn run(self) -> Result<()> {
        let Self { question, pipeline, environment, output } = self;
        let matter = question.read(pipeline.as_deref())?;
        matter.pipeline.environment_named(&environment)?;
        let explanation = weir_core::explain(&matter.pipeline, &matter.snapshot, &environment, matter.at);
        output.print(&explanation, |found| found.as_ref().map(ToString::to_string).unwrap_or_default())
    }
}
