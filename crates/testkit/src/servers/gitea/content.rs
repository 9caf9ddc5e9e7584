//! What is on the forge: repositories, charts, webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Account, Gitea};
use crate::servers::Chart;

impl Gitea {
    /// Creates a repository of a user or an organisation, with a first commit on `main`.
    pub async fn create_repository(&self, owner: &str, name: &str) {
        let body = json!({ "name": name, "auto_init": true, "default_branch": "main" });
        self.api().post_json(&format!("/admin/users/{owner}/repos"), &body).await;
    }

    /// Where Git finds a repository.
    pub fn repository_url(&self, owner: &str, name: &str) -> String {
        format!("{}/{owner}/{name}.git", self.url())
    }

    /// The same, with an account's name and token in it, to clone and push without being asked.
    pub fn clone_url(&self, account: &Account, owner: &str, name: &str) -> String {
        let url = self.repository_url(owner, name);
        url.replacen("http://", &format!("http://{}:{}@", account.name, account.token), 1)
    }

    /// Commits files to a branch of `<owner>/<name>`, new or changed, and returns the commit. A branch that is not there
    /// is made from `main`.
    pub async fn commit(&self, repository: &str, branch: &str, message: &str, files: &[(&str, &str)]) -> String {
        let api = self.api();
        let path = format!("/repos/{repository}/branches/{branch}");
        let known = api.send(reqwest::Method::GET, &path, None).await.status.is_success();
        let files: Vec<Value> = files
            .iter()
            .map(|(path, content)| json!({ "operation": "upload", "path": path, "content": STANDARD.encode(content) }))
            .collect();
        let mut body = json!({ "branch": "main", "message": message, "files": files });
        let place = if known { "branch" } else { "new_branch" };
        body[place] = branch.into();
        let answer = api.post_json(&format!("/repos/{repository}/contents"), &body).await;
        answer["commit"]["sha"].as_str().unwrap_or_else(|| panic!("Gitea named no commit: {answer}")).to_owned()
    }

    /// Publishes a chart in the owner's Helm repository.
    pub async fn upload_chart(&self, owner: &str, chart: &Chart) {
        self.api().upload(&format!("/api/packages/{owner}/helm/api/charts"), chart.archive()).await;
    }

    /// The address for a `HelmRepository`.
    pub fn helm_repository_url(&self, owner: &str) -> String {
        format!("{}/api/packages/{owner}/helm", self.url())
    }

    /// Has the events of `<owner>/<name>` posted somewhere, signed with the secret.
    pub async fn create_webhook(&self, repository: &str, target: &str, secret: &str, events: &[&str]) {
        let config = json!({ "url": target, "content_type": "json", "secret": secret });
        let body = json!({ "type": "gitea", "active": true, "events": events, "config": config });
        self.api().post_json(&format!("/repos/{repository}/hooks"), &body).await;
    }
}
