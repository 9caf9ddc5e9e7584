//! The definition of a new pipeline, from the API to Git: on a real forge, and on a plain Git server.

use std::fs;

use serde_json::{Value, json};
use weir_testkit::servers::{eventually, shared, unique};

use crate::server::{Running, Site};

const SHOP: &str = "apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: shop, namespace: default}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: shop}
  environments:
    - {name: dev, targets: [{namespace: shop}]}
";
const BRANCH: &str = "weir/define/default/shop";

fn site() -> Site {
    Site::new("  - {name: dev, targets: [{namespace: app}]}\n", &[])
}

impl Running {
    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.request("POST", path, &[], &body.to_string());
        (answer.code, serde_json::from_str(&answer.body).unwrap_or_default())
    }

    fn propose(&self, text: &str) -> Value {
        let (code, made) = self.post("/api/v1/drafts", &json!({"manifest": text, "why": "we open a shop"}));
        assert_eq!(code, 201, "{made}");
        made
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_forge_a_definition_is_one_pull_request_until_it_is_merged() {
    let gitea = shared::gitea().await;
    let bot = gitea.create_user(&unique("weir")).await;
    gitea.create_repository(&bot.name, "definitions").await;
    let token = gitea.create_token(&bot, &["write:repository", "write:issue"]).await;
    let (site, repository) = (site(), format!("{}/definitions", bot.name));
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: git, namespace: default}}\nstringData: {{token: {token}}}\n"
    );
    fs::write(site.path("manifests/git.yaml"), secret).unwrap();
    let url = gitea.repository_url(&bot.name, "definitions");
    let kept = ["--definitions", &url, "--definitions-secret", "default/git", "--definitions-forge", "gitea"];
    let server = site.start_with(&kept);
    server.ready();
    let api = gitea.api();
    let pull = async |number: u64| api.get_json(&format!("/repos/{repository}/pulls/{number}")).await;

    let made = server.propose(SHOP);
    assert_eq!(made["pullRequest"]["state"], "open");
    let opened = pull(1).await;
    assert_eq!(made["pullRequest"]["url"], opened["html_url"]);
    assert_eq!((&opened["title"], &opened["head"]["ref"]), (&json!("Define pipeline default/shop"), &json!(BRANCH)));
    assert_eq!((&opened["head"]["sha"], &opened["changed_files"]), (&made["head"], &json!(1)));
    let body = opened["body"].as_str().unwrap();
    assert!(body.contains("> we open a shop") && body.contains("| 1 | dev | `shop` |"), "{body}");

    // Other text changes the same pull request; a person who closed it is not overruled, but may be asked anew.
    let better = SHOP.replace("name: dev", "name: test");
    let again = server.propose(&better);
    assert_ne!(again["head"], made["head"]);
    assert_eq!(again["pullRequest"]["url"], made["pullRequest"]["url"]);
    let (code, refused) = server.post("/api/v1/drafts/default/shop/merge", &json!({"head": again["head"]}));
    assert_eq!(code, 409);
    assert!(refused["detail"].as_str().unwrap().contains(opened["html_url"].as_str().unwrap()), "{refused}");
    api.patch_json(&format!("/repos/{repository}/pulls/1"), &json!({"state": "closed"})).await;
    assert_eq!(server.get("/api/v1/drafts/default/shop")["pullRequest"]["state"], "closed");
    let anew = server.propose(&better);
    assert_ne!(anew["pullRequest"]["url"], made["pullRequest"]["url"]);
    assert_eq!(pull(2).await["state"], "open");

    eventually("it is merged", async || {
        let path = format!("/repos/{repository}/pulls/2/merge");
        let answer = api.send(reqwest::Method::POST, &path, Some(&json!({"Do": "merge"}))).await;
        if answer.status.is_success() { Ok(()) } else { Err(answer.body.to_string()) }
    })
    .await;
    assert_eq!(server.get("/api/v1/drafts")["items"], json!([]), "the base branch has it");
    let (code, refused) = server.post("/api/v1/drafts", &json!({"manifest": SHOP}));
    assert_eq!(code, 409, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("`pipelines/default/shop.yaml` is on `main` already"));
    assert!(!server.log().contains(&token));
    server.stop();
}

#[test]
fn on_a_plain_git_server_a_definition_is_merged_onto_what_others_did_and_theirs_is_left_alone() {
    let site = site();
    let url = format!("file://{}", site.path("config.git").display());
    let server = site.start_with(&["--definitions", &url, "--definitions-folder", "."]);
    server.ready();
    let by_hand = |branch: &str| {
        let tree = format!("refs/heads/{branch}^{{tree}}");
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let commit = ["commit-tree", &tree, "-p", branch, "-m", "by hand"];
        let made = site.git(&[&who[..], &commit].concat());
        site.git(&["update-ref", &format!("refs/heads/{branch}"), made.trim()]);
        made.trim().to_owned()
    };
    let made = server.propose(SHOP);
    let theirs = by_hand("main");
    let (code, merged) = server.post("/api/v1/drafts/default/shop/merge", &json!({"head": made["head"]}));
    assert_eq!(code, 200, "{merged}");
    assert_eq!(site.git(&["show", "main:default/shop.yaml"]), SHOP);
    assert_eq!(
        site.git(&["rev-parse", "main", "main^"]).lines().collect::<Vec<_>>(),
        [merged["commit"].as_str().unwrap(), &theirs]
    );
    assert_eq!(site.git(&["branch", "--format=%(refname:short)"]).trim(), "main");

    // What a person commits to the branch of a draft is theirs.
    let web = SHOP.replace("name: shop", "name: web");
    server.propose(&web);
    let theirs = by_hand("weir/define/default/web");
    let shown = server.get("/api/v1/drafts/default/web");
    assert_eq!((&shown["head"], &shown["ours"]), (&json!(theirs), &json!(false)));
    assert_eq!(shown["by"], "Ada <ada@example.org>");
    let (code, _) = server.post("/api/v1/drafts", &json!({"manifest": web.replace("name: dev", "name: test")}));
    assert_eq!(code, 409);
    let (code, _) = server.post("/api/v1/drafts/default/web/merge", &json!({"head": theirs}));
    assert_eq!(code, 409);
    let (code, _) = server.post("/api/v1/drafts/default/web/close", &json!({"head": theirs, "why": "not like that"}));
    assert_eq!(code, 204);
    assert_eq!(site.git(&["branch", "--format=%(refname:short)"]).trim(), "main");
    server.stop();
}
