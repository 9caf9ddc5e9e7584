//! A Pipeline that is deleted stays until what is open for it is closed.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use weir_core::Phase;
use weir_kube::hub::{FINALIZER, Finalizers, HubSettings, HubStore};
use weir_ports::{Record, RecordKey, Store};
use weir_testkit::{
    records::{memory, observation, promotion, promotion_key},
    servers::Cluster,
};

use crate::{
    ground::install,
    watch::{Follower, until},
};

async fn define(hub: &Cluster, group: &str, namespace: &str) {
    hub.apply(&format!(
        "{{apiVersion: {group}/v1alpha1, kind: Pipeline, metadata: {{name: podinfo, namespace: {namespace}}}, spec: \
         {{environments: [{{name: dev, targets: [{{namespace: dev}}]}}]}}}}"
    ))
    .await;
}

/// On a cluster of its own: it tends all Pipelines that there are.
#[tokio::test]
async fn a_deleted_pipeline_waits_until_everything_is_closed_and_leaves_nothing_behind() {
    let hub = Cluster::start().await;
    install(&hub).await;
    let namespace = hub.namespace("finalizer").await;
    let newer = "pipelines.weave.works";
    define(&hub, newer, &namespace).await;
    let store = HubStore::new(hub.client().await);
    let finalizers = Finalizers::new(store.clone(), HubSettings::default());
    let key = format!("{namespace}/podinfo");
    let (mut follower, mut stream) = (Follower::default(), store.watch());
    until(&mut follower, &mut stream, |it| it.listed).await;
    assert!(!finalizers.tend(Timestamp::now()).await);
    let shown = [
        "get",
        "pipelines.pipelines.weave.works",
        "podinfo",
        "-n",
        &namespace,
        "-o",
        "jsonpath={.metadata.finalizers}",
    ];
    assert_eq!(hub.kubectl(&shown).await, "", "nothing is recorded yet");

    let open = Record::Promotion(Box::new(promotion(&key, "prod", 1, Phase::Proposed)));
    let version = store.create(open.clone()).await.unwrap();
    store.create(observation(&key, "podinfo", "1.0")).await.unwrap();
    store.create(memory(&key, "prod", 1)).await.unwrap();
    assert!(!finalizers.tend(Timestamp::now()).await);
    assert_eq!(hub.kubectl(&shown).await, format!("[\"{FINALIZER}\"]"));

    hub.kubectl(&["delete", "pipelines.pipelines.weave.works", "podinfo", "-n", &namespace, "--wait=false"]).await;
    until(&mut follower, &mut stream, |it| it.of(&key).len() == 3).await;
    while !finalizers.tend(Timestamp::now()).await {
        // The watch tells that it is being deleted.
        tokio::time::timeout(Duration::from_millis(100), crate::ground::next(&mut stream)).await.ok();
    }
    let why = "jsonpath={.status.conditions[?(@.type=='Ready')]['reason','message']}";
    let told = hub.kubectl(&["get", "pipelines.pipelines.weave.works", "podinfo", "-n", &namespace, "-o", why]).await;
    assert!(told.starts_with("Deleted deleted; at the latest at "), "{told}");
    assert!(told.ends_with(" Until then it waits for promotion `podinfo-prod-1`"), "{told}");
    let closed = Record::Promotion(Box::new(promotion(&key, "prod", 1, Phase::Withdrawn)));
    store.replace(closed, version).await.unwrap();
    assert!(!finalizers.tend(Timestamp::now()).await);
    until(&mut follower, &mut stream, |it| it.of(&key).is_empty()).await;

    define(&hub, newer, &namespace).await;
    assert_eq!(store.get(&RecordKey::Promotion(promotion_key(&key, "prod", 1))).await.unwrap(), None);
    store.create(open).await.unwrap();
    store.create(memory(&key, "prod", 1)).await.unwrap();
    finalizers.tend(Timestamp::now()).await;
    hub.kubectl(&["delete", "pipelines.pipelines.weave.works", "podinfo", "-n", &namespace, "--wait=false"]).await;
    let much_later = Timestamp::now() + SignedDuration::from_mins(6);
    while !follower.of(&key).is_empty()
        || !hub.kubectl(&["get", "pipelines.pipelines.weave.works", "-n", &namespace]).await.is_empty()
    {
        finalizers.tend(much_later).await;
        if let Ok(notice) = tokio::time::timeout(Duration::from_millis(200), crate::ground::next(&mut stream)).await {
            follower.take(notice);
        }
    }
}
