//! A pull request is merged, at the head that was reviewed.

use reqwest::{Method, StatusCode};
use serde_json::json;
use weir_core::CommitId;
use weir_ports::ForgeError;

use super::Gitea;
use crate::http::Answer;

impl Gitea<'_> {
    /// Merges a pull request as the repository wants it, if this is still its head.
    pub(crate) async fn merge(&self, id: &str, head: &CommitId) -> Result<(), ForgeError> {
        let doing = "merging a pull request";
        let number: u64 = id.parse().map_err(|_| self.moved(id))?;
        let pull = self.pull(doing, number).await?.ok_or_else(|| self.moved(id))?;
        if pull.merged {
            return Ok(());
        }
        if !pull.is_open() || pull.head.sha != head.as_str() {
            return Err(self.moved(id));
        }
        let style = self.check_repository(doing).await?.default_merge_style;
        let style = style.filter(|style| !style.is_empty()).unwrap_or_else(|| "merge".to_owned());
        let body = json!({ "Do": style, "head_commit_id": head.as_str() });
        let answer = self.send(doing, Method::POST, &["pulls", id, "merge"], &body).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        // Somebody else may have been faster, and a forge may have done it and failed afterwards.
        let now = self.pull(doing, number).await?.ok_or_else(|| self.moved(id))?;
        if now.merged {
            return Ok(());
        }
        if !now.is_open() || now.head.sha != head.as_str() {
            return Err(self.moved(id));
        }
        Err(self.not_merged(doing, id, &answer).await)
    }

    /// Why a pull request that is as it was could not be merged.
    async fn not_merged(&self, doing: &'static str, id: &str, answer: &Answer) -> ForgeError {
        let words = answer.words();
        match answer.status {
            StatusCode::METHOD_NOT_ALLOWED if words.contains("try again later") => {
                let reason = "it has not found out whether this can be merged, or there is a conflict".to_owned();
                self.client.unreachable(doing, reason)
            }
            StatusCode::METHOD_NOT_ALLOWED if words.contains("not allowed to merge") => {
                ForgeError::Unauthorized { forge: self.client.name().to_owned(), doing, reason: words }
            }
            // Its head or its base moved in this very moment.
            StatusCode::CONFLICT if words.contains("out of date") => self.moved(id),
            _ => self.fault(doing, answer).await,
        }
    }
}
