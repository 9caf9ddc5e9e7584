//! What changes something on the forge, and can be repeated.

use reqwest::{Method, StatusCode};
use serde_json::json;
use weir_core::CommitId;
use weir_ports::{ForgeError, PullRequest, Shown, Wanted};

use super::{
    Gitea,
    form::{Label, Pull},
    pages::Pages,
    seen::CONTEXT,
};
use crate::http::cut;

/// The longest title that the forge keeps as it is.
const TITLE: usize = 250;

/// The longest sentence that it shows in one line.
const SENTENCE: usize = 255;

const COLOUR: &str = "#1d6fa5";

impl Gitea<'_> {
    /// Has an open pull request that says this.
    pub(crate) async fn ensure(&self, wanted: &Wanted) -> Result<PullRequest, ForgeError> {
        let doing = "opening a pull request";
        let mut found = self.lookup(doing, &wanted.between, &wanted.once).await?;
        let mut created = None;
        if found.is_none() {
            created = self.create(doing, wanted).await?;
            created = match created {
                Some(created) => Some(self.only(doing, created, wanted).await?),
                None => None,
            };
        }
        if found.is_none() && created.is_none() {
            // Somebody else was faster.
            found = self.lookup(doing, &wanted.between, &wanted.once).await?;
        }
        let pull = match (created, found) {
            (Some(created), _) => created,
            (None, Some(found)) => self.change(doing, found, wanted).await?,
            (None, None) => {
                let reason = "the forge knows a pull request that it does not show".to_owned();
                return Err(self.client.unreachable(doing, reason));
            }
        };
        if let Some(label) = &wanted.label
            && let Err(error) = self.label(doing, &pull, label).await
        {
            tracing::debug!(%error, label, "the pull request gets no label");
        }
        self.seen(doing, pull).await
    }

    /// Opens a pull request. `None`: one is open already.
    async fn create(&self, doing: &'static str, wanted: &Wanted) -> Result<Option<Pull>, ForgeError> {
        let (head, base) = (wanted.between.head.as_str(), wanted.between.base.as_str());
        let body = json!({ "head": head, "base": base, "title": title(wanted), "body": wanted.body });
        let answer = self.send(doing, Method::POST, &["pulls"], &body).await?;
        match answer.status {
            StatusCode::CONFLICT => Ok(None),
            StatusCode::NOT_FOUND => {
                self.check_repository(doing).await?;
                let reason = format!("there is no branch `{head}`, or no branch `{base}`");
                Err(ForgeError::Refused { forge: self.client.name().to_owned(), doing, reason })
            }
            _ => {
                let pull: Pull = self.read(doing, &answer).await?;
                self.memory.see(self.repository(), &pull);
                Ok(Some(pull))
            }
        }
    }

    /// Gives way to the one that somebody else opened in the same moment, if that is older. What is left of ours does
    /// not say that it is ours: it was never reviewed, and its end means nothing.
    async fn only(&self, doing: &'static str, created: Pull, wanted: &Wanted) -> Result<Pull, ForgeError> {
        let first = self.open(doing, &wanted.between).await?.filter(|first| first.number < created.number);
        let Some(first) = first else { return Ok(created) };
        let body = json!({ "state": "closed", "body": format!("Opened twice at once: see #{}.", first.number) });
        let answer = self.send(doing, Method::PATCH, &["pulls", &created.number.to_string()], &body).await?;
        let closed: Pull = self.read(doing, &answer).await?;
        self.memory.see(self.repository(), &closed);
        self.memory.see(self.repository(), &first);
        self.change(doing, first, wanted).await
    }

    /// Has an open pull request say what is wanted. Whoever ended one is not overruled.
    async fn change(&self, doing: &'static str, pull: Pull, wanted: &Wanted) -> Result<Pull, ForgeError> {
        if !pull.is_open() {
            return Err(self.moved(&pull.number.to_string()));
        }
        let title = title(wanted);
        if pull.title == title && same(&pull.body, &wanted.body) {
            return Ok(pull);
        }
        let body = json!({ "title": title, "body": wanted.body });
        let answer = self.send(doing, Method::PATCH, &["pulls", &pull.number.to_string()], &body).await?;
        let pull: Pull = self.read(doing, &answer).await?;
        self.memory.see(self.repository(), &pull);
        if pull.is_open() { Ok(pull) } else { Err(self.moved(&pull.number.to_string())) }
    }

    async fn label(&self, doing: &'static str, pull: &Pull, name: &str) -> Result<(), ForgeError> {
        if pull.labels.iter().any(|label| label.name == name) {
            return Ok(());
        }
        let mut pages = Pages::new(self, doing, &["labels"], &[]);
        let mut found = None;
        while let Some(page) = pages.next::<Label>().await? {
            found = found.or(page.into_iter().find(|label| label.name == name));
        }
        let label = if let Some(label) = found {
            label
        } else {
            let body = json!({ "name": name, "color": COLOUR, "description": "Promoted by Weir" });
            let answer = self.send(doing, Method::POST, &["labels"], &body).await?;
            self.read(doing, &answer).await?
        };
        let body = json!({ "labels": [label.id] });
        let path = ["issues", &pull.number.to_string(), "labels"];
        let answer = self.send(doing, Method::POST, &path, &body).await?;
        self.read::<serde_json::Value>(doing, &answer).await.map(drop)
    }

    /// Shows beside a commit what holds it, unless it stands there already.
    pub(crate) async fn show(&self, commit: &CommitId, shown: &Shown) -> Result<(), ForgeError> {
        let doing = "showing what holds a commit";
        let state = if shown.open { "success" } else { "pending" };
        let sentence = cut(&shown.sentence, SENTENCE);
        let url = shown.url.as_deref().unwrap_or_default();
        let known = self.statuses(doing, commit).await?;
        let own = known.iter().find(|it| it.context == CONTEXT);
        if own.is_some_and(|own| own.says == state && own.description == sentence && own.target_url == url) {
            return Ok(());
        }
        let body = json!({ "context": CONTEXT, "state": state, "description": sentence, "target_url": url });
        let answer = self.send(doing, Method::POST, &["statuses", commit.as_str()], &body).await?;
        self.read::<serde_json::Value>(doing, &answer).await.map(drop)
    }
}

fn title(wanted: &Wanted) -> String {
    cut(wanted.title.trim(), TITLE)
}

/// Whether two texts are the same but for how lines end.
fn same(one: &str, other: &str) -> bool {
    one.trim_end().lines().eq(other.trim_end().lines())
}
