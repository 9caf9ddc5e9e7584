//! `weir export`: what Weir has to offer, as files.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result};
use clap::Subcommand;

use crate::output::{self, count};

const EXAMPLE: &str = "\
Example:
  weir export crds | kubectl apply --server-side -f -";

/// Print what Weir brings along, for Git or a cluster
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Export {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Crds(Crds),
}

/// The definitions of Weir's kinds (`CustomResourceDefinition`)
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
struct Crds {
    /// Write one file for each into this folder, instead of all to stdout
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self) -> Result<()> {
        let What::Crds(Crds { dir }) = self.what;
        let definitions = weir_api::crd_yaml();
        let Some(dir) = dir else {
            let texts: Vec<_> = definitions.into_iter().map(|(_, text)| text).collect();
            return output::data(&texts.join("---\n"));
        };
        fs::create_dir_all(&dir).with_context(|| format!("making folder `{}` failed", dir.display()))?;
        for (name, text) in &definitions {
            let path = dir.join(name);
            fs::write(&path, text).with_context(|| format!("writing `{}` failed", path.display()))?;
        }
        output::say(format_args!("wrote {} to {}", count(definitions.len(), "definition"), dir.display()));
        Ok(())
    }
}
