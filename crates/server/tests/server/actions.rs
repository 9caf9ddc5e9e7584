//! What people do, and that it is written down.

use serde_json::json;
use weir_core::{Actor, EnvironmentRecord, FirstSuccess, Phase};
use weir_ports::Record;
use weir_server::Authentication;

use crate::{
    house::{House, soon},
    records::{SHOP, promotion},
};

const PROD: &str = "/api/v1/pipelines/team-a/shop/environments/prod";

#[tokio::test]
async fn somebody_asks_for_a_release() {
    let house = House::open().await;
    let asked = json!({"version": "2.0.0", "why": "hotfix"});
    let told = house.post(&format!("{PROD}/promote"), asked.clone()).await;
    assert!(told.problem(422).contains("`2.0.0` cannot go to prod: it was never seen to run"));
    let release = promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending).release;
    let first = FirstSuccess { release, at: jiff::Timestamp::now() };
    let record = EnvironmentRecord { order: vec![first], ..EnvironmentRecord::default() };
    house.write(Record::Environment(SHOP.parse().unwrap(), "dev".parse().unwrap(), Box::new(record))).await;
    let told = house.post(&format!("{PROD}/promote"), json!({"version": "9.9.9"})).await;
    assert!(told.problem(422).ends_with("; the last that were are `2.0.0`"), "{}", told.text);
    let told = house.post(&format!("{PROD}/promote"), asked).await.ok(201);
    assert_eq!(told.header("location"), "/api/v1/promotions/team-a/shop-prod-1");
    assert_eq!(told.json["requestedBy"]["name"], "local");
    house.get("/api/v1/promotions/team-a/shop-prod-1").await.ok(200);
    assert_eq!(house.journal.told(), ["promote team-a/shop/prod by local: hotfix"]);
}

#[tokio::test]
async fn what_would_come_of_it_is_told_and_not_done() {
    let house = House::open().await;
    let asked = format!("{PROD}/preview?deed=promote&version=2.0.0");
    let told = house.get(&asked).await;
    assert!(told.problem(422).contains("`2.0.0` cannot go to prod: it was never seen to run"));
    let live = promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending);
    let first = FirstSuccess { release: live.release.clone(), at: jiff::Timestamp::now() };
    let record = EnvironmentRecord { order: vec![first], ..EnvironmentRecord::default() };
    house.write(Record::Environment(SHOP.parse().unwrap(), "dev".parse().unwrap(), Box::new(record))).await;
    let told = house.get(&asked).await.ok(200).json;
    assert_eq!(told["release"]["name"], "2.0.0");
    assert_eq!(told["notes"], json!(["prod is not known to run anything yet"]));
    assert_eq!(told["then"]["headline"], "shop 2.0.0 waits before prod");
    assert_eq!(told["then"]["reasons"][0]["weighs"], "against");
    house.get("/api/v1/promotions/team-a/shop-prod-1").await.problem(404);

    house.get(&format!("{PROD}/preview?deed=reject")).await.problem(409);
    house.promotion(&live).await;
    let told = house.get(&format!("{PROD}/preview?deed=reject")).await.ok(200).json;
    assert_eq!(told["then"]["headline"], "prod has nothing to wait for");
    assert!(
        house.get(&format!("{PROD}/preview?deed=approve")).await.problem(403).contains("anybody of group `release`")
    );
    let stored = house.get("/api/v1/promotions/team-a/shop-prod-1").await.ok(200).json;
    assert!(stored["rejection"].is_null(), "{stored}");

    for unsound in ["", "?deed=merge", "?deed=promote", "?deed=reject&why=x"] {
        house.get(&format!("{PROD}/preview{unsound}")).await.problem(400);
    }
    let nowhere = PROD.replace("prod", "nowhere");
    house.get(&format!("{nowhere}/preview?deed=reject")).await.problem(404);
    assert!(house.journal.told().is_empty());
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_told_why() {
    let house = House::open().await;
    let dev = "/api/v1/pipelines/team-a/shop/environments/dev/promote";
    assert!(house.post(dev, json!({"version": "1"})).await.problem(422).contains("first environment"));
    house.post(&format!("{PROD}/promote"), json!({})).await.problem(400);
    house.post(&format!("{PROD}/promote"), json!({"version": "1", "vresion": "2"})).await.problem(400);
    house.post(&format!("{PROD}/promote"), json!({"version": "a b"})).await.problem(422);
    let nowhere = "/api/v1/pipelines/team-a/shop/environments/nowhere/promote";
    house.post(nowhere, json!({"version": "1"})).await.problem(404);
    house
        .post("/api/v1/pipelines/team-a/nothing/environments/prod/promote", json!({"version": "1"}))
        .await
        .problem(404);
    let text = house.request(reqwest::Method::POST, &format!("{PROD}/promote")).header("content-type", "text/plain");
    crate::house::answer(text.body("{}").send().await.unwrap()).await.problem(415);
    assert!(house.journal.told().is_empty());
}

#[tokio::test]
async fn nothing_is_asked_of_a_pipeline_that_is_no_longer_defined() {
    let house = House::open().await;
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    house.world.define(weir_ports::CatalogNotice::Gone(SHOP.parse().unwrap()));
    for verb in ["promote", "approve", "reject"] {
        let told = house.post(&format!("{PROD}/{verb}"), json!({"version": "2.0.0"})).await;
        assert_eq!(told.problem(404), "there is no pipeline `team-a/shop`", "{verb}");
        house.get(&format!("{PROD}/preview?deed={verb}&version=2.0.0")).await.problem(404);
    }
    assert!(house.journal.told().is_empty());
}

#[tokio::test]
async fn only_whose_word_counts_can_agree() {
    let house = House::open().await;
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    let told = house.post(&format!("{PROD}/approve"), json!({})).await;
    assert!(told.problem(403).contains("anybody of group `release`"));

    let house = House::with(|settings| {
        if let Authentication::Open { actor, .. } = &mut settings.authentication {
            *actor = Actor { name: "lead".to_owned(), groups: vec!["release".to_owned()] };
        }
    })
    .await;
    house.post(&format!("{PROD}/approve"), json!({})).await.problem(409);
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    let told = house.post(&format!("{PROD}/approve"), json!({"why": "looks fine"})).await.ok(200);
    assert_eq!(told.json["approvals"][0]["by"]["name"], "lead");
    assert_eq!(house.journal.told(), ["approve team-a/shop/prod by lead: looks fine"]);
}

#[tokio::test]
async fn somebody_rejects_what_is_on_its_way() {
    let house = House::open().await;
    house.post(&format!("{PROD}/reject"), json!({})).await.problem(409);
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    let told = house.post(&format!("{PROD}/reject"), json!({"version": "1.9.0"})).await;
    let words = "`1.9.0` is not what is on its way into `prod`: that is `2.0.0`; look at it again";
    assert_eq!(told.problem(409), words);
    house.get(&format!("{PROD}/preview?deed=reject&version=1.9.0")).await.problem(409);
    let told = house.post(&format!("{PROD}/reject"), json!({"version": "2.0.0", "why": "too risky"})).await.ok(200);
    assert_eq!(told.json["rejection"]["why"], "too risky");
    assert_eq!(house.journal.told(), ["reject team-a/shop/prod by local: too risky"]);
}

#[tokio::test]
async fn a_pipeline_is_suspended_and_goes_on() {
    let house = House::open().await;
    house.post("/api/v1/pipelines/default/podinfo/suspend", json!({"why": "moving"})).await.ok(204);
    assert_eq!(house.get("/api/v1/pipelines/default/podinfo").await.json["suspended"], true);
    // A body is not needed.
    let resume = house.request(reqwest::Method::POST, "/api/v1/pipelines/default/podinfo/resume");
    assert_eq!(resume.send().await.unwrap().status(), 204);
    assert_eq!(house.get("/api/v1/pipelines/default/podinfo").await.json["suspended"], false);
    house.post("/api/v1/pipelines/default/nothing/suspend", json!({})).await.problem(404);
    let told = ["suspend default/podinfo by local: moving", "resume default/podinfo by local"];
    assert_eq!(house.journal.told(), told);
}

#[tokio::test]
async fn a_freeze_is_set_and_lifted() {
    let house = House::open().await;
    let body = json!({"name": "friday", "environment": "prod", "reason": "weekend", "for": "1h30m"});
    let told = house.post("/api/v1/freezes", body.clone()).await.ok(201);
    assert_eq!(told.header("location"), "/api/v1/freezes/friday");
    assert_eq!(told.json["active"], true);
    assert!(told.json["until"].is_string());
    house.post("/api/v1/freezes", body).await.problem(409);
    assert_eq!(house.get("/api/v1/freezes").await.names(), ["friday"]);
    house.delete("/api/v1/freezes/friday?why=monday").await.ok(204);
    soon(async {
        while !house.get("/api/v1/freezes").await.names().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    house.delete("/api/v1/freezes/friday").await.problem(404);
    let told = house.journal.told();
    assert_eq!(told.first().unwrap(), "freeze freeze/friday by local");
    assert_eq!(told.last().unwrap(), "unfreeze freeze/friday by local: monday");
}

#[tokio::test]
async fn a_freeze_says_how_many_pipelines_it_stops() {
    let house = House::open().await;
    for (number, (selector, stops)) in [
        (json!({}), 2),
        (json!({"namespace": "team-a"}), 1),
        (json!({"pipeline": "podinfo", "environment": "prod"}), 1),
        (json!({"pipeline": "podinf"}), 0),
        (json!({"environment": "production"}), 0),
        (json!({"pipeline": "podinfo", "environment": "dev"}), 0),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = selector.clone();
        body["name"] = json!(format!("f{number}"));
        body["reason"] = json!("x");
        let told = house.post("/api/v1/freezes", body).await.ok(201);
        assert_eq!(told.json["pipelines"], stops, "{selector}");
    }
}

#[tokio::test]
async fn a_freeze_without_a_name_gets_one() {
    let house = House::open().await;
    let body = json!({"namespace": "default", "pipeline": "podinfo", "release": "6.2.0+b", "reason": "loses data"});
    let told = house.post("/api/v1/freezes", body).await.ok(201);
    assert!(told.json["name"].as_str().unwrap().starts_with("default-podinfo-6-2-0-b-"));
    house.post("/api/v1/freezes", json!({"reason": "all"})).await.ok(201);
}

#[tokio::test]
async fn a_freeze_that_makes_no_sense_is_refused() {
    let house = House::open().await;
    let refused = [
        json!({"reason": " "}),
        json!({"reason": "x", "for": "1d"}),
        json!({"reason": "x", "for": "1h", "until": "2099-01-01T00:00:00Z"}),
        json!({"reason": "x", "until": "2001-01-01T00:00:00Z"}),
    ];
    for body in refused {
        house.post("/api/v1/freezes", body).await.problem(422);
    }
    house.post("/api/v1/freezes", json!({})).await.problem(400);
}

#[tokio::test]
async fn the_audit_tells_who_did_what() {
    let house = House::open().await;
    house.post("/api/v1/pipelines/default/podinfo/suspend", json!({})).await.ok(204);
    house.post("/api/v1/pipelines/team-a/shop/suspend", json!({})).await.ok(204);
    house.post("/api/v1/freezes", json!({"reason": "all"})).await.ok(201);
    let verbs = async |query: &str| {
        let page = house.get(&format!("/api/v1/audit?{query}")).await.ok(200);
        page.json["items"].as_array().unwrap().iter().map(|it| it["number"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(verbs("").await, [3, 2, 1]);
    assert_eq!(verbs("namespace=team-a").await, [2]);
    assert_eq!(verbs("namespace=default&pipeline=podinfo").await, [1]);
    assert_eq!(verbs("by=nobody").await, Vec::<u64>::new());
    assert_eq!(verbs("before=3&limit=1").await, [2]);
    let first = house.get("/api/v1/audit?limit=2").await;
    let token = first.json["continue"].as_str().unwrap();
    assert_eq!(verbs(&format!("limit=2&continue={token}")).await, [1]);
    assert_eq!(first.json["items"][0]["verb"], "freeze");
}

#[tokio::test]
async fn a_backup_is_written_where_it_is_asked_for() {
    let house = House::open().await;
    house.post("/api/v1/backup", json!({"file": "/tmp/x"})).await.problem(404);
    let (told, mut files) = tokio::sync::mpsc::unbounded_channel();
    let house = House::with(|settings| {
        settings.backup = Some(std::sync::Arc::new(move |file| {
            let told = told.clone();
            Box::pin(async move {
                told.send(file.clone()).unwrap();
                if file.ends_with("full") { Err("the disk is full".to_owned()) } else { Ok(()) }
            })
        }));
    })
    .await;
    house.post("/api/v1/backup", json!({"file": "/var/backup/weir.db"})).await.ok(204);
    assert_eq!(files.recv().await.unwrap().to_str(), Some("/var/backup/weir.db"));
    assert!(house.post("/api/v1/backup", json!({"file": "/full"})).await.problem(409).contains("disk is full"));
    house.post("/api/v1/backup", json!({"file": "weir.db"})).await.problem(422);
    assert_eq!(house.journal.told()[0], "backup file//var/backup/weir.db by local");
}
