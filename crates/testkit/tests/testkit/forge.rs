//! Gitea.

use std::process::Command;

use serde_json::json;
use weir_testkit::servers::{Inbox, shared, unique};

use crate::signature;

#[tokio::test]
async fn a_pull_request_is_opened_and_merged_and_a_webhook_tells_of_it() {
    let gitea = shared::gitea().await;
    let owner = unique("acme");
    gitea.create_organisation(&owner).await;
    gitea.create_repository(&owner, "config").await;
    let repository = format!("{owner}/config");
    let inbox = Inbox::open().await;
    gitea.create_webhook(&repository, &inbox.url(), "s3cret", &["pull_request"]).await;

    let commit = gitea.commit(&repository, "promote", "Promote 6.1.6", &[("prod.yaml", "version: 6.1.6\n")]).await;
    let api = gitea.api();
    let pulls = format!("/repos/{repository}/pulls");
    let pull = api.post_json(&pulls, &json!({ "head": "promote", "base": "main", "title": "Promote 6.1.6" })).await;
    assert_eq!(pull["head"]["sha"], commit);

    let opened = inbox.first("the pull request is announced", |hook| hook.json()["action"] == "opened").await;
    assert_eq!(opened.header("X-Gitea-Event"), "pull_request");
    assert_eq!(opened.header("X-Gitea-Signature"), signature::sha256("s3cret", &opened.body));

    api.post_json(&format!("{pulls}/{}/merge", pull["number"]), &json!({ "Do": "merge" })).await;
    let merged = inbox.first("the merge is announced", |hook| hook.json()["action"] == "closed").await;
    assert_eq!(merged.json()["pull_request"]["merged"], true);
    let file = api.get_json(&format!("/repos/{repository}/contents/prod.yaml?ref=main")).await;
    assert_eq!(file["path"], "prod.yaml");
}

#[tokio::test]
async fn a_file_is_committed_anew_and_cloned() {
    let gitea = shared::gitea().await;
    let alice = gitea.create_user(&unique("alice")).await;
    gitea.create_repository(&alice.name, "mine").await;
    let repository = format!("{}/mine", alice.name);
    gitea.commit(&repository, "main", "one", &[("file", "one")]).await;
    let head = gitea.commit(&repository, "main", "two", &[("file", "two")]).await;

    let url = gitea.clone_url(&alice, &alice.name, "mine");
    let output = Command::new("git").args(["ls-remote", &url, "refs/heads/main"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{head}\trefs/heads/main\n"), "{output:?}");
}

#[tokio::test]
async fn a_user_may_not_do_what_the_administrator_may() {
    let gitea = shared::gitea().await;
    let bob = gitea.create_user(&unique("bob")).await;
    let answer = gitea.api_of(&bob).send("GET".parse().unwrap(), "/admin/users", None).await;
    assert_eq!(answer.status, 403);
}
