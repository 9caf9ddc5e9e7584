//! A pull request is closed, with a note that says why.

use reqwest::Method;
use serde_json::{Value, json};
use weir_ports::ForgeError;

use super::{Gitea, form::Event};

/// Among how many of the last notes one is looked for that stands there already.
const LAST: usize = 20;

impl Gitea<'_> {
    /// Closes a pull request with a note beneath it, unless it is over.
    ///
    /// The note comes first, so that nobody finds it closed without a reason. Whoever repeats this after it was broken off
    /// in between finds the note and writes no second one.
    pub(crate) async fn close(&self, id: &str, note: &str) -> Result<(), ForgeError> {
        let doing = "closing a pull request";
        let Ok(number) = id.parse() else { return Ok(()) };
        let Some(pull) = self.pull(doing, number).await?.filter(super::form::Pull::is_open) else { return Ok(()) };
        if !note.trim().is_empty() && !self.says(doing, id, note).await? {
            let body = json!({ "body": note });
            let answer = self.send(doing, Method::POST, &["issues", id, "comments"], &body).await?;
            self.read::<Value>(doing, &answer).await?;
        }
        let answer = self.send(doing, Method::PATCH, &["pulls", id], &json!({ "state": "closed" })).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        let over = self.pull(doing, pull.number).await?.is_none_or(|now| !now.is_open());
        if over { Ok(()) } else { Err(self.fault(doing, &answer).await) }
    }

    /// Whether one of the last notes says this.
    async fn says(&self, doing: &'static str, id: &str, note: &str) -> Result<bool, ForgeError> {
        let answer = self.get(doing, &["issues", id, "comments"], &[]).await?;
        let notes: Vec<Event> = self.read(doing, &answer).await?;
        Ok(notes.iter().rev().take(LAST).any(|known| known.body.trim() == note.trim()))
    }
}
