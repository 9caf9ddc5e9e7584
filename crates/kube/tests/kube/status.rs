//! Records in the status of a Pipeline, several in one object.

use kube::api::{Patch, PatchParams};
use serde_json::json;
use weir_ports::{Record, RecordKey, Store, StoreError};
use weir_testkit::records::{memory, said, said_key};

use crate::ground::{ground, parsed};

#[tokio::test]
async fn two_environments_of_one_pipeline_are_written_at_the_same_time() {
    let ground = ground("both").await;
    let pipeline = ground.pipeline("podinfo").await;
    let (one, other) = (ground.store(), ground.store());
    let mut dev = one.create(memory(&pipeline, "dev", 0)).await.unwrap();
    let mut prod = other.create(memory(&pipeline, "prod", 0)).await.unwrap();
    for turn in 1..10 {
        let (a, b) = tokio::join!(
            one.replace(memory(&pipeline, "dev", turn), dev),
            other.replace(memory(&pipeline, "prod", turn), prod)
        );
        (dev, prod) = (a.unwrap(), b.unwrap());
    }
    for environment in ["dev", "prod"] {
        let wanted = memory(&pipeline, environment, 9);
        assert_eq!(one.get(&wanted.key()).await.unwrap().unwrap().record, wanted);
    }
}

#[tokio::test]
async fn what_others_write_into_the_status_moves_no_record_and_is_left_as_it_is() {
    let ground = ground("beside").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let first = store.create(memory(&pipeline, "prod", 1)).await.unwrap();
    store.create(said(&pipeline, true)).await.unwrap();
    let status = json!({ "apiVersion": "pipelines.weave.works/v1alpha1", "kind": "Pipeline", "status": {
        "environments": { "prod": { "targets": [{ "namespace": "podinfo-prod", "ready": true }] } },
        "observedGeneration": 1,
    }});
    let parameters = PatchParams::apply("somebody");
    ground.pipelines().patch_status("podinfo", &parameters, &Patch::Apply(status)).await.unwrap();
    let found = store.get(&memory(&pipeline, "prod", 1).key()).await.unwrap().unwrap();
    assert_eq!(found.version, first, "its own content did not change");
    store.replace(memory(&pipeline, "prod", 2), first).await.unwrap();
    let kept = ground.pipelines().get("podinfo").await.unwrap().data;
    assert_eq!(kept["status"]["environments"]["prod"]["targets"][0]["ready"], true);
    assert_eq!(kept["status"]["environments"]["prod"]["record"]["lastOrdinal"], 2);
    assert_eq!(kept["status"]["observedGeneration"], 1);
    assert_eq!(kept["status"]["suspended"], true);
    assert_eq!(kept["spec"]["environments"][1]["name"], "prod");
}

#[tokio::test]
async fn what_is_taken_out_of_a_record_is_taken_out_of_the_status() {
    let ground = ground("less").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let first = store.create(memory(&pipeline, "prod", 1)).await.unwrap();
    let Record::Environment(key, environment, mut record) = memory(&pipeline, "prod", 1) else { unreachable!() };
    record.targets.clear();
    let empty = Record::Environment(key, environment, record);
    store.replace(empty.clone(), first).await.unwrap();
    assert_eq!(ground.store().get(&empty.key()).await.unwrap().unwrap().record, empty);
}

#[tokio::test]
async fn a_record_has_no_place_without_its_pipeline() {
    let ground = ground("without").await;
    let store = ground.store();
    let key = ground.key("podinfo");
    let refused = store.create(memory(&key, "prod", 1)).await.unwrap_err();
    let words = format!("environment `prod` of `{key}`: there is no Pipeline `{key}` to keep it");
    assert_eq!(refused, StoreError::Unavailable(words));
    assert_eq!(store.get(&said_key(&key)).await.unwrap(), None);

    ground.pipeline("podinfo").await;
    let version = store.create(memory(&key, "prod", 1)).await.unwrap();
    ground.hub.kubectl(&["delete", "pipeline", "podinfo", "-n", &ground.namespace]).await;
    let gone = store.replace(memory(&key, "prod", 2), version).await.unwrap_err();
    assert!(matches!(gone, StoreError::Unavailable(_)), "{gone}");
    store.remove(&memory(&key, "prod", 1).key(), version).await.unwrap();

    ground.pipeline("podinfo").await;
    let environment = RecordKey::Environment(parsed(&key), "prod".parse().unwrap());
    assert_eq!(store.get(&environment).await.unwrap(), None, "a new pipeline inherits nothing");
}

#[tokio::test]
async fn a_pipeline_that_moves_to_the_newer_group_takes_its_records_along() {
    let ground = ground("groups").await;
    ground.define("pipelines.wego.weave.works", "podinfo").await;
    let (key, store) = (ground.key("podinfo"), ground.store());
    let first = store.create(memory(&key, "prod", 1)).await.unwrap();
    store.create(memory(&key, "dev", 1)).await.unwrap();
    let older = ground.older_pipelines().get("podinfo").await.unwrap().data;
    assert_eq!(older["status"]["environments"]["prod"]["record"]["lastOrdinal"], 1);

    ground.pipeline("podinfo").await;
    let found = store.get(&memory(&key, "prod", 1).key()).await.unwrap().unwrap();
    assert_eq!((&found.record, found.version), (&memory(&key, "prod", 1), first));
    store.replace(memory(&key, "prod", 2), first).await.unwrap();
    let newer = ground.pipelines().get("podinfo").await.unwrap().data;
    assert_eq!(newer["status"]["environments"]["prod"]["record"]["lastOrdinal"], 2);
    assert_eq!(newer["status"]["environments"]["dev"]["record"]["lastOrdinal"], 1, "all of them are taken along");
    let older = ground.older_pipelines().get("podinfo").await.unwrap().data;
    assert_eq!(older["status"]["environments"]["prod"]["record"]["lastOrdinal"], 1);
}
