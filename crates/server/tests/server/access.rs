//! Who may do what.

use serde_json::json;
use weir_core::{EnvironmentRecord, FirstSuccess, Phase};
use weir_ports::{CatalogNotice, Flaw, Record};

use crate::{
    house::{House, SECRET},
    records::{PODINFO, SHOP, plain, promotion},
};

#[tokio::test]
async fn nobody_passes_without_a_token() {
    let mut house = House::tokens().await;
    for path in ["/api/v1/pipelines", "/api/v1/nothing", "/api/v1/events"] {
        let told = house.get(path).await;
        told.problem(401);
        assert_eq!(told.header("www-authenticate"), "Bearer realm=\"weir\"");
    }
    for header in ["Basic abc", "Bearer", "Bearer ", ""] {
        let request = house.http.get(format!("http://{}/api/v1/status", house.address)).header("authorization", header);
        assert_eq!(request.send().await.unwrap().status(), 401, "{header}");
    }
    house.token = Some("unknown".to_owned());
    house.get("/api/v1/status").await.problem(401);
    house.act_as("stranger");
    house.get("/api/v1/status").await.problem(401);
    house.act_as("broken");
    house.get("/api/v1/status").await.problem(503);
    house.act_as("admin");
    house.get("/api/v1/status").await.ok(200);
}

#[tokio::test]
async fn whoever_asks_is_told_what_they_may_do() {
    let mut house = House::tokens().await;
    house.act_as("team-a-view");
    let told = |may: &[&str]| json!({"may": may, "namespaces": ["team-a"]});
    assert_eq!(house.get("/api/v1/rights?namespace=team-a").await.ok(200).json, told(&["view"]));
    assert_eq!(house.get("/api/v1/rights?namespace=default").await.ok(200).json, told(&[]));
    assert_eq!(house.get("/api/v1/rights").await.ok(200).json, told(&[]));
    house.act_as("admin");
    let all = json!({"may": ["view", "promote", "rollback", "pause", "approve", "define"], "namespaces": []});
    assert_eq!(house.get("/api/v1/rights").await.ok(200).json, all);
    let open = House::open().await;
    assert_eq!(open.get("/api/v1/rights?namespace=default").await.ok(200).json, all);
    open.get("/api/v1/rights?namespce=default").await.problem(400);
}

#[tokio::test]
async fn what_watches_the_process_needs_no_token() {
    let house = House::tokens().await;
    for path in ["/healthz", "/readyz", "/metrics", "/api/openapi.json"] {
        house.get(path).await.ok(200);
    }
}

#[tokio::test]
async fn lists_show_only_namespaces_that_the_caller_may_view() {
    let mut house = House::tokens().await;
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    let past = [promotion(PODINFO, "qa", 1, "1", Phase::Succeeded), promotion(SHOP, "prod", 1, "2", Phase::Pending)];
    house.journal.past.lock().unwrap().extend(past);
    house.write(weir_ports::Record::Proposal(Box::new(plain(&promotion(SHOP, "prod", 1, "2", Phase::Proposed))))).await;
    house.act_as("admin");
    house.post("/api/v1/pipelines/default/podinfo/suspend", json!({})).await.ok(204);
    house.post("/api/v1/freezes", json!({"name": "all", "reason": "x"})).await.ok(201);
    house.post("/api/v1/freezes", json!({"name": "a", "namespace": "team-a", "reason": "x"})).await.ok(201);
    assert_eq!(house.get("/api/v1/freezes").await.names(), ["a", "all"]);
    assert_eq!(house.get("/api/v1/freezes?namespace=team-a").await.names(), ["a", "all"]);
    assert_eq!(house.get("/api/v1/freezes?namespace=default").await.names(), ["all"]);

    house.act_as("team-a-view");
    assert_eq!(house.get("/api/v1/pipelines").await.names(), ["shop"]);
    assert_eq!(house.get("/api/v1/promotions").await.names(), ["shop-prod-1"]);
    assert_eq!(house.get("/api/v1/proposals").await.names(), ["shop-prod-1"]);
    assert_eq!(house.get("/api/v1/freezes").await.names(), ["a", "all"], "what stops everything stops theirs");
    assert_eq!(house.get("/api/v1/freezes").await.json["items"][1]["pipelines"], 1, "of those that they may view");
    let objects = async |house: &House| -> Vec<String> {
        let told = house.get("/api/v1/audit?namespace=team-a").await.ok(200).json;
        told["items"].as_array().unwrap().iter().map(|it| it["object"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(objects(&house).await, ["freeze/a"]);
    let status = house.get("/api/v1/status").await.ok(200).json;
    assert_eq!((&status["counts"]["pipelines"], &status["partial"]), (&json!(1), &json!(true)));

    house.act_as("default-view");
    assert_eq!(house.get("/api/v1/pipelines").await.names(), ["podinfo"]);
    assert!(house.get("/api/v1/proposals").await.names().is_empty());
    assert_eq!(house.get("/api/v1/audit").await.json["items"].as_array().unwrap().len(), 1);

    house.act_as("admin");
    house.delete("/api/v1/freezes/a").await.ok(204);
    house.act_as("team-a-view");
    assert_eq!(objects(&house).await, ["freeze/a", "freeze/a"]);
}

#[tokio::test]
async fn what_was_left_out_for_lack_of_rights_is_said() {
    let mut house = House::tokens().await;
    house.act_as("admin");
    house.post("/api/v1/freezes", json!({"name": "b", "namespace": "default", "reason": "x"})).await.ok(201);
    let lists =
        ["pipelines", "promotions", "proposals", "versions", "freezes", "audit"].map(|it| format!("/api/v1/{it}"));
    for (who, partial) in [("admin", None), ("team-a-view", Some(&json!(true)))] {
        house.act_as(who);
        for path in &lists {
            assert_eq!(house.get(path).await.ok(200).json.get("partial"), partial, "{who} {path}");
        }
    }
    assert_eq!(house.get("/api/v1/pipelines?namespace=team-a").await.ok(200).json.get("partial"), None);
}

#[tokio::test]
async fn whoever_may_view_nothing_is_told_which_right_is_missing() {
    let mut house = House::tokens().await;
    house.act_as("nobody");
    for path in ["pipelines", "promotions", "proposals", "versions", "freezes", "audit", "status"] {
        let told = house.get(&format!("/api/v1/{path}")).await;
        let wanted =
            "`nobody` does not have the right to view in any namespace that has pipelines; that takes the badge View";
        assert_eq!(told.problem(403), wanted, "{path}");
    }
}

#[tokio::test]
async fn whoever_has_rights_where_no_pipeline_is_yet_sees_that_there_is_none() {
    let mut house = House::tokens().await;
    house.act_as("team-z-define");
    for path in ["pipelines", "promotions", "proposals", "versions", "freezes", "audit"] {
        assert!(house.get(&format!("/api/v1/{path}")).await.names().is_empty(), "{path}");
    }
    house.get("/api/v1/status").await.ok(200);
    house.get("/api/v1/pipelines?namespace=team-a").await.problem(403);
    assert_eq!(house.get("/api/v1/rights").await.ok(200).json["namespaces"], json!(["team-z"]));
}

#[tokio::test]
async fn people_see_the_problems_of_the_namespaces_that_they_may_view() {
    let mut house = House::tokens().await;
    let flaw = |pipelines: &[&str], problem: &str| {
        let pipelines = pipelines.iter().map(|key| key.parse().unwrap()).collect();
        Flaw { pipelines, unread: true, place: None, problem: problem.to_owned() }
    };
    let broken =
        vec![flaw(&[SHOP], "mine"), flaw(&[PODINFO], "theirs"), flaw(&[SHOP, PODINFO], "both"), flaw(&[], "?")];
    house.world.define(CatalogNotice::Problems(broken));
    for (who, problems) in [("admin", json!(["mine", "theirs", "both", "?"])), ("team-a-view", json!(["mine"]))] {
        house.act_as(who);
        let status = house.get("/api/v1/status").await.ok(200).json;
        assert_eq!(status["problems"], problems);
        assert_eq!(status.get("partial").is_some(), who != "admin");
    }
}

#[tokio::test]
async fn what_somebody_may_not_do_says_which_right_is_missing_where() {
    let mut house = House::tokens().await;
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    house.write(weir_ports::Record::Proposal(Box::new(plain(&promotion(SHOP, "prod", 1, "2", Phase::Proposed))))).await;
    let head = "b".repeat(40);
    let pipeline = "/api/v1/pipelines/team-a/shop";
    let proposal = "/api/v1/proposals/team-a/shop-prod-1";
    let pause = [
        (format!("{pipeline}/suspend"), json!({})),
        (format!("{pipeline}/resume"), json!({})),
        ("/api/v1/freezes".to_owned(), json!({"namespace": "team-a", "pipeline": "shop", "reason": "x"})),
    ];
    let promote = [
        (format!("{pipeline}/environments/prod/promote"), json!({"version": "1"})),
        (format!("{proposal}/comments"), json!({"body": "x"})),
        (format!("{proposal}/merge"), json!({"head": head})),
        (format!("{proposal}/close"), json!({})),
    ];
    let approve = [
        (format!("{pipeline}/environments/prod/approve"), json!({})),
        (format!("{pipeline}/environments/prod/reject"), json!({})),
        (format!("{proposal}/reviews"), json!({"verdict": "approved", "head": head})),
    ];
    house.act_as("team-a-view");
    let rights = [
        (pause.as_slice(), "pause", "Pause"),
        (promote.as_slice(), "promote", "Promote"),
        (approve.as_slice(), "approve", "Approve"),
    ];
    for (paths, right, badge) in rights {
        for (path, body) in paths {
            let told = house.post(path, body.clone()).await;
            let wanted = format!(
                "`team-a-view` does not have the right to {right} on pipeline `team-a/shop`; that takes the badge {badge} there"
            );
            assert_eq!(told.problem(403), wanted, "{path}");
        }
    }
    for name in ["default-operate", "default-approve"] {
        house.act_as(name);
        for (path, body) in pause.iter().chain(&promote).chain(&approve) {
            house.post(path, body.clone()).await.problem(403);
        }
    }
    let reads = [pipeline, &format!("{pipeline}/environments/prod"), &format!("{pipeline}/environments/prod/explain")];
    let lists = ["/api/v1/promotions/team-a/shop-prod-1", proposal, &format!("{proposal}/diff")];
    let filtered = ["pipelines", "promotions", "proposals", "versions", "audit"]
        .map(|it| format!("/api/v1/{it}?namespace=team-a"));
    for path in reads.into_iter().chain(lists).chain(filtered.iter().map(String::as_str)) {
        let told = house.get(path).await;
        let wanted =
            "`default-approve` does not have the right to view in namespace `team-a`; that takes the badge View there";
        assert_eq!(told.problem(403), wanted, "{path}");
    }
    assert!(house.journal.told().is_empty());
}

#[tokio::test]
async fn what_concerns_all_namespaces_needs_the_right_in_all_of_them() {
    let mut house = House::tokens().await;
    house.act_as("admin");
    house.post("/api/v1/freezes", json!({"name": "all", "reason": "x"})).await.ok(201);
    let backup = house.post("/api/v1/backup", json!({"file": "/tmp/x"})).await;
    assert!(backup.problem(403).contains("loopback"));
    house.act_as("team-a-operate");
    let told = house.post("/api/v1/freezes", json!({"reason": "x"})).await;
    let wanted = "`team-a-operate` does not have the right to pause in all namespaces; that takes the badge Pause in all of them";
    assert_eq!(told.problem(403), wanted);
    house.delete("/api/v1/freezes/all").await.problem(403);
    house.post("/api/v1/backup", json!({"file": "/tmp/x"})).await.problem(403);
    house.post("/api/v1/freezes", json!({"name": "a", "namespace": "team-a", "reason": "x"})).await.ok(201);
    house.delete("/api/v1/freezes/a").await.ok(204);
}

#[tokio::test]
async fn each_right_lets_do_what_it_is_for() {
    let mut house = House::tokens().await;
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    house.act_as("team-a-operate");
    house.post("/api/v1/pipelines/team-a/shop/suspend", json!({})).await.ok(204);
    house.act_as("team-a-approve");
    house.post("/api/v1/pipelines/team-a/shop/environments/prod/reject", json!({})).await.ok(200);
    let told = ["suspend team-a/shop by team-a-operate", "reject team-a/shop/prod by team-a-approve"];
    assert_eq!(house.journal.told(), told);
    assert!(house.token.as_ref().unwrap().contains(SECRET));
}

#[tokio::test]
async fn to_go_back_takes_another_right_than_to_go_on() {
    let mut house = House::tokens().await;
    let release = |version: &str| promotion(SHOP, "prod", 1, version, Phase::Pending).release;
    let order = ["1.0.0", "2.0.0", "3.0.0"];
    let order = order.map(|version| FirstSuccess { release: release(version), at: jiff::Timestamp::now() });
    for (environment, runs) in [("dev", "3.0.0"), ("prod", "2.0.0")] {
        let runs = Some(release(runs));
        let record = EnvironmentRecord { runs, order: order.to_vec(), ..EnvironmentRecord::default() };
        let key = SHOP.parse().unwrap();
        house.write(Record::Environment(key, environment.parse().unwrap(), Box::new(record))).await;
    }
    let prod = "/api/v1/pipelines/team-a/shop/environments/prod";
    let back = "`1.0.0` is not known to be newer than what prod runs, so this is a rollback; \
        `team-a-promote` does not have the right to rollback on pipeline `team-a/shop`; that takes the badge Rollback there";
    house.act_as("team-a-promote");
    assert_eq!(house.post(&format!("{prod}/promote"), json!({"version": "1.0.0"})).await.problem(403), back);
    assert_eq!(house.get(&format!("{prod}/preview?deed=promote&version=1.0.0")).await.problem(403), back);
    house.post(&format!("{prod}/promote"), json!({"version": "3.0.0"})).await.ok(201);
    house.act_as("team-a-rollback");
    house.post(&format!("{prod}/promote"), json!({"version": "3.0.0"})).await.problem(403);
    house.get(&format!("{prod}/preview?deed=promote&version=1.0.0")).await.ok(200);
    house.post(&format!("{prod}/promote"), json!({"version": "1.0.0"})).await.ok(201);
    house.act_as("team-a-pause");
    for version in ["1.0.0", "3.0.0"] {
        house.post(&format!("{prod}/promote"), json!({ "version": version })).await.problem(403);
    }
    let told = ["promote team-a/shop/prod by team-a-promote", "promote team-a/shop/prod by team-a-rollback"];
    assert_eq!(house.journal.told(), told);
}

#[tokio::test]
async fn a_right_may_be_for_one_pipeline_alone() {
    let mut house = House::tokens().await;
    house.act_as("team-a.shop-pause");
    house.post("/api/v1/pipelines/team-a/shop/suspend", json!({})).await.ok(204);
    house.post("/api/v1/pipelines/team-a/other/suspend", json!({})).await.problem(403);
    let frozen = json!({"name": "shop", "namespace": "team-a", "pipeline": "shop", "reason": "x"});
    house.post("/api/v1/freezes", frozen).await.ok(201);
    house.post("/api/v1/freezes", json!({"namespace": "team-a", "reason": "x"})).await.problem(403);
    let may = async |query: &str| house.get(&format!("/api/v1/rights?{query}")).await.ok(200).json["may"].clone();
    assert_eq!(may("namespace=team-a&pipeline=shop").await, json!(["view", "pause"]));
    assert_eq!(may("namespace=team-a&pipeline=other").await, json!(["view"]));
    assert_eq!(may("namespace=team-a").await, json!(["view"]));
    house.get("/api/v1/rights?pipeline=shop").await.problem(400);
}
