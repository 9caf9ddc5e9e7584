//! A cluster on which Flux deploys podinfo, for as long as somebody holds the other end of stdin.
//!
//! For tests that are not written in Rust. The first line on stdout is its kubeconfig, as a JSON string.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test talks to it, and wants to know at once")]

use std::io::{Read as _, Write as _};

use weir_testkit::servers::{Chart, Controller, Gitea, Leaf};

const RELEASE: &str = "
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: default}
spec: {interval: 1m, url: 'CHARTS'}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: default}
spec:
  interval: 1m
  install: {disableWait: true}
  chart:
    spec: {chart: podinfo, version: 6.1.0, sourceRef: {kind: HelmRepository, name: charts}}
";

#[tokio::main]
async fn main() {
    let controllers = [Controller::Source, Controller::Helm];
    let (gitea, leaf) = tokio::join!(Gitea::start(), Leaf::builder("dev").controllers(&controllers).start());
    gitea.create_organisation("charts").await;
    gitea.upload_chart("charts", &Chart::new("podinfo", "6.1.0").image("example.org/podinfo", "6.1.0")).await;
    leaf.cluster().apply(&RELEASE.replace("CHARTS", &gitea.helm_repository_url("charts"))).await;
    println!("{}", serde_json::to_string(&leaf.cluster().kubeconfig()).unwrap());
    std::io::stdout().flush().unwrap();
    let end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    end.await.unwrap().unwrap();
}
