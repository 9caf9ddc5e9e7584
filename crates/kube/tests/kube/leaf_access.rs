//! The way into clusters: kubeconfigs, rights, and clusters that are gone.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::json;
use weir_core::VersionRule;
use weir_kube::{
    hub::HubCatalog,
    leaf::{LeafSettings, Leaves},
};
use weir_ports::{Clusters, TreeState};
use weir_testkit::servers::{Leaf, eventually};

use crate::{
    ground::{ground, next},
    leaf_ground::{Eye, Wire, bare, images, interest, is, kubeconfig_of_weir, kustomization, put, quick, release},
};

const RIGHTS: &str = include_str!("../../../../deploy/manifests/leaf.yaml");

fn on(cluster: &str, namespace: &str) -> String {
    format!("fleet/{cluster}/{namespace}")
}

#[tokio::test]
async fn a_cluster_is_seen_from_the_moment_that_it_is_defined_until_it_is_not() {
    let cluster = bare().await;
    let namespace = cluster.namespace("defined").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let mut eye = Eye::new(quick());
    let target = on("one", &namespace);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&target]);
    eye.until_undefined("a/podinfo", &target).await;
    eye.directory.define_without_secret("one");
    eye.until_lost("a/podinfo", &target, "there is no Secret `fleet/one`").await;
    eye.directory.put_secret("one", "config", &cluster.kubeconfig());
    let words = "Secret `fleet/one` has none of the keys `value`, `value.yaml`, `kubeconfig`";
    let first = eye.until_lost("a/podinfo", &target, words).await;
    eye.directory.put_secret("one", "kubeconfig", "apiVersion: v1\ncurrent-context: s3cret\n");
    let second = eye.until_lost("a/podinfo", &target, "its `current-context` is not among its `contexts`").await;
    let (first, second) = (first.unreachable.unwrap(), second.unreachable.unwrap());
    assert_eq!(first.since, second.since, "it has lasted since then");
    assert!(!second.error.contains("s3cret"), "{}", second.error);
    eye.directory.put_secret("one", "value.yaml", &cluster.kubeconfig());
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.1.0")).await;
    eye.directory.undefine("one");
    eye.until_undefined("a/podinfo", &target).await;
}

#[tokio::test]
async fn a_cluster_of_the_hub_is_read_by_the_secret_that_its_definition_names() {
    let (ground, cluster) = (ground("fleet").await, bare().await);
    let namespace = cluster.namespace("hub").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let home = &ground.namespace;
    let leaves = Leaves::new(Arc::new(HubCatalog::new(ground.client.clone())), None, quick());
    let mut news = leaves.watch();
    let sees = is("HelmRelease/podinfo", "6.1.0");
    // Cluster API names the Secret of a cluster by a rule of its own.
    for (cluster_name, reference, secret) in [
        ("prod", json!({"secretRef": {"name": "way-in"}}), "way-in"),
        ("made", json!({"capiClusterRef": {"name": "aws"}}), "aws-kubeconfig"),
    ] {
        let definition = json!({
            "apiVersion": "gitops.weave.works/v1alpha1", "kind": "GitopsCluster",
            "metadata": {"name": cluster_name, "namespace": home}, "spec": reference,
        });
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret, "namespace": home},
            "stringData": {"value": cluster.kubeconfig()},
        });
        ground.hub.apply(&json!({"apiVersion": "v1", "kind": "List", "items": [definition, secret]}).to_string()).await;
        let target = format!("{home}/{cluster_name}/{namespace}");
        let wanted = interest("HelmRelease/podinfo", None, &[&target]);
        leaves.want(&format!("a/{cluster_name}").parse().unwrap(), Some(Arc::new(wanted)));
        while !next(&mut news).await.sighting.is_some_and(|it| sees(&it)) {}
    }
}

#[tokio::test]
async fn an_api_server_that_streams_no_lists_is_asked_for_pages() {
    let leaf = Leaf::builder("paged").controllers(&[]).flag("--feature-gates=WatchList=false").start().await;
    let cluster = leaf.cluster();
    let namespace = cluster.namespace("paged").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let mut eye = Eye::new(quick());
    eye.directory.define("paged", &cluster.kubeconfig());
    let target = on("paged", &namespace);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&target]);
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.1.0")).await;
    put(cluster, &namespace, release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.2.0")).await;
    assert_eq!(eye.view().lost, 0, "nobody has to know");
}

#[tokio::test]
async fn definitions_that_cannot_be_read_end_nothing_that_works() {
    let cluster = bare().await;
    let namespace = cluster.namespace("broken").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let mut eye = Eye::new(quick());
    for name in ["one", "two"] {
        eye.directory.define(name, &cluster.kubeconfig());
    }
    let (first, second) = (on("one", &namespace), on("two", &namespace));
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&first]);
    eye.until("a/podinfo", &first, is("HelmRelease/podinfo", "6.1.0")).await;
    eye.directory.is_broken.store(true, Ordering::Relaxed);
    // Who comes now finds no way in, but who is in stays.
    eye.want("a/late", "HelmRelease/podinfo", None, &[&second]);
    eye.until_lost("a/late", &second, "reading GitopsCluster `fleet/two` failed: the hub is down").await;
    eventually("the first is looked for, and that was taken in", async || {
        let count = eye.directory.refused("one");
        if count >= 2 { Ok(()) } else { Err(count) }
    })
    .await;
    put(cluster, &namespace, release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/podinfo", &first, is("HelmRelease/podinfo", "6.2.0")).await;
    eye.directory.is_broken.store(false, Ordering::Relaxed);
    eye.until("a/late", &second, is("HelmRelease/podinfo", "6.2.0")).await;
    assert_eq!(eye.view().lost, 1, "only the one that came late");
}

#[tokio::test]
async fn a_kubeconfig_may_start_no_program() {
    let cluster = bare().await;
    let namespace = cluster.namespace("exec").await;
    let mut eye = Eye::new(quick());
    let token = cluster.token_of("admin");
    let kubeconfig = cluster.kubeconfig().replace(&format!("token: {token}"), "exec: {command: /bin/s3cret}");
    eye.directory.define("one", &kubeconfig);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on("one", &namespace)]);
    let seen = eye.until_lost("a/podinfo", &on("one", &namespace), "--allow-kubeconfig-exec").await;
    let error = seen.unreachable.unwrap().error;
    assert!(error.contains("Secret `fleet/one`") && !error.contains("s3cret"), "{error}");
}

#[tokio::test]
async fn a_new_kubeconfig_is_taken_up_when_the_old_one_is_revoked() {
    let cluster = bare().await;
    let namespace = cluster.namespace("rotated").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    cluster.apply(RIGHTS).await;
    let kubeconfig = kubeconfig_of_weir(cluster, &namespace, "weir-leaf", false).await;
    // It is not read again by itself in this test.
    let mut eye = Eye::new(LeafSettings { kubeconfig: Duration::from_hours(1), ..quick() });
    let target = on("one", &namespace);
    eye.directory.define("one", &kubeconfig);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&target]);
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.1.0")).await;
    cluster.kubectl(&["delete", "serviceaccount", "weir-leaf", "-n", &namespace]).await;
    let lost = eye.until_lost("a/podinfo", &target, "does not accept the credentials").await;
    assert_eq!(lost.workloads.len(), 1, "what was seen last stays");
    let token = cluster.service_account(&namespace, "weir-leaf").await;
    eye.directory.define("one", &cluster.kubeconfig_with(&token));
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.1.0")).await;
    put(cluster, &namespace, release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.2.0")).await;
}

#[tokio::test]
async fn the_rights_of_the_manifest_are_enough() {
    let cluster = bare().await;
    cluster.apply(RIGHTS).await;
    let namespace = cluster.namespace("rights").await;
    let ids = [format!("{namespace}_web_apps_Deployment"), format!("{namespace}_one__Pod")];
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {
            "metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "example.org/web:1"}]},
        }},
    });
    put(cluster, &namespace, web).await;
    put(cluster, &namespace, release("web", None, "1.0.0", &ids)).await;
    let source = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": {"name": "git"},
        "spec": {"interval": "1m", "url": "https://example.org/r.git", "ref": {"tag": "one"}},
    });
    put(cluster, &namespace, source).await;
    let revision = "one@sha1:0123456789012345678901234567890123456789";
    put(cluster, &namespace, kustomization("ours", None, ("GitRepository", "git"), revision)).await;

    let mut eye = Eye::new(LeafSettings { label_workloads: true, ..quick() });
    let kubeconfig = kubeconfig_of_weir(cluster, &namespace, "weir-leaf", true).await;
    eye.directory.define("one", &kubeconfig);
    let target = on("one", &namespace);
    eye.want("a/web", "HelmRelease/web", Some(VersionRule::Image("web".into())), &[&target]);
    eye.want("a/ours", "Kustomization/ours", None, &[&target]);
    let seen = eye.until("a/web", &target, is("HelmRelease/web", "1")).await;
    assert_eq!(images(&seen, "HelmRelease/web"), ["example.org/web:1"]);
    eye.until("a/ours", &target, is("Kustomization/ours", "one")).await;

    let behind =
        async |workload: &str| eye.leaves.behind(&target.parse().unwrap(), &workload.parse().unwrap()).await.unwrap();
    let git = behind("Kustomization/ours").await;
    assert_eq!((git.kind.as_str(), git.leads_to[0].kind.as_str()), ("GitRepository", "Kustomization"));
    let release = behind("HelmRelease/web").await.leads_to.remove(0);
    let applied: Vec<_> = release.leads_to.iter().map(|it| (it.kind.as_str(), it.state)).collect();
    assert_eq!(applied, [("Deployment", TreeState::Progressing), ("Pod", TreeState::Missing)]);

    // Labels take a right of their own, and without it everything else works.
    let labels = ["get", "helmrelease", "web", "-n", &namespace, "-o", "jsonpath={.metadata.labels}"];
    assert_eq!(cluster.kubectl(&labels).await, "");
    let user = format!("--serviceaccount={namespace}:weir-leaf");
    let binding = format!("{namespace}-labels");
    cluster.kubectl(&["create", "clusterrolebinding", &binding, "--clusterrole=weir-leaf-labels", &user]).await;
    let mut again = Eye::new(LeafSettings { label_workloads: true, ..quick() });
    again.directory.define("one", &kubeconfig);
    again.want("a/web", "HelmRelease/web", None, &[&target]);
    again.until("a/web", &target, is("HelmRelease/web", "1.0.0")).await;
    eventually("it is labelled", async || {
        let found = cluster.kubectl(&labels).await;
        if found.contains("pipelines.weave.works/env") { Ok(()) } else { Err(found) }
    })
    .await;
}

#[tokio::test]
async fn a_right_that_is_missing_is_named_where_it_is_missing() {
    let cluster = bare().await;
    cluster.apply(RIGHTS).await;
    let (open, shut) = (cluster.namespace("open").await, cluster.namespace("shut").await);
    for namespace in [&open, &shut] {
        put(cluster, namespace, release("podinfo", None, "6.1.0", &[])).await;
    }
    let mut eye = Eye::new(quick());
    eye.directory.define("one", &kubeconfig_of_weir(cluster, &open, "weir-leaf", false).await);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on("one", &open), &on("one", &shut)]);
    let words = format!("a right is missing on the cluster: list and watch helmreleases in namespace `{shut}`");
    eye.until_lost("a/podinfo", &on("one", &shut), &words).await;
    eye.until("a/podinfo", &on("one", &open), is("HelmRelease/podinfo", "6.1.0")).await;

    let many: Vec<_> = (0..20).map(|n| on("one", &format!("{open}-{n}"))).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    eye.want("a/many", "HelmRelease/podinfo", None, &many);
    let words = "list and watch helmreleases in all namespaces";
    eye.until_lost("a/many", many[0], words).await;
    eye.until_lost("a/podinfo", &on("one", &open), words).await;
    eye.leaves.want(&"a/many".parse().unwrap(), None);
    eye.until("a/podinfo", &on("one", &open), is("HelmRelease/podinfo", "6.1.0")).await;

    // What is read beside a workload makes a target unreadable only if it decides.
    let reader =
        ["create", "role", "reader", "--verb=get,list,watch", "--resource=helmreleases.helm.toolkit.fluxcd.io"];
    let user = format!("--serviceaccount={open}:weir-leaf");
    cluster.kubectl(&[&reader[..], &["-n", &shut]].concat()).await;
    cluster.kubectl(&["create", "rolebinding", "reader", "--role=reader", &user, "-n", &shut]).await;
    put(cluster, &shut, release("podinfo", None, "6.1.0", &[&format!("{shut}_web_apps_Deployment")])).await;
    eye.until("a/podinfo", &on("one", &shut), is("HelmRelease/podinfo", "6.1.0")).await;
    let by_image = Some(VersionRule::Image("web".into()));
    eye.want("a/image", "HelmRelease/podinfo", by_image, &[&on("one", &shut)]);
    eye.until_lost("a/image", &on("one", &shut), &format!("get deployments in namespace `{shut}`")).await;
}

#[tokio::test]
async fn a_cluster_that_dies_harms_no_other_and_is_seen_again_when_it_returns() {
    let other = bare().await;
    let mut leaf = Leaf::builder("mortal").controllers(&[]).start().await;
    let (here, there) = (leaf.cluster().namespace("mortal").await, other.namespace("immortal").await);
    put(leaf.cluster(), &here, release("podinfo", None, "6.1.0", &[])).await;
    put(other, &there, release("podinfo", None, "6.1.0", &[])).await;
    let mut eye = Eye::new(quick());
    eye.directory.define("mortal", &leaf.cluster().kubeconfig());
    eye.directory.define("other", &other.kubeconfig());
    let (mortal, immortal) = (on("mortal", &here), on("other", &there));
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&mortal, &immortal]);
    eye.until("a/podinfo", &mortal, is("HelmRelease/podinfo", "6.1.0")).await;
    eye.until("a/podinfo", &immortal, is("HelmRelease/podinfo", "6.1.0")).await;

    leaf.stop();
    let lost = eye.until_lost("a/podinfo", &mortal, "` cannot be reached").await;
    let words = lost.unreachable.as_ref().unwrap().error.to_string();
    assert!(words.starts_with("`127.0.0.1:"), "with its port: {words}");
    assert_eq!(lost.workloads.len(), 1, "what was seen last stays");
    put(other, &there, release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/podinfo", &immortal, is("HelmRelease/podinfo", "6.2.0")).await;
    assert_eq!(eye.view().sighting("a/podinfo", &mortal), Some(&lost), "what stays the same is told once");
    leaf.start_again().await;
    put(leaf.cluster(), &here, release("podinfo", None, "6.3.0", &[])).await;
    let told = eye.view().told;
    eye.until("a/podinfo", &mortal, is("HelmRelease/podinfo", "6.3.0")).await;
    assert!(eye.view().told - told <= 2, "{} times", eye.view().told - told);
}

#[tokio::test]
async fn a_short_outage_is_not_told() {
    let mut leaf = Leaf::builder("shaky").controllers(&[]).start().await;
    let namespace = leaf.cluster().namespace("shaky").await;
    put(leaf.cluster(), &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let mut eye = Eye::new(LeafSettings { grace: Duration::from_mins(5), ..quick() });
    eye.directory.define("one", &leaf.cluster().kubeconfig());
    let target = on("one", &namespace);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&target]);
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.1.0")).await;
    leaf.start_again().await;
    put(leaf.cluster(), &namespace, release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.2.0")).await;
    assert_eq!(eye.view().lost, 0);
}

#[tokio::test]
async fn a_connection_that_went_silent_is_noticed_and_made_anew() {
    let cluster = bare().await;
    let namespace = cluster.namespace("silent").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let wire = Wire::to(cluster).await;
    let mut eye = Eye::new(LeafSettings { deadline: Duration::from_secs(2), ..quick() });
    eye.directory.define("one", &wire.kubeconfig(cluster));
    let target = on("one", &namespace);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&target]);
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.1.0")).await;
    wire.block(true);
    put(cluster, &namespace, release("podinfo", None, "6.2.0", &[])).await;
    let lost = eye.until_lost("a/podinfo", &target, "` has not answered within 2 s").await;
    assert!(is("HelmRelease/podinfo", "6.1.0")(&lost), "what was seen last stays");
    wire.block(false);
    eye.until("a/podinfo", &target, is("HelmRelease/podinfo", "6.2.0")).await;
}

#[tokio::test]
async fn a_cluster_that_never_answers_is_told_of_in_time() {
    // It takes connections and says nothing.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let cluster = bare().await;
    let kubeconfig = cluster.kubeconfig().replace(&cluster.url(), &format!("https://{address}"));
    let mut eye = Eye::new(LeafSettings { patience: Duration::from_secs(1), ..quick() });
    eye.directory.define("silent", &kubeconfig);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on("silent", "a")]);
    eye.until_lost("a/podinfo", &on("silent", "a"), "the cluster has not answered within 1 s").await;
    drop(silent);
}
