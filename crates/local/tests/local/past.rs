//! What happened, for people who ask later.

use tempfile::TempDir;
use weir_core::{Actor, Phase};
use weir_local::LocalStore;
use weir_ports::{Deed, DeedQuery, HistoryQuery, Journal, Record, RecordKey, Store, StoreError};
use weir_testkit::records::{promotion, promotion_key, proposal, second};

const ALL: HistoryQuery =
    HistoryQuery { pipeline: None, namespace: None, environment: None, phases: Vec::new(), skip: 0, limit: 100 };

async fn world() -> (TempDir, LocalStore) {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    for ordinal in 1..=4 {
        for (pipeline, environment) in [("a/x", "qa"), ("a/x", "prod"), ("a/y", "prod"), ("b/x", "prod")] {
            let phase = if ordinal == 4 { Phase::Pending } else { Phase::Succeeded };
            let record = Record::Promotion(Box::new(promotion(pipeline, environment, ordinal, phase)));
            store.create(record).await.unwrap();
        }
    }
    (folder, store)
}

async fn ask(store: &LocalStore, query: &HistoryQuery) -> Vec<String> {
    store.promotions(query).await.unwrap().iter().map(|promotion| promotion.key.to_string()).collect()
}

#[tokio::test]
async fn a_promotion_that_was_removed_stays_in_the_past() {
    let (folder, store) = world().await;
    let key = RecordKey::Promotion(promotion_key("a/x", "prod", 1));
    let before = ask(&store, &ALL).await;
    let found = store.get(&key).await.unwrap().unwrap();
    store.remove(&key, found.version).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), None);
    assert_eq!(ask(&store, &ALL).await, before);
    store.close().await;
    let store = LocalStore::open(folder.path()).unwrap();
    assert_eq!(ask(&store, &ALL).await, before);

    let anew = Record::Promotion(Box::new(promotion("a/x", "prod", 1, Phase::Failed)));
    store.create(anew.clone()).await.unwrap();
    assert_eq!(store.create(anew).await, Err(StoreError::Exists(key)));
    let twice = store.promotions(&ALL).await.unwrap();
    assert_eq!(twice.len(), before.len() + 1, "one of the same name that comes later does not hide the earlier");
    assert_eq!(twice[0].phase, Phase::Failed);
}

#[tokio::test]
async fn a_proposal_that_was_removed_stays_in_the_past() {
    let (folder, store) = world().await;
    let kept = proposal("a/x", "https://example.org/config");
    let key = RecordKey::Proposal(kept.key.clone());
    assert_eq!(store.proposal(&kept.key).await.unwrap(), None);
    let version = store.create(Record::Proposal(Box::new(kept.clone()))).await.unwrap();
    store.remove(&key, version).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), None);
    store.close().await;
    let store = LocalStore::open(folder.path()).unwrap();
    assert_eq!(store.proposal(&kept.key).await.unwrap(), Some(kept));
}

#[tokio::test]
async fn promotions_are_told_newest_first_by_what_is_asked_for() {
    let (_folder, store) = world().await;
    let pipeline = Some("a/x".parse().unwrap());
    let environment = Some("prod".parse().unwrap());
    let namespace = Some("a".parse().unwrap());
    let of_environment = HistoryQuery { pipeline: pipeline.clone(), environment: environment.clone(), ..ALL };
    assert_eq!(ask(&store, &of_environment).await, ["a/x-prod-4", "a/x-prod-3", "a/x-prod-2", "a/x-prod-1"]);
    let of_pipeline = HistoryQuery { pipeline: pipeline.clone(), limit: 3, ..ALL };
    assert_eq!(ask(&store, &of_pipeline).await, ["a/x-prod-4", "a/x-qa-4", "a/x-prod-3"]);
    let of_namespace = HistoryQuery { namespace: namespace.clone(), limit: 2, ..ALL };
    assert_eq!(ask(&store, &of_namespace).await, ["a/y-prod-4", "a/x-prod-4"]);
    let of_environments = HistoryQuery { environment, limit: 3, ..ALL };
    assert_eq!(ask(&store, &of_environments).await, ["b/x-prod-4", "a/y-prod-4", "a/x-prod-4"]);
    let on_their_way = HistoryQuery { phases: vec![Phase::Pending, Phase::Proposed], ..ALL };
    assert_eq!(ask(&store, &on_their_way).await.len(), 4);
    let elsewhere = HistoryQuery { pipeline, namespace: Some("b".parse().unwrap()), ..ALL };
    assert!(ask(&store, &elsewhere).await.is_empty());
}

#[tokio::test]
async fn pages_fit_together() {
    let (_folder, store) = world().await;
    let all = ask(&store, &ALL).await;
    let mut paged = Vec::new();
    for skip in (0..20).step_by(3) {
        paged.extend(ask(&store, &HistoryQuery { skip, limit: 3, ..ALL }).await);
    }
    assert_eq!(paged, all);
    assert_eq!(all.len(), 16);
}

#[tokio::test]
async fn deeds_are_kept_and_told_newest_first() {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let deed = |number: i64, by: &str, pipeline: Option<&str>| Deed {
        at: second(number),
        by: Actor { name: by.to_owned(), groups: vec!["release".to_owned()] },
        verb: "approve".to_owned(),
        object: format!("deed {number}"),
        namespace: None,
        pipeline: pipeline.map(|key| key.parse().unwrap()),
        detail: None,
        why: Some("it was tested".to_owned()),
    };
    for number in 0..10 {
        let pipeline = [Some("a/x"), Some("a/y"), Some("b/x"), None][usize::try_from(number % 4).unwrap()];
        let by = if number % 2 == 0 { "anna" } else { "ben" };
        store.note(&deed(number, by, pipeline)).await.unwrap();
    }
    store.close().await;
    let store = LocalStore::open(folder.path()).unwrap();
    let all = DeedQuery { limit: 100, ..DeedQuery::default() };
    let told = store.deeds(&all).await.unwrap();
    assert_eq!(told.len(), 10);
    assert_eq!(told[0].deed, deed(9, "ben", Some("a/y")));
    assert!(told.windows(2).all(|pair| pair[0].number > pair[1].number));

    let rest = store.deeds(&DeedQuery { before: Some(told[6].number), ..all.clone() }).await.unwrap();
    assert_eq!(rest, told[7..]);
    let freeze = Deed { namespace: Some("c".parse().unwrap()), ..deed(10, "carl", None) };
    store.note(&freeze).await.unwrap();
    let about = store.deeds(&DeedQuery { namespace: freeze.namespace.clone(), ..all.clone() }).await.unwrap();
    assert_eq!(about.into_iter().map(|noted| noted.deed).collect::<Vec<_>>(), [freeze]);
    let count = async |query: DeedQuery| store.deeds(&query).await.unwrap().len();
    assert_eq!(count(DeedQuery { by: Some("anna".into()), ..all.clone() }).await, 5);
    assert_eq!(count(DeedQuery { namespace: Some("a".parse().unwrap()), ..all.clone() }).await, 6);
    assert_eq!(count(DeedQuery { pipeline: Some("a/x".parse().unwrap()), ..all.clone() }).await, 3);
    assert_eq!(count(DeedQuery { limit: 4, ..all }).await, 4);
}
