//! A repository of one's own on a forge, and the port that is tried on it.

use std::time::Duration;

use serde_json::{Value, json};
use weir_core::{BranchName, CommitId, ForgeKind, RepoUrl};
use weir_forge::{Forges, Pace};
use weir_ports::{Between, Credentials, Forge as _, ForgeAccess, PullRequest, Wanted};
use weir_testkit::servers::{Account, Gitea, GiteaApi, shared, unique};

/// What the token of the port may do, and no more: what the manual says.
pub(crate) const SCOPES: [&str; 2] = ["write:repository", "write:issue"];

/// A repository that belongs to the account that the port acts as.
pub(crate) struct Place {
    pub(crate) gitea: &'static Gitea,
    pub(crate) bot: Account,
    pub(crate) forges: Forges,
    pub(crate) access: ForgeAccess,
    /// `OWNER/NAME`.
    pub(crate) repository: String,
}

impl Place {
    pub(crate) async fn new() -> Self {
        let gitea = shared::gitea().await;
        let bot = gitea.create_user(&unique("bot")).await;
        gitea.create_repository(&bot.name, "config").await;
        let token = gitea.create_token(&bot, &SCOPES).await;
        let url = gitea.repository_url(&bot.name, "config");
        let access = access(&url, &[("token", &token)]);
        let repository = format!("{}/config", bot.name);
        // Nothing else is going on here, so the forge soon knows what it says.
        let pace = Pace { settled: Duration::from_secs(3), ..Pace::default() };
        Self { gitea, bot, forges: Forges::new(pace), access, repository }
    }

    /// Raw calls by a person, who may do everything.
    pub(crate) fn person(&self) -> GiteaApi {
        self.gitea.api()
    }

    /// A path below the repository.
    pub(crate) fn path(&self, below: &str) -> String {
        format!("/repos/{}{below}", self.repository)
    }

    /// Commits to a branch, which is made from `main` if need be.
    pub(crate) async fn commit(&self, branch: &str, content: &str) -> CommitId {
        let commit = self.gitea.commit(&self.repository, branch, "Change", &[("prod.yaml", content)]).await;
        CommitId::new(commit).unwrap()
    }

    pub(crate) async fn find(&self, head: &str) -> Option<PullRequest> {
        self.forges.find(&self.access, &between(head)).await.unwrap()
    }

    /// A branch with a commit, and a pull request of ours from it.
    pub(crate) async fn propose(&self, head: &str, ordinal: u32) -> PullRequest {
        self.commit(head, &format!("version: {ordinal}\n")).await;
        self.forges.ensure(&self.access, &wanted(head, ordinal)).await.unwrap()
    }

    /// The raw pull request.
    pub(crate) async fn raw(&self, id: &str) -> Value {
        self.person().get_json(&self.path(&format!("/pulls/{id}"))).await
    }

    pub(crate) async fn close_as_person(&self, id: &str) {
        self.person().patch_json(&self.path(&format!("/pulls/{id}")), &json!({ "state": "closed" })).await;
    }

    /// Says something about a commit, as CI does.
    pub(crate) async fn report(&self, commit: &CommitId, context: &str, state: &str) {
        let body = json!({ "context": context, "state": state });
        self.person().post_json(&self.path(&format!("/statuses/{commit}")), &body).await;
    }

    /// Reviews a pull request.
    pub(crate) async fn review(&self, id: &str, event: &str) -> Value {
        let body = json!({ "event": event, "body": "I have looked at it" });
        self.person().post_json(&self.path(&format!("/pulls/{id}/reviews")), &body).await
    }

    /// Protects `main`.
    pub(crate) async fn protect(&self, rules: Value) {
        let mut body = json!({ "rule_name": "main", "enable_push": true });
        for (key, value) in rules.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.person().post_json(&self.path("/branch_protections"), &body).await;
    }
}

pub(crate) fn access(url: &str, keys: &[(&str, &str)]) -> ForgeAccess {
    let keys = keys.iter().map(|(key, value)| (*key, value.as_bytes()));
    let credentials = Credentials::from_secret(keys).unwrap();
    ForgeAccess { kind: ForgeKind::Gitea, url: RepoUrl::new(url).unwrap(), credentials }
}

pub(crate) fn between(head: &str) -> Between {
    Between { head: branch(head), base: branch("main"), mark: mark(head) }
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

fn mark(head: &str) -> String {
    format!("<!-- weir: {head} #")
}

pub(crate) fn wanted(head: &str, ordinal: u32) -> Wanted {
    let once = format!("{}{ordinal} -->", mark(head));
    Wanted {
        between: between(head),
        title: format!("Promote to {ordinal}"),
        body: format!("It is version {ordinal}.\n\n{once}\n"),
        once,
        label: Some("weir".to_owned()),
    }
}
