//! Flux on a leaf.

use weir_testkit::servers::{Chart, Controller, Inbox, Leaf, shared, unique};

use crate::signature;

#[tokio::test]
async fn a_leaf_installs_a_release_and_tells_of_it_with_a_signature() {
    let (leaf, gitea) = (shared::leaf().await, shared::gitea().await);
    let namespace = leaf.cluster().namespace("podinfo").await;
    let owner = unique("charts");
    gitea.create_organisation(&owner).await;
    gitea.upload_chart(&owner, &Chart::new("podinfo", "6.1.6").image("example.org/podinfo", "6.1.6")).await;
    let inbox = Inbox::open().await;
    let (inbox_url, charts) = (inbox.url(), gitea.helm_repository_url(&owner));

    leaf.cluster()
        .apply(&format!(
            "
apiVersion: v1
kind: Secret
metadata: {{name: weir, namespace: {namespace}}}
stringData: {{token: s3cret}}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {{name: weir, namespace: {namespace}}}
spec:
  type: generic-hmac
  address: {inbox_url}
  secretRef: {{name: weir}}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {{name: weir, namespace: {namespace}}}
spec:
  providerRef: {{name: weir}}
  eventSources:
  - kind: HelmRelease
    name: '*'
"
        ))
        .await;
    let wait = ["wait", "--for=create", "--timeout=60s", "--namespace", &namespace];
    leaf.cluster().kubectl(&[&wait[..], &["alert/weir", "provider/weir"]].concat()).await;
    leaf.cluster()
        .apply(&format!(
            "
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: charts, namespace: {namespace}}}
spec:
  interval: 1m
  url: {charts}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: podinfo, namespace: {namespace}}}
spec:
  interval: 1m
  install: {{disableWait: true}}
  chart:
    spec:
      chart: podinfo
      version: 6.1.6
      sourceRef: {{kind: HelmRepository, name: charts}}
"
        ))
        .await;

    let event = inbox.first("the release is installed", |event| event.json()["reason"] == "InstallSucceeded").await;
    assert_eq!(event.header("Gotk-Component"), "helm-controller");
    assert_eq!(event.header("X-Signature"), format!("sha256={}", signature::sha256("s3cret", &event.body)));
    let revision = &event.json()["metadata"]["revision"];
    assert_eq!(revision, "6.1.6", "{}", event.json());

    let get = ["get", "--namespace", &namespace, "--output"];
    let words = ["jsonpath={.spec.template.spec.containers[0].image}", "deployment/podinfo"];
    assert_eq!(leaf.cluster().kubectl(&[&get[..], &words].concat()).await, "example.org/podinfo:6.1.6");
    let words = ["jsonpath={.data.chart}", "configmap/podinfo"];
    assert_eq!(leaf.cluster().kubectl(&[&get[..], &words].concat()).await, "6.1.6");
}

#[tokio::test]
async fn a_light_leaf_applies_a_commit_also_after_it_was_stopped() {
    let gitea = shared::gitea().await;
    let mut leaf = Leaf::builder("light").controllers(&[Controller::Source, Controller::Kustomize]).start().await;
    assert_eq!(leaf.logs().count(), 2);
    let namespace = leaf.cluster().namespace("config").await;
    let owner = unique("config");
    gitea.create_organisation(&owner).await;
    gitea.create_repository(&owner, "config").await;
    let repository = format!("{owner}/config");
    let map = |color: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: color, namespace: {namespace}}}\ndata: {{is: {color}}}\n"
        )
    };
    gitea.commit(&repository, "main", "red", &[("deploy/color.yaml", &map("red"))]).await;
    let url = gitea.repository_url(&owner, "config");
    leaf.cluster()
        .apply(&format!(
            "
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: config, namespace: {namespace}}}
spec:
  interval: 1s
  url: {url}
  ref: {{branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: config, namespace: {namespace}}}
spec:
  interval: 1m
  retryInterval: 1s
  prune: true
  path: deploy
  sourceRef: {{kind: GitRepository, name: config}}
"
        ))
        .await;
    let is = |color: &str| format!("--for=jsonpath={{.data.is}}={color}");
    let words = ["--timeout=120s", "--namespace", &namespace, "configmap/color"];
    leaf.cluster().kubectl(&[&["wait", "--for=create"][..], &words].concat()).await;
    leaf.cluster().kubectl(&[&["wait", &is("red")][..], &words].concat()).await;

    leaf.stop();
    gitea.commit(&repository, "main", "blue", &[("deploy/color.yaml", &map("blue"))]).await;
    leaf.start_again().await;
    leaf.cluster().kubectl(&[&["wait", &is("blue")][..], &words].concat()).await;
}
