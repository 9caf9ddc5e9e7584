//! The definitions that are checked in are the ones that the types make.

use std::path::Path;

use serde_json::{Value, json};

#[test]
fn the_checked_in_definitions_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds");
    let update = std::env::var_os("UPDATE").is_some();
    for (name, text) in weir_api::crd_yaml() {
        let file = folder.join(&name);
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == text,
            "deploy/crds/{name} is out of date: run `weir export crds --dir deploy/crds`, \
             or `UPDATE=1 cargo test -p weir-api`"
        );
    }
}

fn definitions() -> Vec<Value> {
    weir_api::crds().iter().map(|crd| serde_json::to_value(crd).unwrap()).collect()
}

fn schema(definition: &Value) -> &Value {
    definition.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap()
}

/// Calls `visit` with every schema inside a schema, and its path.
fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        walk(inner, &format!("{path}.{name}"), visit);
    }
    for word in ["items", "additionalProperties"] {
        if schema[word].is_object() {
            walk(&schema[word], &format!("{path}[]"), visit);
        }
    }
}

#[test]
fn there_is_a_definition_for_every_kind() {
    let names: Vec<_> = weir_api::crds().into_iter().map(|crd| crd.metadata.name.unwrap()).collect();
    let wanted = [
        "pipelines.pipelines.weave.works",
        "pipelines.pipelines.wego.weave.works",
        "promotions.pipelines.weave.works",
        "observations.pipelines.weave.works",
        "freezes.pipelines.weave.works",
        "proposals.pipelines.weave.works",
        "gitopsclusters.gitops.weave.works",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_pipeline_looks_as_it_did_with_the_weave_controller() {
    let definition = &definitions()[0];
    let version = &definition["spec"]["versions"][0];
    let columns: Vec<_> =
        version["additionalPrinterColumns"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(columns, ["App Kind", "App Name", "Age", "Ready", "Status"]);
    assert_eq!(
        definition["spec"]["names"],
        json!({ "kind": "Pipeline", "plural": "pipelines", "singular": "pipeline" })
    );
    assert_eq!(version["subresources"], json!({ "status": {} }));
    assert_eq!(schema(definition)["properties"]["status"]["default"], json!({ "observedGeneration": -1 }));
}

#[test]
fn both_groups_have_the_same_schema() {
    let [newer, older, ..] = &definitions()[..] else { panic!() };
    for part in ["spec", "status"] {
        let (newer, older) = (&schema(newer)["properties"][part], &schema(older)["properties"][part]);
        assert_eq!(newer, older);
    }
}

#[test]
fn every_schema_is_structural() {
    for definition in definitions() {
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        walk(schema(&definition), &name, &mut |path, schema| {
            let either = schema["x-kubernetes-int-or-string"] == json!(true);
            assert!(schema["type"].is_string() || either, "{path} has no type");
            let is_written_by_people = !path.contains(".status");
            assert!(
                !is_written_by_people
                    || ["pattern", "minimum", "maximum"].iter().all(|word| schema.get(*word).is_none()),
                "{path}: people would be told a bare expression"
            );
            for word in ["$ref", "anyOf", "oneOf", "allOf", "not", "nullable", "uniqueItems", "title"] {
                assert!(schema.get(word).is_none(), "{path} has `{word}`");
            }
            let both = schema.get("properties").is_some() && schema.get("additionalProperties").is_some();
            assert!(!both, "{path} has properties and additionalProperties");
            assert!(schema.get("default").is_none() || path.ends_with("works.status"), "{path} has a default");
        });
    }
}

#[test]
fn everything_that_people_write_is_described() {
    for definition in definitions() {
        let name = definition["spec"]["names"]["kind"].as_str().unwrap().to_owned();
        let spec = &schema(&definition)["properties"]["spec"];
        walk(spec, &name, &mut |path, schema| {
            let scalar_of_a_list = path.ends_with("[]") && schema["type"] == json!("string");
            assert!(schema["description"].is_string() || scalar_of_a_list, "{path} has no description");
        });
    }
}

#[test]
fn lists_that_rules_go_through_are_bounded() {
    for definition in definitions() {
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        walk(&schema(&definition)["properties"]["spec"], &name, &mut |path, schema| {
            let list = schema["type"] == json!("array") && !path.contains("requestedBy");
            assert!(!list || schema["maxItems"].is_u64(), "{path} has no maxItems");
        });
    }
}
