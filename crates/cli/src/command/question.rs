//! What `plan` and `explain` are asked about: a pipeline, a state and a moment.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use jiff::Timestamp;
use weir_core::{Pipeline, Snapshot};

use crate::{
    definitions::Definitions,
    document::Source,
    files,
    state::State,
    time::{self, Time},
};

/// The options that say what it is about.
#[derive(clap::Args)]
pub(super) struct Question {
    /// File or folder with the Pipeline; Freezes beside it count. May be given more than once; `-` is stdin
    #[arg(short, long = "file", value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// File with the State: what runs where, what is under way, what is frozen
    #[arg(long, value_name = "FILE")]
    pub(super) state: PathBuf,
    /// The moment that it is about, such as 2026-11-13T14:30:00Z. Default: `at` of the state, or else now
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<Time>,
}

/// A question with everything that it takes to answer it.
pub(super) struct Matter {
    pub(super) pipeline: Pipeline,
    pub(super) snapshot: Snapshot,
    pub(super) at: Timestamp,
}

impl Question {
    /// Reads the files. Git is taken to declare what the state says, or else what runs.
    pub(super) fn read(&self, pipeline: Option<&str>) -> Result<Matter> {
        let stdin = Path::new("-");
        if self.state == stdin && self.files.iter().any(|file| file == stdin) {
            bail!("`-f -` and `--state -` both read stdin, which can be read only once: name a file for one of them");
        }
        let definitions = Definitions::load(&self.files)?;
        let pipeline = definitions.pipeline(pipeline)?.clone();
        let text = files::text(&self.state)?;
        let source = Source { file: &self.state, text: &text };
        let state: State = source.read("State")?;
        let at = self.at.or(state.at).map_or_else(time::now, Into::into);
        let mut world = state.world(&source, &pipeline, at)?;
        world.snapshot.freezes.extend(definitions.freezes);
        world.look(&pipeline, at)?;
        Ok(Matter { pipeline, snapshot: world.snapshot, at })
    }
}
