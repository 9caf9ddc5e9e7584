//! API servers.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use weir_testkit::servers::{Cluster, eventually, shared};

fn config_map(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }, ..ConfigMap::default() }
}

fn refused(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

/// Lets somebody list configuration. The API server learns of it a moment later.
async fn give(cluster: &Cluster, namespace: &str, to: &str) {
    let role = ["create", "role", "list", "--verb=list", "--resource=configmaps", "--namespace", namespace];
    cluster.kubectl(&role).await;
    cluster.kubectl(&["create", "rolebinding", "list", "--role=list", to, "--namespace", namespace]).await;
}

#[tokio::test]
async fn a_hub_answers_its_administrator() {
    let hub = shared::hub().await;
    let namespaces: Api<Namespace> = Api::all(hub.client().await);
    let names: Vec<_> = namespaces.list(&ListParams::default()).await.unwrap().into_iter().collect();
    assert!(names.iter().any(|namespace| namespace.metadata.name.as_deref() == Some("kube-system")));
}

#[tokio::test]
async fn a_hub_refuses_a_user_without_rights() {
    let hub = shared::hub().await;
    let namespaces: Api<Namespace> = Api::all(hub.client_of("stranger").await);
    let error = namespaces.list(&ListParams::default()).await.unwrap_err();
    assert!(refused(&error), "{error}");
}

#[tokio::test]
async fn a_user_may_do_what_a_binding_for_its_group_gives() {
    let hub = Cluster::builder("hub").user("alice", &["release"]).start().await;
    let namespace = hub.namespace("alice").await;
    give(&hub, &namespace, "--group=release").await;
    let maps: Api<ConfigMap> = Api::namespaced(hub.client_of("alice").await, &namespace);
    eventually("alice may list", async || maps.list(&ListParams::default()).await).await;
}

#[tokio::test]
async fn a_service_account_is_a_user_for_one_test_on_a_shared_hub() {
    let hub = shared::hub().await;
    let namespace = hub.namespace("account").await;
    let token = hub.service_account(&namespace, "reader").await;
    let maps: Api<ConfigMap> = Api::namespaced(hub.client_with(&token).await, &namespace);
    let error = maps.list(&ListParams::default()).await.unwrap_err();
    assert!(refused(&error), "{error}");

    give(hub, &namespace, &format!("--serviceaccount={namespace}:reader")).await;
    eventually("the account may list", async || maps.list(&ListParams::default()).await).await;
}

#[tokio::test]
async fn a_cluster_that_was_stopped_comes_back_with_its_objects_at_its_address() {
    let mut hub = Cluster::start().await;
    let namespace = hub.namespace("kept").await;
    let maps: Api<ConfigMap> = Api::namespaced(hub.client().await, &namespace);
    maps.create(&PostParams::default(), &config_map("kept")).await.unwrap();

    hub.stop();
    maps.get("kept").await.unwrap_err();

    hub.start_again().await;
    maps.get("kept").await.unwrap();
}

#[tokio::test]
async fn two_clusters_know_nothing_of_each_other() {
    let (one, other) = (shared::hub().await, Cluster::start().await);
    let namespace = one.namespace("mine").await;
    let namespaces: Api<Namespace> = Api::all(other.client().await);
    assert!(namespaces.get_opt(&namespace).await.unwrap().is_none());
}
