//! `weir completion`: the shell completes commands and options.

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::output;

const EXAMPLE: &str = "\
Examples:
  weir completion bash > /etc/bash_completion.d/weir
  weir completion zsh > \"${fpath[1]}/_weir\"
  weir completion fish > ~/.config/fish/completions/weir.fish";

/// Print the completion script of a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Completion {
    shell: Shell,
}

impl Completion {
    pub(super) fn run(self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Weir::command(), "weir", &mut script);
        output::data(&String::from_utf8(script).context("making the script failed")?)
    }
}
