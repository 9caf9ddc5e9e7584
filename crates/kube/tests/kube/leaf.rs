//! What pipelines see of clusters, tried on API servers with Flux's kinds.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use weir_core::VersionRule;
use weir_kube::leaf::LeafSettings;
use weir_ports::Clusters;
use weir_testkit::servers::{Cluster, unique};

use crate::leaf_ground::{Eye, View, bare, images, is, kustomization, put, quick, release, runs};

/// A target on the cluster `one`.
fn on(namespace: &str) -> String {
    format!("fleet/one/{namespace}")
}

async fn eye() -> (Eye, &'static Cluster) {
    let cluster = bare().await;
    let eye = Eye::new(quick());
    eye.directory.define("one", &cluster.kubeconfig());
    (eye, cluster)
}

#[tokio::test]
async fn an_application_is_the_one_workload_that_is_named() {
    let (mut eye, cluster) = eye().await;
    let namespace = cluster.namespace("named").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    put(cluster, &namespace, release("other", None, "1.0.0", &[])).await;
    put(cluster, &namespace, kustomization("podinfo", None, ("OCIRepository", "a"), "2.0.0@sha256:00")).await;
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on(&namespace)]);
    eye.want("a/ours", "Kustomization/podinfo", None, &[&on(&namespace)]);
    eye.want("a/none", "HelmRelease/nothing", None, &[&on(&namespace)]);

    let seen = eye.until("a/podinfo", &on(&namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    assert_eq!(seen.workloads.len(), 1, "{seen:?}");
    let seen = eye.until("a/ours", &on(&namespace), is("Kustomization/podinfo", "2.0.0")).await;
    assert_eq!(seen.workloads.len(), 1, "{seen:?}");
    eye.until("a/none", &on(&namespace), |seen| seen.workloads.is_empty()).await;

    put(cluster, &namespace, release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/podinfo", &on(&namespace), is("HelmRelease/podinfo", "6.2.0")).await;
    cluster.kubectl(&["delete", "helmrelease", "podinfo", "-n", &namespace]).await;
    eye.until("a/podinfo", &on(&namespace), |seen| seen.workloads.is_empty()).await;
}

#[tokio::test]
async fn what_carries_the_label_belongs_to_the_pipeline() {
    let (mut eye, cluster) = eye().await;
    let namespace = cluster.namespace("labelled").await;
    put(cluster, &namespace, release("shop-api", Some("shop"), "1.0.0", &[])).await;
    put(cluster, &namespace, release("stranger", Some("another"), "1.0.0", &[])).await;
    let site = || kustomization("shop-site", Some("shop"), ("OCIRepository", "site"), "3.0.0@sha256:00");
    put(cluster, &namespace, site()).await;
    eye.want("a/shop", "labelled", None, &[&on(&namespace)]);
    let seen = eye.until("a/shop", &on(&namespace), |seen| seen.workloads.len() == 2).await;
    assert_eq!(runs(&seen, "HelmRelease/shop-api"), Some(("1.0.0".to_owned(), true)));
    assert_eq!(runs(&seen, "Kustomization/shop-site"), Some(("3.0.0".to_owned(), true)));

    put(cluster, &namespace, release("stranger", Some("shop"), "1.0.0", &[])).await;
    eye.until("a/shop", &on(&namespace), |seen| seen.workloads.len() == 3).await;
    put(cluster, &namespace, release("stranger", None, "1.0.0", &[])).await;
    eye.until("a/shop", &on(&namespace), |seen| seen.workloads.len() == 2).await;
}

#[tokio::test]
async fn who_comes_later_is_told_everything_and_another_interest_is_told_anew() {
    let (mut eye, cluster) = eye().await;
    let namespace = cluster.namespace("again").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    put(cluster, &namespace, release("other", None, "1.0.0", &[])).await;
    let first = eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on(&namespace)]);
    eye.until("a/podinfo", &on(&namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    assert!(Arc::ptr_eq(eye.view().interest("a/podinfo", &on(&namespace)), &first));

    let mut later = View::new(&eye.leaves);
    let same = |seen: Option<&weir_core::Sighting>| seen.is_some_and(is("HelmRelease/podinfo", "6.1.0"));
    later.until("a/podinfo", &on(&namespace), same).await;
    assert_eq!(later.told, 1);

    // An equal interest changes nothing; what comes next is what another one sees.
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on(&namespace)]);
    let second = eye.want("a/podinfo", "HelmRelease/other", None, &[&on(&namespace)]);
    let other = |seen: Option<&weir_core::Sighting>| seen.is_some_and(is("HelmRelease/other", "1.0.0"));
    later.until("a/podinfo", &on(&namespace), other).await;
    assert_eq!(later.told, 2);
    assert!(Arc::ptr_eq(later.interest("a/podinfo", &on(&namespace)), &second));

    eye.leaves.want(&"a/podinfo".parse().unwrap(), None);
    eye.want("a/last", "HelmRelease/other", None, &[&on(&namespace)]);
    let mut last = View::new(&eye.leaves);
    last.until("a/last", &on(&namespace), other).await;
    assert_eq!(last.told, 1, "what is forgotten is not told");
}

#[tokio::test]
async fn weirs_own_cluster_is_read_without_a_kubeconfig_or_not_at_all() {
    let cluster = bare().await;
    let namespace = cluster.namespace("local").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    let mut eye = Eye::with(quick(), Some(cluster.client().await));
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&namespace]);
    eye.until("a/podinfo", &namespace, is("HelmRelease/podinfo", "6.1.0")).await;
    let mut blind = Eye::new(quick());
    blind.want("a/podinfo", "HelmRelease/podinfo", None, &[&namespace]);
    blind.until_undefined("a/podinfo", &namespace).await;
}

#[tokio::test]
async fn more_than_twenty_namespaces_are_seen_and_so_is_one_that_joins() {
    let (mut eye, cluster) = eye().await;
    let mut namespaces = Vec::new();
    for _ in 0..22 {
        let namespace = cluster.namespace("many").await;
        put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
        namespaces.push(namespace);
    }
    for (number, namespace) in namespaces[..21].iter().enumerate() {
        eye.want(&format!("a/p{number}"), "HelmRelease/podinfo", None, &[&on(namespace)]);
    }
    for (number, namespace) in namespaces[..21].iter().enumerate() {
        eye.until(&format!("a/p{number}"), &on(namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    }
    eye.want("a/p21", "HelmRelease/podinfo", None, &[&on(&namespaces[21])]);
    eye.until("a/p21", &on(&namespaces[21]), is("HelmRelease/podinfo", "6.1.0")).await;
    put(cluster, &namespaces[0], release("podinfo", None, "6.2.0", &[])).await;
    eye.until("a/p0", &on(&namespaces[0]), is("HelmRelease/podinfo", "6.2.0")).await;
}

#[tokio::test]
async fn images_are_those_of_what_the_inventory_lists() {
    let (mut eye, cluster) = eye().await;
    let namespace = cluster.namespace("images").await;
    let pods = |image: &str| json!({"metadata": {"labels": {"app": "a"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image}]}});
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": pods("example.org/web:1")},
    });
    deployment["spec"]["template"]["spec"]["restartPolicy"] = json!("Always");
    deployment["spec"]["template"]["spec"]["initContainers"] = json!([{"name": "i", "image": "example.org/init:7"}]);
    put(cluster, &namespace, deployment.clone()).await;
    put(
        cluster,
        &namespace,
        json!({
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "night"},
            "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": pods("example.org/web:1")}}},
        }),
    )
    .await;
    let ids = [
        format!("{namespace}_web_apps_Deployment"),
        format!("{namespace}_night_batch_CronJob"),
        format!("{namespace}_gone_apps_StatefulSet"),
        format!("{namespace}_web__Service"),
    ];
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    put(cluster, &namespace, release("web", None, "1.0.0", &ids)).await;
    eye.want("a/web", "HelmRelease/web", None, &[&on(&namespace)]);
    let by_image = Some(VersionRule::Image("web".into()));
    eye.want("a/image", "HelmRelease/web", by_image, &[&on(&namespace)]);
    let seen = eye.until("a/web", &on(&namespace), |seen| !seen.images.is_empty()).await;
    assert_eq!(images(&seen, "HelmRelease/web"), ["example.org/init:7", "example.org/web:1"]);
    assert_eq!(runs(&seen, "HelmRelease/web"), Some(("1.0.0".to_owned(), true)));
    eye.until("a/image", &on(&namespace), is("HelmRelease/web", "1")).await;

    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = json!("example.org/web:2");
    put(cluster, &namespace, deployment).await;
    put(cluster, &namespace, release("web", None, "2.0.0", &ids[..1])).await;
    let seen = eye.until("a/image", &on(&namespace), is("HelmRelease/web", "2")).await;
    assert_eq!(images(&seen, "HelmRelease/web"), ["example.org/init:7", "example.org/web:2"]);
}

#[tokio::test]
async fn images_that_somebody_changes_behind_flux_are_noticed_in_time() {
    let cluster = bare().await;
    let mut eye = Eye::new(LeafSettings { details: Duration::from_millis(500), ..quick() });
    eye.directory.define("one", &cluster.kubeconfig());
    let namespace = cluster.namespace("images").await;
    let deployment = |image: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {
                "metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": image}]},
            }},
        })
    };
    put(cluster, &namespace, deployment("example.org/web:1")).await;
    put(cluster, &namespace, release("web", None, "1.0.0", &[&format!("{namespace}_web_apps_Deployment")])).await;
    eye.want("a/web", "HelmRelease/web", None, &[&on(&namespace)]);
    eye.until("a/web", &on(&namespace), |seen| images(seen, "HelmRelease/web") == ["example.org/web:1"]).await;
    // The HelmRelease knows nothing of it.
    put(cluster, &namespace, deployment("example.org/web:2")).await;
    eye.until("a/web", &on(&namespace), |seen| images(seen, "HelmRelease/web") == ["example.org/web:2"]).await;
}

#[tokio::test]
async fn what_a_git_source_follows_decides_whether_its_revision_is_a_version() {
    let (mut eye, cluster) = eye().await;
    let namespace = cluster.namespace("source").await;
    let source = |name: &str, reference: serde_json::Value| {
        json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": {"name": name},
            "spec": {"interval": "1m", "url": "https://example.org/r.git", "ref": reference},
        })
    };
    put(cluster, &namespace, source("tagged", json!({"tag": "release-7"}))).await;
    put(cluster, &namespace, source("moving", json!({"branch": "v1.0.0"}))).await;
    let commit = "0123456789012345678901234567890123456789";
    let git = |name: &str| ("GitRepository", name.to_owned());
    for (name, revision) in [("tagged", "release-7"), ("moving", "v1.0.0"), ("nowhere", "v1.0.0")] {
        let (kind, source) = git(name);
        let object = kustomization(name, None, (kind, &source), &format!("{revision}@sha1:{commit}"));
        put(cluster, &namespace, object).await;
    }
    for name in ["tagged", "moving", "nowhere"] {
        eye.want(&format!("a/{name}"), &format!("Kustomization/{name}"), None, &[&on(&namespace)]);
    }
    eye.want("a/commit", "Kustomization/moving", Some(VersionRule::Source), &[&on(&namespace)]);
    let mut chart = release("chart", None, "1.0.0", &[]);
    chart["spec"]["chart"]["spec"]["sourceRef"] = json!({"kind": "GitRepository", "name": "tagged"});
    put(cluster, &namespace, chart).await;
    let mut fetched = source("tagged", json!({"tag": "release-7"}));
    fetched["status"] = json!({"artifact": {
        "revision": format!("release-7@sha1:{commit}"), "digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
        "path": "a", "url": "http://example.org/a", "lastUpdateTime": "2024-01-01T00:00:00Z",
    }});
    put(cluster, &namespace, fetched).await;
    eye.want("a/chart", "HelmRelease/chart", Some(VersionRule::Source), &[&on(&namespace)]);
    eye.until("a/chart", &on(&namespace), is("HelmRelease/chart", "release-7")).await;
    eye.until("a/tagged", &on(&namespace), is("Kustomization/tagged", "release-7")).await;
    eye.until("a/moving", &on(&namespace), is("Kustomization/moving", "branch v1.0.0")).await;
    eye.until("a/commit", &on(&namespace), is("Kustomization/moving", commit)).await;
    let words = format!("there is no GitRepository `{namespace}/nowhere`");
    eye.until_lost("a/nowhere", &on(&namespace), &words).await;
    put(cluster, &namespace, source("nowhere", json!({"tag": "v1.0.0"}))).await;
    eye.until("a/nowhere", &on(&namespace), is("Kustomization/nowhere", "v1.0.0")).await;
}

#[tokio::test]
async fn a_cluster_without_flux_says_so_until_it_has_it_in_whatever_version() {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("new").await;
    let mut eye = Eye::new(quick());
    eye.directory.define("one", &cluster.kubeconfig());
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on(&namespace)]);
    eye.want("a/ours", "Kustomization/podinfo", None, &[&on(&namespace)]);
    eye.want("a/shop", "labelled", None, &[&on(&namespace)]);
    let words = "the cluster has no HelmReleases (helm.toolkit.fluxcd.io); install Flux on it";
    eye.until_lost("a/podinfo", &on(&namespace), words).await;
    eye.until_lost("a/shop", &on(&namespace), "neither HelmReleases nor Kustomizations").await;

    cluster
        .apply(
            "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  names: {kind: HelmRelease, plural: helmreleases, singular: helmrelease, listKind: HelmReleaseList}
  scope: Namespaced
  versions:
  - {name: v2beta1, served: true, storage: false, schema: &s {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2beta2, served: true, storage: true, schema: *s}
",
        )
        .await;
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).await;
    let mut older = release("podinfo", Some("shop"), "6.1.0", &[]);
    older["apiVersion"] = json!("helm.toolkit.fluxcd.io/v2beta2");
    older["status"]["observedGeneration"] = json!(1);
    older["metadata"]["namespace"] = json!(namespace);
    cluster.apply(&older.to_string()).await;
    eye.until("a/podinfo", &on(&namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    eye.until("a/shop", &on(&namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    eye.until_lost("a/ours", &on(&namespace), "the cluster has no Kustomizations").await;
}

#[tokio::test]
async fn workloads_are_labelled_if_that_is_wanted_and_they_belong_to_one_pipeline() {
    let cluster = bare().await;
    let namespace = cluster.namespace("labels").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    put(cluster, &namespace, release("shared", None, "6.1.0", &[])).await;
    let settings = weir_kube::leaf::LeafSettings { label_workloads: true, ..quick() };
    let mut eye = Eye::new(settings);
    eye.directory.define("one", &cluster.kubeconfig());
    for pipeline in ["a/left", "a/right"] {
        eye.want(pipeline, "HelmRelease/shared", None, &[&on(&namespace)]);
    }
    for pipeline in ["a/left", "a/right"] {
        eye.until(pipeline, &on(&namespace), is("HelmRelease/shared", "6.1.0")).await;
    }
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on(&namespace)]);
    let labels = async |name: &str| {
        let words = ["get", "helmrelease", name, "-n", &namespace, "-o", "jsonpath={.metadata.labels}"];
        serde_json::from_str::<serde_json::Value>(&cluster.kubectl(&words).await).unwrap_or_default()
    };
    let expected = json!({
        "pipelines.weave.works/name": "podinfo", "pipelines.weave.works/env": "dev",
        "pipelines.weave.works/target": format!("fleet_one_{namespace}"),
    });
    weir_testkit::servers::eventually("it is labelled", async || {
        let found = labels("podinfo").await;
        if found == expected { Ok(()) } else { Err(found) }
    })
    .await;
    eye.until("a/podinfo", &on(&namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    let words = ["get", "helmrelease", "podinfo", "-n", &namespace, "--show-managed-fields", "-o", "json"];
    assert!(cluster.kubectl(&words).await.contains("\"manager\": \"weir-labels\""));
    assert!(labels("shared").await["pipelines.weave.works/name"].is_null(), "nobody can say whose it is");
}

#[tokio::test]
async fn nothing_is_watched_when_nobody_wants_it_any_more() {
    let (mut eye, cluster) = eye().await;
    let namespace = cluster.namespace("dropped").await;
    put(cluster, &namespace, release("podinfo", None, "6.1.0", &[])).await;
    eye.want(&format!("a/{}", unique("p")), "HelmRelease/podinfo", None, &[&on(&namespace)]);
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&on(&namespace)]);
    eye.until("a/podinfo", &on(&namespace), is("HelmRelease/podinfo", "6.1.0")).await;
    let Eye { leaves, directory, .. } = eye;
    let mut news = leaves.watch();
    drop(leaves);
    weir_testkit::servers::eventually("all tasks end", async || {
        let held = Arc::strong_count(&directory);
        if held == 1 { Ok(()) } else { Err(format!("held by {held}")) }
    })
    .await;
    let end = async {
        use futures_util::StreamExt as _;
        while news.next().await.is_some() {}
    };
    tokio::time::timeout(Duration::from_secs(30), end).await.expect("it ends");
}
