//! `weir promote`, `approve`, `reject`, `suspend`, `resume`: what people do with pipelines.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use weir_core::{EnvironmentName, PipelineKey};

use super::explain;
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
    /// Do nothing; tell what would come of it
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: Server,
}

/// Ask for a release in an environment
///
/// What a person asks for may go back to an older release, and is never overtaken by an automatic promotion. Gates,
/// freezes and reviews count for it as for any other.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  weir promote podinfo prod 6.2.0 --why \"the fix for the outage\" --watch\n  weir promote podinfo prod 6.1.0 --dry-run"
)]
pub(crate) struct Promote {
    #[command(flatten)]
    place: Place,
    /// The version: 6.2.0, or HelmRelease/a=1.0,HelmRelease/b=2.0 where several workloads go together
    version: String,
    /// Stay and tell how it goes on, until it runs everywhere or has failed
    #[arg(short, long, conflicts_with = "dry_run")]
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
    #[arg(short, long, conflicts_with = "dry_run")]
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
    /// The version that is rejected, if it is still on its way. Default: whatever is
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
}

/// Stop a pipeline
///
/// Nothing is written to Git for it until it is resumed, except that the proposal of what is no longer wanted is closed.
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
        let place = environment_path(&self.pipeline, &self.environment);
        if self.dry_run {
            let version = body.get("version").map(|version| ("version", text(version, "")));
            let query: Vec<_> = [("deed", verb.to_owned())].into_iter().chain(version).collect();
            let preview: Value = wait(client.get(&format!("{place}/preview"), &query))?;
            return output::data(&would(&preview));
        }
        wait(async {
            let path = format!("{place}/{verb}");
            let promotion: Value = client.post(&path, body).await?;
            let release = body.get("version").map_or_else(|| text(&promotion, "/release/name"), |it| text(it, ""));
            output::say(format_args!("{release} {done} {} of {}", self.environment, self.pipeline));
            if stay { watch(&client, &self.pipeline, &self.environment).await } else { Ok(()) }
        })
    }

    fn about(&self, version: Option<&str>) -> Value {
        let mut body = because(self.why.as_deref());
        if let Some(version) = version {
            body["version"] = json!(version);
        }
        body
    }
}

/// What would come of it: how it stands to what is there, what is done, and how it stands after that.
fn would(preview: &Value) -> String {
    let lines = |name: &str| preview.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut words = "Nothing is done. If it were, and nothing went wrong:\n".to_owned();
    for note in lines("notes") {
        let _ = writeln!(words, "  · {}", text(note, ""));
    }
    for step in lines("steps") {
        let _ = writeln!(words, "  › Weir {}", text(step, ""));
    }
    words + &preview.get("then").map(explain::told).unwrap_or_default()
}

impl Promote {
    pub(super) fn run(self) -> Result<()> {
        let body = self.place.about(Some(&self.version));
        self.place.act("promote", &body, "is asked for in", self.watch)
    }
}

impl Approve {
    pub(super) fn run(self) -> Result<()> {
        let body = self.place.about(self.version.as_deref());
        self.place.act("approve", &body, "is approved for", self.watch)
    }
}

impl Reject {
    pub(super) fn run(self) -> Result<()> {
        let body = self.place.about(self.version.as_deref());
        self.place.act("reject", &body, "is rejected for", false)
    }
}

impl Whole {
    /// Does it, and tells what came of it, by how the pipeline is then.
    fn act(&self, verb: &str, done: impl FnOnce(&Value) -> &'static str) -> Result<()> {
        let client = self.server.client()?;
        let path = pipeline_path(&self.pipeline);
        let found: Value = wait(async {
            client.post::<Value>(&format!("{path}/{verb}"), &because(self.why.as_deref())).await?;
            // Whoever may pause it need not be allowed to look at it.
            Ok(client.get(&path, &[]).await.unwrap_or_default())
        })?;
        output::say(format_args!("{} {}", self.pipeline, done(&found)));
        Ok(())
    }
}

impl Suspend {
    pub(super) fn run(self) -> Result<()> {
        self.whole.act("suspend", |_| "is suspended")
    }
}

impl Resume {
    pub(super) fn run(self) -> Result<()> {
        let by_definition = |it: &Value| it.pointer("/suspendedByDefinition").and_then(Value::as_bool) == Some(true);
        self.whole.act(
            "resume",
            |it| {
                if by_definition(it) { "stays suspended: its definition says so" } else { "goes on" }
            },
        )
    }
}
