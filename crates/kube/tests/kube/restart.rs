//! An API server that goes and comes back.

use weir_core::Phase;
use weir_kube::hub::HubStore;
use weir_ports::{Record, Store};
use weir_testkit::{
    records::{memory, promotion, promotion_key},
    servers::{Cluster, eventually},
};

use crate::{
    ground::{install, parsed},
    watch::{Follower, until},
};

#[tokio::test]
async fn what_vanished_while_nobody_could_watch_is_told_afterwards() {
    let mut hub = Cluster::start().await;
    install(&hub).await;
    let namespace = hub.namespace("restart").await;
    for name in ["stays", "goes"] {
        hub.apply(&format!(
            "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: {name}, namespace: \
             {namespace}}}, spec: {{environments: [{{name: dev, targets: [{{namespace: dev}}]}}]}}}}"
        ))
        .await;
    }
    let store = HubStore::new(hub.client().await);
    let (stays, goes) = (format!("{namespace}/stays"), format!("{namespace}/goes"));
    for ordinal in 1..4 {
        let turn = promotion(&stays, "prod", ordinal, Phase::Proposed);
        store.create(Record::Promotion(Box::new(turn))).await.unwrap();
    }
    store.create(memory(&goes, "prod", 1)).await.unwrap();
    store.create(memory(&stays, "prod", 1)).await.unwrap();
    let (mut follower, mut stream) = (Follower::default(), store.watch());
    until(&mut follower, &mut stream, |follower| follower.listed).await;
    assert_eq!(follower.of(&stays).len(), 4);

    hub.stop();
    hub.start_again().await;
    // The watch cache of a new API server knows nothing of before: those who watched have to list again.
    hub.kubectl(&["delete", "promotion", "stays-prod-2", "-n", &namespace]).await;
    hub.kubectl(&["delete", "pipeline", "goes", "-n", &namespace]).await;
    until(&mut follower, &mut stream, |it| it.of(&stays).len() == 3 && it.of(&goes).is_empty()).await;

    let late = Record::Promotion(Box::new(promotion(&stays, "prod", 4, Phase::Pending)));
    let key = late.key();
    eventually("it can be written again", async || store.create(late.clone()).await).await;
    until(&mut follower, &mut stream, |it| it.known.contains_key(&key)).await;
    assert_eq!(key, weir_ports::RecordKey::Promotion(promotion_key(&stays, "prod", 4)));
    assert_eq!(key.pipeline(), Some(&parsed(&stays)));
}
