//! Proposals that Weir keeps itself.

use jiff::Timestamp;
use serde_json::json;
use weir_core::{CommitId, Edit, Phase, PlainProposal, PlainState};
use weir_ports::{ConfigRepos as _, Record, RepoAccess};

use crate::{
    house::{Answer, House, answer, soon, upgraded},
    records::{SHOP, commit, plain, promotion, proposed},
};

const PROPOSAL: &str = "/api/v1/proposals/team-a/shop-prod-1";

impl House {
    /// Shop 2.0.0 runs in dev, is approved for prod, and has a proposal.
    async fn proposed(&self) -> PlainProposal {
        let mut next = promotion(SHOP, "prod", 1, "2.0.0", Phase::Proposed);
        proposed(&mut next, None);
        self.promotion(&next).await;
        let proposal = plain(&next);
        self.write(Record::Proposal(Box::new(proposal.clone()))).await;
        proposal
    }

    async fn merge(&self, prefer: &str, head: &CommitId) -> Answer {
        let request = self.request(reqwest::Method::POST, &format!("{PROPOSAL}/merge")).header("prefer", prefer);
        answer(soon(request.json(&json!({"head": head.as_str()})).send()).await.unwrap()).await
    }
}

/// A house where nothing but a review holds the proposal.
async fn mergeable() -> (House, PlainProposal) {
    let house = House::with(|settings| settings.unsigned = weir_server::Unsigned::Accept).await;
    let gate = "      gates: [{approval: {count: 1, groups: [release]}}]\n";
    house.define(&crate::house::SHOP.replace(gate, ""));
    let mut event = upgraded("2.0.0", 1);
    event["involvedObject"]["name"] = json!("shop");
    event["involvedObject"]["namespace"] = json!("shop-dev");
    let posted = house.request(reqwest::Method::POST, "/promotion/team-a/shop/dev").json(&event);
    assert_eq!(posted.send().await.unwrap().status(), 202);
    let proposal = house.proposed().await;
    (house, proposal)
}

#[tokio::test]
async fn a_proposal_is_listed_and_shown_without_what_opens_its_repository() {
    let house = House::open().await;
    house.proposed().await;
    assert_eq!(house.get("/api/v1/proposals").await.names(), ["shop-prod-1"]);
    assert_eq!(house.get("/api/v1/proposals?state=all&namespace=team-a&pipeline=shop").await.names(), ["shop-prod-1"]);
    assert!(house.get("/api/v1/proposals?state=merged").await.names().is_empty());
    house.get("/api/v1/proposals?state=nonsense").await.problem(400);
    let shown = house.get(PROPOSAL).await.ok(200);
    assert_eq!(shown.json["repository"], "https://git.example.org/config.git");
    assert_eq!(shown.json["state"]["name"], "open");
    assert_eq!(shown.json["body"], "It is healthy in dev.");
    house.get("/api/v1/proposals/team-a/shop-prod-2").await.problem(404);
    let past = plain(&promotion(SHOP, "prod", 2, "2.1.0", Phase::Succeeded));
    house.journal.proposals.lock().unwrap().push(past);
    assert_eq!(house.get("/api/v1/proposals/team-a/shop-prod-2").await.ok(200).json["state"]["name"], "open");
}

#[tokio::test]
async fn proposals_are_paged() {
    let house = House::open().await;
    for ordinal in 1..=3 {
        let proposal = plain(&promotion(SHOP, "prod", ordinal, "2.0.0", Phase::Proposed));
        house.write(Record::Proposal(Box::new(proposal))).await;
    }
    let first = house.get("/api/v1/proposals?limit=2").await.ok(200);
    assert_eq!(first.names(), ["shop-prod-1", "shop-prod-2"]);
    let token = first.json["continue"].as_str().unwrap();
    let second = house.get(&format!("/api/v1/proposals?limit=2&continue={token}")).await.ok(200);
    assert_eq!(second.names(), ["shop-prod-3"]);
    assert!(second.json["continue"].is_null());
}

#[tokio::test]
async fn what_a_proposal_changes_is_shown_as_json_and_as_text() {
    let house = House::open().await;
    let (main, path) = ("main".parse().unwrap(), weir_ports::FilePath::new("apps/prod.yaml").unwrap());
    let access = RepoAccess::open(weir_core::RepoUrl::new("https://git.example.org/config.git").unwrap());
    let head = async || house.repos.look(&access, std::slice::from_ref(&main)).await.unwrap()[0].clone().unwrap();
    house.repos.commit(&main, &path, |_| "version: 1.0.0\n".to_owned());
    let parent = head().await;
    house.repos.commit(&main, &path, |_| "version: 2.0.0\n".to_owned());
    let mut proposal = plain(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Proposed));
    (proposal.parent, proposal.head) = (parent, head().await);
    proposal.edits = vec![Edit { file: "apps/prod.yaml".into(), before: "1.0.0".into(), after: "2.0.0".into() }];
    house.write(Record::Proposal(Box::new(proposal))).await;

    let diff = house.get(&format!("{PROPOSAL}/diff")).await.ok(200);
    assert_eq!(diff.json["files"][0]["path"], "apps/prod.yaml");
    assert_eq!(diff.json["files"][0]["after"], "version: 2.0.0\n");
    let text = house.request(reqwest::Method::GET, &format!("{PROPOSAL}/diff")).header("accept", "text/plain");
    let text = answer(text.send().await.unwrap()).await.ok(200);
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    let wanted = "--- a/apps/prod.yaml\n+++ b/apps/prod.yaml\n@@ -1 +1 @@\n-version: 1.0.0\n+version: 2.0.0\n";
    assert_eq!(text.text, wanted);
}

#[tokio::test]
async fn people_comment_and_review_the_head_that_they_saw() {
    let house = House::open().await;
    let proposal = house.proposed().await;
    let told = house.post(&format!("{PROPOSAL}/comments"), json!({"body": "Is the chart signed?"})).await.ok(201);
    assert_eq!(told.json["comments"][0]["body"], "Is the chart signed?");
    house.post(&format!("{PROPOSAL}/comments"), json!({"body": " "})).await.problem(422);
    let review = |head: &CommitId| json!({"verdict": "changesRequested", "head": head.as_str(), "why": "too big"});
    let told = house.post(&format!("{PROPOSAL}/reviews"), review(&proposal.head)).await.ok(201);
    assert_eq!(told.json["review"], "changesRequested");
    assert_eq!(told.json["reviews"][0]["why"], "too big");
    let stale = house.post(&format!("{PROPOSAL}/reviews"), review(&commit('c'))).await;
    assert!(stale.problem(409).contains("look at it again"));
    house.post(&format!("{PROPOSAL}/reviews"), json!({"verdict": "fine", "head": "b"})).await.problem(400);
    let told = house.journal.told();
    let object = "proposal/team-a/shop-prod-1";
    assert_eq!(told, [format!("comment {object} by local"), format!("request-changes {object} by local: too big")]);
}

#[tokio::test]
async fn a_merge_is_waited_for() {
    let (house, proposal) = mergeable().await;
    let merging = house.merge("wait=20", &proposal.head);
    let engine = async {
        // The engine sees the wish, and merges.
        let wished = || {
            house.world.look(&proposal.key.pipeline, |known| {
                known.proposal(&proposal.key).filter(|it| it.merge.is_some()).cloned()
            })
        };
        let mut merged = soon(async {
            loop {
                match wished().flatten() {
                    Some(proposal) => return proposal,
                    None => tokio::task::yield_now().await,
                }
            }
        })
        .await;
        merged.state = PlainState::Merged { at: Timestamp::now(), by: Some("local".into()), commit: commit('d') };
        house.write(Record::Proposal(Box::new(merged))).await;
    };
    let told = tokio::join!(merging, engine).0.ok(200);
    assert_eq!(told.json["state"]["name"], "merged");
    assert_eq!(told.header("preference-applied"), "wait=20");
    let again = house.merge("wait=0", &proposal.head).await;
    assert_eq!(again.problem(409), "proposal `shop-prod-1` is merged already");
}

#[tokio::test]
async fn a_merge_need_not_be_waited_for() {
    let (house, proposal) = mergeable().await;
    let told = house.merge("respond-async", &proposal.head).await.ok(202);
    assert_eq!(told.json["mergeAskedBy"], "local");
    assert_eq!(told.header("preference-applied"), "respond-async");
    house.merge("respond-async", &commit('c')).await.problem(409);
}

#[tokio::test]
async fn a_proposal_that_is_held_is_not_merged_and_says_why() {
    let (house, proposal) = mergeable().await;
    house.post("/api/v1/pipelines/team-a/shop/suspend", json!({})).await.ok(204);
    let told = house.merge("wait=0", &proposal.head).await;
    assert!(told.problem(409).contains("the pipeline is suspended"));
    assert_eq!(told.json["type"], "urn:weir:problem:held");
    assert_eq!(told.json["holds"][0]["name"], "Suspended");
    assert!(told.json["holds"][0]["remedy"].is_string());
}

#[tokio::test]
async fn a_proposal_that_was_taken_over_is_for_the_newer_promotion() {
    let house = House::open().await;
    let mut old = promotion(SHOP, "prod", 1, "2.0.0", Phase::Superseded);
    let mut next = promotion(SHOP, "prod", 2, "2.1.0", Phase::Proposed);
    for it in [&mut old, &mut next] {
        proposed(it, None);
        it.leg.facts.proposal.as_mut().unwrap().id = "shop-prod-1".into();
        house.promotion(it).await;
    }
    let proposal = PlainProposal { release: next.release.clone(), ..plain(&old) };
    house.write(Record::Proposal(Box::new(proposal))).await;
    let shown = house.get(PROPOSAL).await.ok(200).json;
    assert_eq!(shown["promotion"], "shop-prod-2");
    assert_eq!(shown["relation"], "prod is not known to run anything yet");
    let held: Vec<_> = shown["holds"].as_array().unwrap().iter().map(|it| it["sentence"].as_str().unwrap()).collect();
    assert!(held.iter().all(|sentence| !sentence.contains("2.0.0")), "{held:?}");
}

#[tokio::test]
async fn a_proposal_is_closed_once() {
    let house = House::open().await;
    house.proposed().await;
    let other = json!({"head": "2".repeat(40)});
    assert!(house.post(&format!("{PROPOSAL}/close"), other).await.problem(409).ends_with("; look at it again"));
    let told = house.post(&format!("{PROPOSAL}/close"), json!({"why": "not now"})).await.ok(200);
    assert_eq!(told.json["state"]["note"], "not now");
    house.post(&format!("{PROPOSAL}/close"), json!({})).await.problem(409);
    assert_eq!(house.journal.told(), ["close proposal/team-a/shop-prod-1 by local: not now"]);
}
