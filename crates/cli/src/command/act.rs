//! `weir promote`, `approve`, `reject`, `suspend`, `resume`: what people do with pipelines.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use weir_core::{EnvironmentName, PipelineKey};

use crate::{
    output,
    remote::{Server, because, environment_path, pipeline, pipeline_path, text, wait, watch},
};

/// Where something is done, and why.
#[derive(Args)]
struct Place {
    /// The pipeline: NAMESPACE/NAME, or NAME in the namespace `default`
    #[arg(value_parser = pipeline)]
    pipeline: PipelineKey,
    /// The environment that is entered
    environment: EnvironmentName,
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    server: Server,
}

/// Ask for a release in an environment
///
/// What a person asks for may go back to an older release, and is never overtaken by an automatic promotion. Gates,
/// freezes and reviews count for it as for any other.
#[derive(Args)]
#[command(after_help = "Example:\n  weir promote podinfo prod 6.2.0 --why \"the fix for the outage\" --watch")]
pub(crate) struct Promote {
    #[command(flatten)]
    place: Place,
    /// The version: 6.2.0, or HelmRelease/a=1.0,HelmRelease/b=2.0 where several workloads go together
    version: String,
    /// Stay and tell how it goes on, until it runs everywhere or has failed
    #[arg(short, long)]
    watch: bool,
}

/// Agree to a release that waits for approval
#[derive(Args)]
#[command(after_help = "Example:\n  weir approve podinfo prod --watch")]
pub(crate) struct Approve {
    #[command(flatten)]
    place: Place,
    /// The version that is agreed to. Default: the one that is on its way
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Stay and tell how it goes on, until it runs everywhere or has failed
    #[arg(short, long)]
    watch: bool,
}

/// Say that a release shall not go on
///
/// Its proposal is closed, and it does not come again by itself. A newer release is not concerned.
#[derive(Args)]
#[command(after_help = "Example:\n  weir reject podinfo prod --why \"it loses orders\"")]
pub(crate) struct Reject {
    #[command(flatten)]
    place: Place,
}

/// Stop a pipeline
///
/// Nothing is written to Git for it until it is resumed, except that proposals are closed.
#[derive(Args)]
#[command(after_help = "Example:\n  weir suspend podinfo --why \"the database moves\"")]
pub(crate) struct Suspend {
    #[command(flatten)]
    whole: Whole,
}

/// Let a suspended pipeline go on
#[derive(Args)]
#[command(after_help = "Example:\n  weir resume podinfo")]
pub(crate) struct Resume {
    #[command(flatten)]
    whole: Whole,
}

#[derive(Args)]
struct Whole {
    /// The pipeline: NAMESPACE/NAME, or NAME in the namespace `default`
    #[arg(value_parser = pipeline)]
    pipeline: PipelineKey,
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    server: Server,
}

impl Place {
    /// Does it, tells what came of it, and stays if that is wanted.
    fn act(&self, verb: &str, body: &Value, done: &str, stay: bool) -> Result<()> {
        let client = self.server.client()?;
        wait(async {
            let path = format!("{}/{verb}", environment_path(&self.pipeline, &self.environment));
            let promotion: Value = client.post(&path, body).await?;
            let release = body.get("version").map_or_else(|| text(&promotion, "/release/name"), |it| text(it, ""));
            output::say(format_args!("{release} {done} {} of {}", self.environment, self.pipeline));
            if stay { watch(&client, &self.pipeline, &self.environment).await } else { Ok(()) }
        })
    }

    fn body(&self) -> Value {
        because(self.why.as_deref())
    }
}

impl Promote {
    pub(super) fn run(self) -> Result<()> {
        let mut body = self.place.body();
        body["version"] = json!(self.version);
        self.place.act("promote", &body, "is asked for in", self.watch)
    }
}

impl Approve {
    pub(super) fn run(self) -> Result<()> {
        let mut body = self.place.body();
        if let Some(version) = &self.version {
            body["version"] = json!(version);
        }
        self.place.act("approve", &body, "is approved for", self.watch)
    }
}

impl Reject {
    pub(super) fn run(self) -> Result<()> {
        self.place.act("reject", &self.place.body(), "is rejected for", false)
    }
}

impl Whole {
    fn act(&self, verb: &str, done: &str) -> Result<()> {
        let client = self.server.client()?;
        let path = format!("{}/{verb}", pipeline_path(&self.pipeline));
        wait(client.post::<Value>(&path, &because(self.why.as_deref())))?;
        output::say(format_args!("{} {done}", self.pipeline));
        Ok(())
    }
}

impl Suspend {
    pub(super) fn run(self) -> Result<()> {
        self.whole.act("suspend", "is suspended")
    }
}

impl Resume {
    pub(super) fn run(self) -> Result<()> {
        self.whole.act("resume", "goes on")
    }
}
