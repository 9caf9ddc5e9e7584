//! `weir backup`: a copy of everything that a server keeps, while it runs.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    output,
    remote::{Server, wait},
};

/// Write a copy of all that a server keeps
///
/// The server is on this machine, and goes on. The copy is one SQLite file. As `weir.db` in a data folder of its own, it is a server's state as it was. An existing
/// file is never overwritten.
#[derive(Args)]
#[command(after_help = "Example:\n  weir backup weir-2026-11-16.db")]
pub(crate) struct Backup {
    /// The file to write
    file: PathBuf,
    #[command(flatten)]
    server: Server,
}

impl Backup {
    pub(super) fn run(self) -> Result<()> {
        let file = std::path::absolute(&self.file)
            .with_context(|| format!("`{}` cannot be written to", self.file.display()))?;
        let client = self.server.client()?;
        wait(client.post::<Value>("/api/v1/backup", &json!({ "file": file })))?;
        output::say(format_args!("everything is in {}", self.file.display()));
        Ok(())
    }
}
