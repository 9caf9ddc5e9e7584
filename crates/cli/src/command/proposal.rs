//! `weir proposal`: reviews of changes that Weir keeps itself.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::{
    output::{self, Output, table},
    remote::{Client, Server, because, text, wait},
};

const EXAMPLE: &str = "\
Examples:
  weir proposal diff podinfo-prod-3
  weir proposal merge podinfo-prod-3";

/// Review a proposal that Weir keeps itself
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Proposal {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Show what it says, and what people said about it
    #[command(after_help = "Example:\n  weir proposal show podinfo-prod-3")]
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        output: Output,
    },
    /// Show what it changes, as a unified diff
    #[command(after_help = "Example:\n  weir proposal diff podinfo-prod-3")]
    Diff {
        #[command(flatten)]
        which: Which,
    },
    /// Say that it is fine as it is now
    #[command(after_help = "Example:\n  weir proposal approve podinfo-prod-3")]
    Approve {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        head: Head,
        #[command(flatten)]
        why: Why,
    },
    /// Say that it has to change
    #[command(after_help = "Example:\n  weir proposal request-changes podinfo-prod-3 --why \"not on a Friday\"")]
    RequestChanges {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        head: Head,
        #[command(flatten)]
        why: Why,
    },
    /// Write something beneath it
    #[command(after_help = "Example:\n  weir proposal comment podinfo-prod-3 \"after lunch, please\"")]
    Comment {
        #[command(flatten)]
        which: Which,
        /// What to write
        text: String,
    },
    /// Have it merged as it is now
    #[command(after_help = "Example:\n  weir proposal merge podinfo-prod-3")]
    Merge {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        head: Head,
        #[command(flatten)]
        why: Why,
    },
    /// Close it: its release is not wanted
    #[command(after_help = "Example:\n  weir proposal close podinfo-prod-3 --why \"it loses orders\"")]
    Close {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        head: Head,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Args)]
struct Which {
    /// Its name: NAMESPACE/NAME, or NAME in the namespace `default`
    name: String,
    #[command(flatten)]
    server: Server,
}

#[derive(Args)]
struct Head {
    /// The commit that was looked at, from its beginning. Default: the one that is proposed now
    #[arg(long, value_name = "COMMIT")]
    head: Option<String>,
}

#[derive(Args)]
struct Why {
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

impl Proposal {
    pub(super) fn run(self) -> Result<()> {
        match self.verb {
            Verb::Show { which, output } => {
                let found: Value = wait(which.server.client()?.get(&which.path(), &[]))?;
                output.print(&found, show)
            }
            Verb::Diff { which } => {
                let text = wait(which.server.client()?.text(&format!("{}/diff", which.path())))?;
                output::data(&output::diff(&text))
            }
            Verb::Approve { which, head, why } => which.review(&head, "approved", &why),
            Verb::RequestChanges { which, head, why } => which.review(&head, "changesRequested", &why),
            Verb::Comment { which, text } => {
                let path = format!("{}/comments", which.path());
                wait(which.server.client()?.post::<Value>(&path, &json!({ "body": text })))?;
                output::say("written");
                Ok(())
            }
            Verb::Merge { which, head, why } => which.merge(&head, &why),
            Verb::Close { which, head, why } => which.close(&head, &why),
        }
    }
}

impl Why {
    fn body(&self) -> Value {
        because(self.why.as_deref())
    }
}

impl Which {
    fn path(&self) -> String {
        let (namespace, name) = self.name.split_once('/').unwrap_or(("default", &self.name));
        format!("/api/v1/proposals/{namespace}/{name}")
    }

    /// The head that is proposed now, which has to be the one that was looked at.
    async fn head(&self, client: &Client, looked_at: &Head) -> Result<String> {
        let found: Value = client.get(&self.path(), &[]).await?;
        let head = text(&found, "/head");
        match &looked_at.head {
            Some(seen) if !head.starts_with(seen.as_str()) || seen.len() < 7 => {
                Err(anyhow!("{} is at `{head}` by now, not at `{seen}`; look at it again", self.name))
            }
            _ => Ok(head),
        }
    }

    fn review(&self, looked_at: &Head, verdict: &str, why: &Why) -> Result<()> {
        let client = self.server.client()?;
        wait(async {
            let head = self.head(&client, looked_at).await?;
            let mut body = why.body();
            body["verdict"] = json!(verdict);
            body["head"] = json!(head);
            client.post::<Value>(&format!("{}/reviews", self.path()), &body).await?;
            output::say(format_args!("{} is reviewed at {head}", self.name));
            Ok(())
        })
    }

    fn close(&self, looked_at: &Head, why: &Why) -> Result<()> {
        let client = self.server.client()?;
        wait(async {
            let mut body = why.body();
            body["head"] = json!(self.head(&client, looked_at).await?);
            client.post::<Value>(&format!("{}/close", self.path()), &body).await?;
            output::say(format_args!("{} is closed", self.name));
            Ok(())
        })
    }

    fn merge(&self, looked_at: &Head, why: &Why) -> Result<()> {
        let client = self.server.client()?;
        wait(async {
            let mut body = why.body();
            body["head"] = json!(self.head(&client, looked_at).await?);
            let merged: Value = client.post(&format!("{}/merge", self.path()), &body).await?;
            let hold = merged.pointer("/holds/0").map(|hold| text(hold, "/sentence"));
            output::say(match (text(&merged, "/state/name").as_str(), hold) {
                ("merged", _) => format!("{} is merged as {}", self.name, text(&merged, "/state/commit")),
                (_, Some(hold)) => format!("{} is not merged yet: {hold}; it will be when that is over", self.name),
                (_, None) => format!("{} will be merged; `weir proposal show` tells when", self.name),
            });
            Ok(())
        })
    }
}

fn show(found: &Value) -> String {
    let each = |pointer: &str| found.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let line = |name: &str, pointer: &str| format!("{name:<10} {}\n", text(found, pointer));
    let mut words = format!("{}\n\n", text(found, "/title"));
    words += &line("State", "/state/name");
    words += &line("Branch", "/branch");
    words += &line("Head", "/head");
    words += &line("Opened", "/opened");
    for hold in each("/holds") {
        let _ = writeln!(words, "{:<10} {}", "Hold", text(&hold, "/sentence"));
    }
    let edits = each("/edits");
    let row = |edit: &Value| vec![text(edit, "/file"), text(edit, "/before"), text(edit, "/after")];
    let _ = write!(words, "\n{}", table(&["FILE", "NOW", "THEN"], edits.iter().map(row)));
    for review in each("/reviews") {
        let _ = writeln!(words, "\n{} {}: {}", text(&review, "/at"), text(&review, "/by"), text(&review, "/verdict"));
        if review.get("why").is_some() {
            let _ = writeln!(words, "{}", text(&review, "/why"));
        }
    }
    for comment in each("/comments") {
        let _ = writeln!(words, "\n{} {}:\n{}", text(&comment, "/at"), text(&comment, "/by"), text(&comment, "/body"));
    }
    words
}
