//! `weir freeze` and `weir unfreeze`: a stop, with a reason and an end.

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};
use weir_core::Name;

use crate::{
    output,
    remote::{Server, text, wait},
};

const EXAMPLE: &str = "\
Examples:
  weir freeze --reason \"it is Friday\" --for 64h
  weir freeze --environment prod --reason holidays --until 2027-01-02T08:00:00Z
  weir freeze --release 6.2.0 --reason \"it loses orders\"";

/// Stop promotions, for a reason and a time
///
/// All of them, or those of a namespace, a pipeline, an environment or a release. While it lasts, nothing is written to Git for what it stops, except that proposals are closed.
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Freeze {
    /// Why. Everybody who is stopped reads it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// What it is called. Default: a name is made
    #[arg(long, value_name = "NAME")]
    name: Option<Name>,
    /// Only pipelines of this namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Only pipelines of this name
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// Only promotions into environments of this name
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Only this release: a quarantine
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// When it ends by itself. Default: when somebody lifts it
    #[arg(long, value_name = "TIME", conflicts_with = "lasts")]
    until: Option<jiff::Timestamp>,
    /// How long it lasts, such as 30m or 64h
    #[arg(long = "for", value_name = "DURATION", id = "lasts")]
    lasts: Option<String>,
    #[command(flatten)]
    server: Server,
}

/// Lift a freeze
#[derive(Args)]
#[command(after_help = "Example:\n  weir unfreeze friday")]
pub(crate) struct Unfreeze {
    /// What it is called
    name: Name,
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    server: Server,
}

impl Freeze {
    pub(super) fn run(self) -> Result<()> {
        let mut body = Map::from_iter([("reason".to_owned(), json!(self.reason))]);
        let given = [
            ("name", self.name.as_ref().map(ToString::to_string)),
            ("namespace", self.namespace),
            ("pipeline", self.pipeline),
            ("environment", self.environment),
            ("release", self.release),
            ("until", self.until.map(|until| until.to_string())),
            ("for", self.lasts),
        ];
        body.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))));
        let client = self.server.client()?;
        let made: Value = wait(client.post("/api/v1/freezes", &Value::Object(body)))?;
        let (name, until) = (text(&made, "/name"), text(&made, "/until"));
        let end = if until.is_empty() { format!("`weir unfreeze {name}` lifts it") } else { format!("until {until}") };
        output::say(format_args!("frozen as {name}: {end}"));
        if made.get("pipelines").and_then(Value::as_u64) == Some(0) {
            output::warn(
                "it stops nothing now: no pipeline, or no environment that something is promoted into, is called so",
            );
        }
        Ok(())
    }
}

impl Unfreeze {
    pub(super) fn run(self) -> Result<()> {
        let client = self.server.client()?;
        let why: Vec<_> = self.why.map(|why| ("why", why)).into_iter().collect();
        wait(client.delete(&format!("/api/v1/freezes/{}", self.name), &why))?;
        output::say(format_args!("{} is lifted", self.name));
        Ok(())
    }
}
