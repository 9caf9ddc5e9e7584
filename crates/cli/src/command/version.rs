//! `weir version`: which Weir is this?

use anyhow::Result;
use serde::Serialize;

use crate::output::Output;

const EXAMPLE: &str = "\
Example:
  weir version -o json";

/// Print the version
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Version {
    #[command(flatten)]
    output: Output,
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    /// Known if `WEIR_COMMIT` was set when the program was built.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
}

impl Version {
    pub(super) fn run(self) -> Result<()> {
        let report = Report { version: env!("CARGO_PKG_VERSION"), commit: option_env!("WEIR_COMMIT") };
        self.output.print(&report, |report| {
            let commit = report.commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
            format!("weir {}{commit}\n", report.version)
        })
    }
}
