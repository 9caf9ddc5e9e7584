//! Who may do what: Weir's own account, and people.

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use weir_core::{Actor, Namespace, Phase, PipelineKey};
use weir_kube::{
    hub::{HubAccess, HubJournal, HubSettings, HubStore, Publisher},
    install::{Installed, install},
};
use weir_ports::{Access, Deed, DeedQuery, HistoryQuery, Journal, Record, Scope, Store, Verb};
use weir_testkit::{
    records::{memory, one_of_each, promotion, promotion_key},
    servers::{Cluster, eventually, unique},
};

use crate::{ground::ground, watch::list};

#[tokio::test]
async fn the_rights_of_the_manifests_are_enough_and_there_are_none_to_read_secrets() {
    let hub = Cluster::start().await;
    let client = hub.client().await;
    let mut told = Vec::new();
    install(&client, Some("weir:test"), true, |object, done| told.push((object.to_owned(), done))).await.unwrap();
    assert!(told.iter().all(|(_, done)| *done == Installed::Created), "{told:?}");
    let clusters = weir_api::crd_yaml().pop().unwrap().1;
    let theirs = clusters.replace("app.kubernetes.io/part-of: weir", "app.kubernetes.io/part-of: weave-gitops");
    assert_ne!(theirs, clusters);
    hub.apply(&theirs).await;

    told.clear();
    install(&client, Some("weir:test"), false, |object, done| told.push((object.to_owned(), done))).await.unwrap();
    let left = ("customresourcedefinition `gitopsclusters.gitops.weave.works`".to_owned(), Installed::Left);
    assert!(told.contains(&left), "{told:?}");
    assert!(told.contains(&("deployment `weir`".to_owned(), Installed::Created)));
    told.clear();
    for is_dry in [false, true] {
        install(&client, Some("weir:test"), is_dry, |object, done| told.push((object.to_owned(), done))).await.unwrap();
    }
    assert!(told.iter().all(|(_, done)| matches!(done, Installed::Unchanged | Installed::Left)), "{told:?}");
    told.clear();
    install(&client, Some("weir:other"), true, |object, done| told.push((object.to_owned(), done))).await.unwrap();
    told.retain(|(_, done)| *done == Installed::Changed);
    assert_eq!(told, [("deployment `weir`".to_owned(), Installed::Changed)]);

    // One that somebody applied from our manifests, and that is older, is ours.
    let older = clusters.replace("A cluster that targets can be on.", "A cluster.");
    assert_ne!(older, clusters);
    hub.apply(&older).await;
    told.clear();
    install(&client, Some("weir:test"), false, |object, done| told.push((object.to_owned(), done))).await.unwrap();
    assert!(told.contains(&(left.0, Installed::Changed)), "{told:?}");

    let namespace = hub.namespace("rights").await;
    hub.apply(&format!(
        "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: podinfo, namespace: \
         {namespace}}}, spec: {{environments: [{{name: dev, targets: [{{namespace: dev}}]}}]}}}}"
    ))
    .await;
    let token = hub.kubectl(&["create", "token", "weir", "-n", "weir-system"]).await;
    let weir = hub.client_with(token.trim()).await;
    let store = HubStore::new(weir.clone());
    let pipeline = format!("{namespace}/podinfo");
    for record in one_of_each(&pipeline, &unique("friday")) {
        let key = record.key();
        let version = eventually("it may be written", async || store.create(record.clone()).await).await;
        let version = store.replace(record, version).await.unwrap();
        assert!(list(&store).await.known.contains_key(&key));
        store.remove(&key, version).await.unwrap();
    }
    let mut turn = promotion(&pipeline, "prod", 3, Phase::Proposed);
    let now = jiff::Timestamp::now();
    turn.history = vec![weir_core::Turn { phase: Phase::Proposed, at: now, note: None }];
    Publisher::new(store.clone()).announce(&turn, now).await.unwrap();
    let access = HubAccess::new(weir, &HubSettings::default());
    let who = access.identify(&token.trim().into()).await.unwrap().unwrap();
    assert_eq!(who.name, "system:serviceaccount:weir-system:weir");
    for (verb, what) in [("get", "secrets"), ("list", "secrets"), ("watch", "secrets"), ("create", "pods")] {
        let user = Some("system:serviceaccount:weir-system:weir".to_owned());
        let resource_attributes = Some(ResourceAttributes {
            verb: Some(verb.to_owned()),
            resource: Some(what.to_owned()),
            ..ResourceAttributes::default()
        });
        let spec = SubjectAccessReviewSpec { user, resource_attributes, ..SubjectAccessReviewSpec::default() };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let reviews: kube::Api<SubjectAccessReview> = kube::Api::all(client.clone());
        let answer = reviews.create(&kube::api::PostParams::default(), &review).await.unwrap();
        assert!(!answer.status.unwrap().allowed, "{verb} {what}");
    }
}

#[tokio::test]
async fn people_may_what_rbac_gives_them_in_a_namespace() {
    let ground = ground("people").await;
    let namespace = &ground.namespace;
    let token = ground.hub.service_account(namespace, "anna").await;
    let settings = HubSettings { answers: std::time::Duration::ZERO, ..HubSettings::default() };
    let access = HubAccess::new(ground.client.clone(), &settings);
    assert_eq!(access.identify(&"nonsense".into()).await.unwrap(), None);
    let anna = access.identify(&token.into()).await.unwrap().unwrap();
    assert_eq!(anna.name, format!("system:serviceaccount:{namespace}:anna"));
    assert!(anna.groups.contains(&"system:authenticated".to_owned()), "{:?}", anna.groups);

    let home: Namespace = namespace.parse().unwrap();
    let there = Scope::Namespace(&home);
    let all = [Verb::View, Verb::Promote, Verb::Rollback, Verb::Pause, Verb::Approve, Verb::Define];
    let may = async |scope: Scope<'_>| {
        let mut may = Vec::new();
        for verb in all {
            if access.may(&anna, verb, scope).await.unwrap() {
                may.push(verb);
            }
        }
        may
    };
    assert!(may(there).await.is_empty());
    let to = format!("--serviceaccount={namespace}:anna");
    let pipelines = "--resource=pipelines.pipelines.weave.works";
    let one = ["create", "role", "one", "--verb=rollback,approve", pipelines, "--resource-name=shop"];
    let role = ["create", "role", "anna", "--verb=get,promote,create", pipelines];
    for role in [&one[..], &role[..]] {
        ground.hub.kubectl(&[role, &["-n", namespace]].concat()).await;
        let bound = format!("--role={}", role[2]);
        ground.hub.kubectl(&["create", "rolebinding", role[2], &bound, &to, "-n", namespace]).await;
    }
    let wanted = [Verb::View, Verb::Promote, Verb::Define];
    eventually("anna may", async || match may(there).await {
        may if may == wanted => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    let key = |name: &str| PipelineKey { namespace: home.clone(), name: name.parse().unwrap() };
    assert_eq!(may(Scope::Pipeline(&key("app"))).await, wanted);
    let more = [Verb::View, Verb::Promote, Verb::Rollback, Verb::Approve, Verb::Define];
    assert_eq!(may(Scope::Pipeline(&key("shop"))).await, more, "by name");
    assert!(may(Scope::All).await.is_empty(), "not everywhere");
}

#[tokio::test]
async fn deeds_and_promotions_are_told_newest_first() {
    let ground = ground("journal").await;
    let (key, store) = (ground.pipeline("podinfo").await, ground.store());
    for ordinal in 1..4 {
        let turn = promotion(&key, "prod", ordinal, Phase::Succeeded);
        store.create(Record::Promotion(Box::new(turn))).await.unwrap();
    }
    store.create(memory(&key, "prod", 3)).await.unwrap();
    let journal = HubJournal::new(store);
    for verb in ["suspend", "resume"] {
        let deed = Deed {
            at: jiff::Timestamp::now(),
            by: Actor { name: "anna".to_owned(), groups: Vec::new() },
            verb: verb.to_owned(),
            object: key.clone(),
            namespace: None,
            pipeline: Some(key.parse().unwrap()),
            detail: None,
            why: Some("it is Friday".to_owned()),
        };
        journal.note(&deed).await.unwrap();
    }
    let query = DeedQuery { by: Some("anna".to_owned()), limit: 9, ..DeedQuery::default() };
    let verbs: Vec<_> = journal.deeds(&query).await.unwrap().into_iter().map(|noted| noted.deed.verb).collect();
    assert_eq!(verbs, ["resume", "suspend"]);
    let arguments = ["get", "events.events.k8s.io", "-n", &ground.namespace, "-o", "jsonpath={.items[*].note}"];
    let told = ground.hub.kubectl(&arguments).await;
    assert!(told.contains(&format!("anna suspend {key}: it is Friday")), "{told}");

    let query = HistoryQuery {
        pipeline: Some(key.parse().unwrap()),
        namespace: None,
        environment: None,
        phases: vec![Phase::Succeeded],
        skip: 1,
        limit: 1,
    };
    let found: Vec<_> = journal.promotions(&query).await.unwrap().into_iter().map(|it| it.key).collect();
    assert_eq!(found, [promotion_key(&key, "prod", 2)]);
}
