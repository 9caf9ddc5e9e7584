//! `weir install`: Weir's kinds, rights and Deployment, on a cluster.

use anyhow::{Context as _, Result};
use weir_kube::install::{Installed, client, install, manifests};

use crate::output;

const EXAMPLE: &str = "\
Examples:
  weir install --dry-run                           see what would change
  weir install --export > weir.yaml                put it into Git instead
  weir install --context hub --image registry.example.org/weir:0.1.0";

/// Put Weir's kinds, rights and Deployment on a cluster
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Install {
    /// The context of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The image that the Deployment runs. Without it there is no Deployment, and `weir serve` runs somewhere else
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Ask the API server what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the manifests, and ask no cluster
    #[arg(long, conflicts_with_all = ["dry_run", "context"])]
    export: bool,
}

impl Install {
    pub(super) fn run(self) -> Result<()> {
        if self.export {
            return output::data(&manifests(self.image.as_deref()).join("---\n"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.context("starting the runtime failed")?.block_on(self.install())
    }

    async fn install(self) -> Result<()> {
        let client = client(self.context.as_deref()).await?;
        let would = if self.dry_run { "would be " } else { "" };
        let told = |object: &str, installed: Installed| match installed {
            Installed::Created => output::say(format_args!("{object} {would}created")),
            Installed::Changed => output::say(format_args!("{object} {would}changed")),
            Installed::Unchanged => output::say(format_args!("{object} unchanged")),
            Installed::Left => output::say(format_args!("{object} is there already, and is left as it is")),
        };
        install(&client, self.image.as_deref(), self.dry_run, told).await?;
        if !self.dry_run {
            output::say("all kinds are served");
        }
        if self.image.is_none() {
            output::say("no Deployment: run `weir serve` with a kubeconfig, or give it an image with --image");
        }
        Ok(())
    }
}
