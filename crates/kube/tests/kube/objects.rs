//! Records that have an object each.

use kube::{
    Api,
    api::{DynamicObject, ObjectMeta, PostParams},
};
use weir_api::{Observation, Promotion, Proposal};
use weir_core::Phase;
use weir_ports::{Record, Store, StoreError};
use weir_testkit::records::{observation, promotion, proposal};

use crate::ground::{Ground, ground};

fn api<K>(ground: &Ground) -> Api<K>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
{
    Api::namespaced(ground.client.clone(), &ground.namespace)
}

#[tokio::test]
async fn a_promotion_that_was_made_and_nothing_more_is_pending() {
    let ground = ground("crash").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let proposed = promotion(&pipeline, "prod", 3, Phase::Proposed);
    let mut made = Promotion::from_core(&proposed);
    made.status = None;
    api::<Promotion>(&ground).create(&PostParams::default(), &made).await.unwrap();

    let pending = Record::Promotion(Box::new(promotion(&pipeline, "prod", 3, Phase::Pending)));
    let found = store.get(&pending.key()).await.unwrap().unwrap();
    assert_eq!(found.record, pending);
    let again = Record::Promotion(Box::new(proposed));
    assert_eq!(store.create(again.clone()).await, Err(StoreError::Exists(pending.key())));
    store.replace(again.clone(), found.version).await.unwrap();
    assert_eq!(store.get(&pending.key()).await.unwrap().unwrap().record, again);
}

#[tokio::test]
async fn a_report_or_proposal_that_was_made_and_nothing_more_is_completed_by_the_next() {
    let ground = ground("unfinished").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let report = observation(&pipeline, "podinfo", "1.0");
    let Record::Observation(key, workload, reported) = &report else { unreachable!() };
    let made = Observation { status: None, ..Observation::from_core(key, workload, reported) };
    api::<Observation>(&ground).create(&PostParams::default(), &made).await.unwrap();
    let review = proposal(&pipeline, "https://git.example.org/fleet.git");
    let mut made = Proposal { status: None, ..Proposal::from_core(&review) };
    made.spec.title = "what somebody wanted who died".to_owned();
    api::<Proposal>(&ground).create(&PostParams::default(), &made).await.unwrap();

    for record in [report, Record::Proposal(Box::new(review))] {
        assert_eq!(store.get(&record.key()).await.unwrap(), None, "it says nothing yet");
        let version = store.create(record.clone()).await.unwrap();
        let found = store.get(&record.key()).await.unwrap().unwrap();
        assert_eq!((&found.record, found.version), (&record, version));
        assert_eq!(store.create(record.clone()).await, Err(StoreError::Exists(record.key())));
    }
}

#[tokio::test]
async fn a_record_belongs_to_its_pipeline_and_goes_with_it() {
    let ground = ground("owned").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let turn = Record::Promotion(Box::new(promotion(&pipeline, "prod", 3, Phase::Proposed)));
    store.create(turn).await.unwrap();
    let object = api::<Promotion>(&ground).get("podinfo-prod-3").await.unwrap();
    let [owner] = object.metadata.owner_references.unwrap().try_into().unwrap();
    let pipeline: DynamicObject = ground.pipelines().get("podinfo").await.unwrap();
    assert_eq!((owner.kind.as_str(), Some(owner.uid)), ("Pipeline", pipeline.metadata.uid));

    let stranger = Record::Promotion(Box::new(promotion(&ground.key("stranger"), "prod", 1, Phase::Pending)));
    let refused = store.create(stranger).await.unwrap_err();
    assert!(refused.to_string().contains("there is no Pipeline"), "{refused}");
}

#[tokio::test]
async fn labels_of_others_stay_on_a_proposal_that_is_changed() {
    let ground = ground("labels").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let mut review = proposal(&pipeline, "https://git.example.org/fleet.git");
    store.create(Record::Proposal(Box::new(review.clone()))).await.unwrap();
    let name = "podinfo-prod-3";
    ground.hub.kubectl(&["label", "proposal", name, "team=a", "-n", &ground.namespace]).await;
    review.title = "another".into();
    let record = Record::Proposal(Box::new(review));
    let at = store.get(&record.key()).await.unwrap().unwrap().version;
    store.replace(record, at).await.unwrap();
    let ObjectMeta { labels, owner_references, .. } = api::<Proposal>(&ground).get(name).await.unwrap().metadata;
    assert_eq!(labels.unwrap()["team"], "a");
    assert_eq!(owner_references.map(|owners| owners.len()), Some(1));
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_in_the_words_of_the_api_server() {
    let ground = ground("large").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let mut review = proposal(&pipeline, "https://git.example.org/fleet.git");
    review.body = "x".repeat(70_000);
    let refused = store.create(Record::Proposal(Box::new(review))).await.unwrap_err();
    let StoreError::Unavailable(words) = refused else { panic!("{refused}") };
    assert!(words.contains("spec.body: Too long"), "{words}");
}

#[tokio::test]
async fn a_right_that_is_missing_is_named() {
    let ground = ground("rights").await;
    let pipeline = ground.pipeline("podinfo").await;
    let store = weir_kube::hub::HubStore::new(ground.hub.client_of("stranger").await);
    let turn = Record::Promotion(Box::new(promotion(&pipeline, "prod", 3, Phase::Proposed)));
    let refused = store.get(&turn.key()).await.unwrap_err().to_string();
    assert!(refused.contains("cannot get resource \"promotions\" in API group"), "{refused}");
    assert!(refused.contains("`weir install` gives Weir the rights that it needs"), "{refused}");
}
