//! `weir events`: what changes, as it changes.

use anyhow::Result;
use clap::Args;
use serde_json::Value;

use crate::{
    output,
    remote::{Client, Follow, Server, Told, text, wait},
};

/// Show what is under way, and with --watch what changes from now on
#[derive(Args)]
#[command(after_help = "Example:\n  weir events --watch")]
pub(crate) struct Events {
    /// Stay, and tell what changes
    #[arg(short, long)]
    watch: bool,
    /// Only of this pipeline: NAMESPACE/NAME, or NAME in any namespace
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    #[command(flatten)]
    server: Server,
}

impl Events {
    pub(super) fn run(self) -> Result<()> {
        let client = self.server.client()?;
        wait(async {
            let mut follow = Follow::begin(&client).await?;
            let mut told = std::collections::BTreeMap::new();
            self.tell(&client, &mut told).await?;
            if !self.watch {
                return Ok(());
            }
            loop {
                match follow.next().await? {
                    Told::Change(change) if !self.concerns(&change) => {}
                    Told::Change(_) | Told::Reset => self.tell(&client, &mut told).await?,
                }
            }
        })
    }

    fn concerns(&self, change: &Value) -> bool {
        let Some(wanted) = &self.pipeline else { return true };
        let name = text(change, "/pipeline/name");
        name.is_empty() || *wanted == name || *wanted == format!("{}/{name}", text(change, "/pipeline/namespace"))
    }

    /// Tells every promotion that is not as it was told before.
    async fn tell(&self, client: &Client, told: &mut std::collections::BTreeMap<String, String>) -> Result<()> {
        let mut query = Vec::new();
        if let Some(wanted) = &self.pipeline {
            match wanted.split_once('/') {
                Some((namespace, name)) => {
                    query.extend([("namespace", namespace.to_owned()), ("pipeline", name.to_owned())]);
                }
                None => query.push(("pipeline", wanted.clone())),
            }
        }
        let mut promotions = client.list("/api/v1/promotions", &query, Some(100)).await?;
        promotions.reverse();
        for promotion in promotions {
            let name = format!("{}/{}", text(&promotion, "/namespace"), text(&promotion, "/name"));
            let line = line(&promotion);
            if told.get(&name) != Some(&line) {
                output::data(&format!("{line}\n"))?;
                told.insert(name, line);
            }
        }
        Ok(())
    }
}

fn line(promotion: &Value) -> String {
    let each = |field: &str| promotion.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let last = each("history").last().cloned().unwrap_or_default();
    let holds: Vec<_> = each("holds").iter().map(|hold| text(hold, "/sentence")).collect();
    let mut why = holds.join("; ");
    if why.is_empty() {
        why = text(&last, "/note");
    }
    let phase = text(promotion, "/phase");
    let (namespace, pipeline) = (text(promotion, "/pipeline/namespace"), text(promotion, "/pipeline/name"));
    let (environment, release) = (text(promotion, "/environment"), text(promotion, "/release/name"));
    let at = text(&last, "/at");
    format!("{at}  {namespace}/{pipeline}  {environment}  {release}  {phase}  {why}").trim_end().to_owned()
}
