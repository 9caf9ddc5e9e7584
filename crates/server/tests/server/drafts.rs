//! Definitions that people propose.

use serde_json::json;
use weir_core::{BranchName, RepoUrl, Repository};
use weir_engine::Definitions;
use weir_ports::{FilePath, Signature};
use weir_server::{Authentication, Settings};

use crate::house::House;

const APP: &str = "apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: app, namespace: team-a}
spec:
  environments:
    - {name: dev, targets: [{namespace: app}]}
";
const DRAFT: &str = "/api/v1/drafts/team-a/app";

fn main_branch() -> BranchName {
    "main".parse().unwrap()
}

fn definitions() -> Definitions {
    let url = RepoUrl::new("https://geheim@git.example.org/definitions.git").unwrap();
    Definitions {
        repository: Repository { url, base: main_branch(), secret: None },
        namespace: "weir-system".parse().unwrap(),
        forge: None,
        folder: Some(FilePath::new("pipelines").unwrap()),
        author: Signature::new("Weir", "weir@example.org").unwrap(),
    }
}

impl House {
    async fn drafting(change: impl FnOnce(&mut Settings)) -> Self {
        let house = Self::with(|settings| {
            settings.definitions = Some(definitions());
            change(settings);
        })
        .await;
        house.repos.commit(&main_branch(), &FilePath::new("README.md").unwrap(), |_| "Definitions.\n".to_owned());
        house
    }
}

#[tokio::test]
async fn a_text_is_checked_as_weir_lint_does() {
    let house = House::open().await;
    let told = house.post("/api/v1/lint", json!({"manifest": APP})).await.ok(200);
    assert_eq!(told.json, json!({"findings": []}));
    let told = house.post("/api/v1/lint", json!({"manifest": APP.replace("name: dev", "name: a:b")})).await.ok(200);
    let finding = &told.json["findings"][0];
    assert_eq!(finding["path"], "spec.environments[0].name");
    assert_eq!((&finding["line"], &finding["column"]), (&json!(6), &json!(14)));
    assert_eq!(finding["found"], "a:b");
    house.post("/api/v1/lint", json!({})).await.problem(400);
    let mut guarded = House::tokens().await;
    guarded.post("/api/v1/lint", json!({"manifest": APP})).await.problem(401);
    guarded.act_as("team-a-view");
    guarded.post("/api/v1/lint", json!({"manifest": APP})).await.ok(200);
}

#[tokio::test]
async fn a_definition_is_proposed_looked_at_and_merged() {
    let house = House::drafting(|_| {}).await;
    let told = house.get("/api/v1/definitions").await.ok(200).json;
    let repository = "https://git.example.org/definitions.git";
    assert_eq!((&told["repository"], &told["forge"]), (&json!(repository), &json!("git")));
    assert_eq!(told["file"], "pipelines/NAMESPACE/NAME.yaml");
    let made = house.post("/api/v1/drafts", json!({"manifest": APP, "why": "it is new"})).await.ok(201).json;
    assert_eq!(
        (&made["file"], &made["branch"]),
        (&json!("pipelines/team-a/app.yaml"), &json!("weir/define/team-a/app"))
    );
    assert_eq!(house.get("/api/v1/drafts").await.names(), ["app"]);
    let shown = house.get(DRAFT).await.ok(200).json;
    assert_eq!(shown, made);
    assert_eq!((&shown["text"], &shown["ours"]), (&json!(APP), &json!(true)));
    assert_eq!((&shown["by"], &shown["why"]), (&json!("local"), &json!("it is new")));
    let other = json!({"head": "4".repeat(40)});
    assert!(house.post(&format!("{DRAFT}/merge"), other.clone()).await.problem(409).contains("look at it again"));
    house.post(&format!("{DRAFT}/close"), other).await.problem(409);
    let seen = json!({"head": shown["head"], "why": "looks good"});
    let merged = house.post(&format!("{DRAFT}/merge"), seen.clone()).await.ok(200).json;
    assert_eq!(merged["commit"], shown["head"]);
    assert_eq!(house.repos.files_of(&main_branch())["pipelines/team-a/app.yaml"], APP);
    house.get(DRAFT).await.problem(404);
    house.post(&format!("{DRAFT}/merge"), seen).await.problem(404);
    let told = ["define draft/team-a/app by local: it is new", "merge draft/team-a/app by local: looks good"];
    assert_eq!(house.journal.told(), told);
    let audit = house.get("/api/v1/audit?namespace=team-a").await.ok(200).json;
    assert_eq!(audit["items"][0]["pipeline"], json!({"namespace": "team-a", "name": "app"}));
}

#[tokio::test]
async fn nothing_but_a_sound_pipeline_that_is_new_is_written() {
    let house = House::drafting(|_| {}).await;
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: geheim}\n";
    let with_secret = format!("{APP}{secret}");
    let broken = APP.replace("name: dev", "name: ''");
    for (text, words) in
        [(&*with_secret, "found a Secret"), (&*broken, "spec.environments[0].name"), ("", "no Pipeline")]
    {
        let told = house.post("/api/v1/drafts", json!({"manifest": text})).await;
        assert!(told.problem(422).contains(words), "{}", told.text);
    }
    let known = APP.replace("name: app", "name: shop");
    assert!(house.post("/api/v1/drafts", json!({"manifest": known})).await.problem(409).contains("already"));
    assert_eq!(house.repos.branches(), [main_branch()]);
    assert!(house.journal.told().is_empty());
}

#[tokio::test]
async fn who_may_not_define_pipelines_is_told_the_right_that_it_takes() {
    let mut house = House::drafting(|settings| settings.authentication = Authentication::Tokens).await;
    for who in ["team-a-view", "team-a-operate", "team-a-approve", "default-define"] {
        house.act_as(who);
        let told = house.post("/api/v1/drafts", json!({"manifest": APP})).await;
        let words = "does not have the right to define in namespace `team-a`; that takes the badge Define";
        assert!(told.problem(403).contains(words), "{}", told.text);
    }
    assert_eq!(house.repos.branches(), [main_branch()]);
    house.act_as("team-a-define");
    assert_eq!(house.get("/api/v1/rights?namespace=team-a").await.json["may"], json!(["view", "define"]));
    let made = house.post("/api/v1/drafts", json!({"manifest": APP})).await.ok(201).json;
    let seen = json!({"head": made["head"]});
    house.post(&format!("{DRAFT}/merge"), seen.clone()).await.problem(403);
    house.post(&format!("{DRAFT}/close"), seen.clone()).await.problem(403);
    house.act_as("default-view");
    house.get(DRAFT).await.problem(403);
    assert!(house.get("/api/v1/drafts").await.names().is_empty());
    house.act_as("team-a-operate");
    assert_eq!(house.get("/api/v1/drafts").await.names(), ["app"]);
    house.post(&format!("{DRAFT}/close"), seen).await.ok(204);
    assert_eq!(house.repos.branches(), [main_branch()]);
}

#[tokio::test]
async fn without_a_repository_it_is_said_what_is_missing() {
    let house = House::open().await;
    assert_eq!(house.get("/api/v1/definitions").await.ok(200).text, "null");
    assert!(house.get("/api/v1/drafts").await.names().is_empty());
    let told = house.post("/api/v1/drafts", json!({"manifest": APP})).await;
    assert!(told.problem(409).contains("`--definitions URL`"));
}
