//! The document describes the server, and the server the document.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;

use crate::house::{House, answer};

const ROUTES: [&str; 43] = [
    "DELETE /api/v1/freezes/{name}",
    "GET /api/v1/audit",
    "GET /api/v1/definitions",
    "GET /api/v1/drafts",
    "GET /api/v1/drafts/{namespace}/{name}",
    "GET /api/v1/events",
    "GET /api/v1/freezes",
    "GET /api/v1/pipelines",
    "GET /api/v1/pipelines/{namespace}/{name}",
    "GET /api/v1/pipelines/{namespace}/{name}/environments/{environment}",
    "GET /api/v1/pipelines/{namespace}/{name}/environments/{environment}/explain",
    "GET /api/v1/pipelines/{namespace}/{name}/environments/{environment}/history",
    "GET /api/v1/pipelines/{namespace}/{name}/environments/{environment}/preview",
    "GET /api/v1/pipelines/{namespace}/{name}/environments/{environment}/tree",
    "GET /api/v1/pipelines/{namespace}/{name}/manifest",
    "GET /api/v1/promotions",
    "GET /api/v1/promotions/{namespace}/{name}",
    "GET /api/v1/proposals",
    "GET /api/v1/proposals/{namespace}/{name}",
    "GET /api/v1/proposals/{namespace}/{name}/diff",
    "GET /api/v1/rights",
    "GET /api/v1/status",
    "GET /api/v1/versions",
    "GET /healthz",
    "GET /metrics",
    "GET /readyz",
    "POST /api/v1/backup",
    "POST /api/v1/drafts",
    "POST /api/v1/drafts/{namespace}/{name}/close",
    "POST /api/v1/drafts/{namespace}/{name}/merge",
    "POST /api/v1/freezes",
    "POST /api/v1/lint",
    "POST /api/v1/pipelines/{namespace}/{name}/environments/{environment}/approve",
    "POST /api/v1/pipelines/{namespace}/{name}/environments/{environment}/promote",
    "POST /api/v1/pipelines/{namespace}/{name}/environments/{environment}/reject",
    "POST /api/v1/pipelines/{namespace}/{name}/resume",
    "POST /api/v1/pipelines/{namespace}/{name}/suspend",
    "POST /api/v1/proposals/{namespace}/{name}/close",
    "POST /api/v1/proposals/{namespace}/{name}/comments",
    "POST /api/v1/proposals/{namespace}/{name}/merge",
    "POST /api/v1/proposals/{namespace}/{name}/reviews",
    "POST /hooks/forge/{namespace}/{name}",
    "POST /promotion/{namespace}/{pipeline}/{environment}",
];

/// Every operation of the document, as `METHOD PATH`.
fn operations(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().unwrap().iter();
    let each = paths.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    each.collect()
}

#[tokio::test]
async fn every_route_is_in_the_document() {
    let house = House::open().await;
    let document = house.get("/api/openapi.json").await.ok(200).json;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(operations(&document), ROUTES.map(str::to_owned).into());
}

#[tokio::test]
async fn everything_in_the_document_is_served() {
    let house = House::open().await;
    let document = house.get("/api/openapi.json").await.json;
    for operation in operations(&document) {
        let (method, path) = operation.split_once(' ').unwrap();
        if path == "/api/v1/events" {
            continue;
        }
        let path = path.replace("{namespace}", "x").replace("{name}", "x").replace("{pipeline}", "x");
        let request = house.request(method.parse().unwrap(), &path.replace("{environment}", "x"));
        let told = answer(request.send().await.unwrap()).await;
        assert_ne!(told.status, 405, "{operation}");
        assert!(!told.text.contains("there is nothing at"), "{operation}");
        let other = if method == "GET" { Method::PUT } else { Method::PATCH };
        let told = answer(house.request(other, &path.replace("{environment}", "x")).send().await.unwrap()).await;
        told.problem(405);
        assert!(told.header("allow").contains(method), "{operation}");
    }
}

#[tokio::test]
async fn every_operation_says_what_it_does_and_what_it_answers() {
    let house = House::open().await;
    let document = house.get("/api/openapi.json").await.json;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["summary"].as_str().is_some_and(|text| text.len() > 5), "{method} {path}");
            assert!(!operation["responses"].as_object().unwrap().is_empty(), "{method} {path}");
            if path.starts_with("/api/v1/") {
                assert!(operation["responses"].get("default").is_some(), "{method} {path}");
                assert_eq!(operation["security"][0]["token"], serde_json::json!([]), "{method} {path}");
            }
        }
    }
    // Whatever is referred to is there.
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for reference in document.to_string().split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn what_is_nowhere_is_a_problem_too() {
    let house = House::open().await;
    house.get("/nothing").await.problem(404);
    house.get("/api/v1/nothing").await.problem(404);
    let told = house.get("/healthz").await.ok(200);
    assert_eq!(told.header("x-content-type-options"), "nosniff");
    assert_eq!(told.header("cache-control"), "no-store");
}

/// What the web UI is typed by. `UPDATE=1` writes it anew.
#[tokio::test]
async fn the_document_is_the_one_that_is_published() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");
    let document = House::open().await.get("/api/openapi.json").await.json;
    let text = format!("{}\n", serde_json::to_string_pretty(&document).unwrap());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(file, &text).unwrap();
    }
    assert!(std::fs::read_to_string(file).unwrap() == text, "UPDATE=1 writes docs/reference/openapi.json anew");
}

#[tokio::test]
async fn bodies_that_differ_have_names_that_differ() {
    let document = House::open().await.get("/api/openapi.json").await.json;
    let schemas = &document["components"]["schemas"];
    for (name, field) in [("PromotionWanted", "version"), ("FreezeWanted", "reason"), ("BackupWanted", "file")] {
        assert!(schemas[name]["properties"][field].is_object(), "{name}.{field}");
    }
}
