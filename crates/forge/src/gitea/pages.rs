//! A list, page by page.

use serde::de::DeserializeOwned;
use weir_ports::ForgeError;

use super::Gitea;

/// How many entries a page has, at most. Servers may give fewer.
const LENGTH: &str = "50";

/// A list without an end is no list.
const MOST: u64 = 2_000;

/// A list, page by page.
pub(super) struct Pages<'a> {
    gitea: &'a Gitea<'a>,
    doing: &'static str,
    path: &'a [&'a str],
    query: &'a [(&'a str, &'a str)],
    page: u64,
    seen: u64,
    total: Option<u64>,
    changed: bool,
}

impl<'a> Pages<'a> {
    pub(super) fn new(
        gitea: &'a Gitea<'a>,
        doing: &'static str,
        path: &'a [&'a str],
        query: &'a [(&'a str, &'a str)],
    ) -> Self {
        Self { gitea, doing, path, query, page: 0, seen: 0, total: None, changed: false }
    }

    /// The next page. `None`: that was the last one.
    pub(super) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<Vec<T>>, ForgeError> {
        if self.page == MOST || self.page > 0 && self.total.is_some_and(|total| self.seen >= total) {
            return Ok(None);
        }
        self.page += 1;
        let page = self.page.to_string();
        let mut query = self.query.to_vec();
        query.extend([("limit", LENGTH), ("page", &page)]);
        let answer = self.gitea.get(self.doing, self.path, &query).await?;
        let entries: Vec<T> = self.gitea.read(self.doing, &answer).await?;
        self.changed |= self.page > 1 && self.total != answer.total;
        self.total = answer.total;
        self.seen += entries.len() as u64;
        Ok(Some(entries).filter(|entries| !entries.is_empty()))
    }

    /// Whether the list became longer or shorter between two pages, so that an entry may have slipped from one to the
    /// other.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }
}
