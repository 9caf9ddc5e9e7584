//! Gitea and Forgejo, which share their API.
//!
//! `find` looks for a pull request, `seen` finds out what there is to know about one, and `act` does what changes
//! something. They rest on `form` (what the forge says), `pages` (lists) and `memory` (what was learnt, so that less has
//! to be asked).

mod act;
mod close;
mod find;
mod form;
mod memory;
mod merge;
mod pages;
mod seen;

use std::collections::BTreeSet;

use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use weir_core::BranchName;
use weir_ports::{Between, ForgeError, PullRequest};

use crate::{
    address::Address,
    http::{Answer, Client},
};
use form::{Issue, Origin};
pub(crate) use memory::Memory;
use pages::Pages;

/// The path of the API below the forge's address.
pub(crate) const API: &str = "api/v1";

/// One repository on a Gitea or Forgejo.
pub(crate) struct Gitea<'a> {
    client: &'a Client,
    memory: &'a Memory,
    address: &'a Address,
    repository: String,
}

impl<'a> Gitea<'a> {
    pub(crate) fn new(client: &'a Client, memory: &'a Memory, address: &'a Address) -> Self {
        Self { client, memory, repository: address.repository(), address }
    }

    /// The pull request between two branches, whatever became of it.
    pub(crate) async fn find(&self, between: &Between) -> Result<Option<PullRequest>, ForgeError> {
        let doing = "looking for a pull request";
        match self.lookup(doing, between, &between.mark).await? {
            Some(pull) => Ok(Some(self.seen(doing, pull).await?)),
            None => Ok(None),
        }
    }

    /// The branches whose pull requests changed since then, or of which it is to be found out whether they can be merged.
    pub(crate) async fn changed(&self, since: Timestamp) -> Result<Vec<BranchName>, ForgeError> {
        let doing = "looking at pull requests";
        let mut branches: BTreeSet<BranchName> = self.memory.doubtful(self.repository());
        let since = since.to_string();
        let query = [("type", "pulls"), ("state", "all"), ("since", since.as_str())];
        let mut pages = Pages::new(self, doing, &["issues"], &query);
        while let Some(page) = pages.next::<Issue>().await? {
            for issue in page {
                let origin = match self.memory.origin(self.repository(), issue.number) {
                    Some(origin) => Some(origin),
                    None => self.pull(doing, issue.number).await?.map(|pull| pull.origin()),
                };
                if let Some(Origin::Here(branch)) = origin {
                    branches.insert(branch);
                }
            }
        }
        Ok(branches.into_iter().collect())
    }

    /// The repository as people name it.
    fn repository(&self) -> &str {
        &self.repository
    }

    /// Gets what is below the repository.
    async fn get(&self, doing: &'static str, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, ForgeError> {
        self.client.get(doing, &self.below(path), query).await
    }

    /// Sends something to a path below the repository.
    async fn send(
        &self,
        doing: &'static str,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> Result<Answer, ForgeError> {
        self.client.send(doing, method, &self.below(path), body).await
    }

    fn below<'p>(&'p self, path: &[&'p str]) -> Vec<&'p str> {
        let mut whole = vec!["repos", self.address.owner.as_str(), self.address.name.as_str()];
        whole.extend(path);
        whole
    }

    /// Reads an answer that says yes.
    async fn read<T: DeserializeOwned>(&self, doing: &'static str, answer: &Answer) -> Result<T, ForgeError> {
        if !answer.status.is_success() {
            return Err(self.fault(doing, answer).await);
        }
        answer.read().map_err(|error| self.client.unreadable(doing, error))
    }

    /// The error that an answer is. What is not there may be missing because the repository is.
    async fn fault(&self, doing: &'static str, answer: &Answer) -> ForgeError {
        if answer.status == StatusCode::NOT_FOUND
            && let Err(error) = self.check_repository(doing).await
        {
            return error;
        }
        self.client.fault(doing, answer)
    }

    /// Fails if the repository is not there, or cannot be seen.
    async fn check_repository(&self, doing: &'static str) -> Result<form::Repository, ForgeError> {
        let answer = self.get(doing, &[], &[]).await?;
        if answer.status == StatusCode::NOT_FOUND {
            let (forge, repository) = (self.client.name().to_owned(), self.repository.clone());
            return Err(ForgeError::NoRepository { forge, doing, repository });
        }
        if !answer.status.is_success() {
            return Err(self.client.fault(doing, &answer));
        }
        answer.read().map_err(|error| self.client.unreadable(doing, error))
    }

    fn moved(&self, id: &str) -> ForgeError {
        ForgeError::Moved { forge: self.client.name().to_owned(), id: id.to_owned() }
    }
}
