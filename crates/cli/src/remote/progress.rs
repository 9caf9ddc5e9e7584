//! The way of a release into an environment, told as it goes.

use anyhow::{Result, bail};
use serde_json::Value;
use weir_core::{EnvironmentName, PipelineKey};

use super::{Client, environment_path, follow::Follow, text};
use crate::output;

/// Tells how the newest promotion into an environment goes on, until it is over. A failure is an error.
pub(crate) async fn watch(client: &Client, pipeline: &PipelineKey, environment: &EnvironmentName) -> Result<()> {
    let path = environment_path(pipeline, environment);
    let mut follow = Follow::begin(client).await?;
    let mut told = String::new();
    loop {
        let found: Value = client.get(&path, &[]).await?;
        let promotion = found.get("promotion").cloned().unwrap_or_default();
        let now = line(&promotion);
        if now != told {
            output::say(&now);
            told = now;
        }
        let note = || {
            let history = promotion.get("history").and_then(Value::as_array);
            let note = history.and_then(|turns| turns.last()).map(|turn| text(turn, "/note")).unwrap_or_default();
            if note.is_empty() { "it is over".to_owned() } else { note }
        };
        match text(&promotion, "/phase").as_str() {
            "Succeeded" => return Ok(()),
            "Pending" | "Proposed" | "Delivered" | "" => {}
            phase => bail!("{phase}: {}", note()),
        }
        follow.next().await?;
    }
}

fn line(promotion: &Value) -> String {
    let holds = promotion.get("holds").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let holds: Vec<_> = holds.iter().map(|hold| text(hold, "/sentence")).collect();
    let release = text(promotion, "/release/name");
    let phase = text(promotion, "/phase");
    match (phase.is_empty(), holds.is_empty()) {
        (true, _) => "nothing is on its way".to_owned(),
        (false, true) => format!("{release}: {phase}"),
        (false, false) => format!("{release}: {phase}, {}", holds.join("; ")),
    }
}
