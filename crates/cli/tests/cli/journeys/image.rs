//! What a Kustomization applies is promoted by the tag of an image.

use serde_json::json;
use weir_testkit::servers::unique;

use super::fleet::{Fleet, leaf};

/// The Kustomization of a cluster.
const APPLICATION: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: podinfo, namespace: NAMESPACE}
spec:
  interval: 1m
  path: ./apps/CLUSTER
  prune: true
  sourceRef: {kind: GitRepository, name: config}
";

/// What it applies. Nothing but the marked tag may change.
const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: podinfo, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: podinfo}}
  template:
    metadata: {labels: {app: podinfo}}
    spec:
      containers:
      - name: podinfo
        image: example.org/podinfo:VERSION # {"$promotion": "default:podinfo:CLUSTER:tag"}
      - name: proxy
        image: example.org/proxy:1.6.1
"#;

fn file(fleet: &Fleet, text: &str, cluster: &str, version: &str) -> String {
    text.replace("NAMESPACE", &fleet.namespace).replace("CLUSTER", cluster).replace("VERSION", version)
}

async fn declare(fleet: &Fleet, cluster: &str, version: &str) {
    let path = format!("apps/{cluster}/deployment.yaml");
    fleet.commit(&format!("{cluster} runs {version}"), &path, &file(fleet, DEPLOYMENT, cluster, version)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tag_of_an_image_is_promoted_by_pull_request() {
    let fleet = Fleet::empty(&unique("podinfo"), &["dev", "prod"]).await;
    for cluster in ["dev", "prod"] {
        declare(&fleet, cluster, "6.1.6").await;
        let application = file(&fleet, APPLICATION, cluster, "");
        fleet.commit(&format!("{cluster} has it"), &format!("clusters/{cluster}/podinfo.yaml"), &application).await;
        fleet.add(cluster, leaf(cluster).await).await;
    }
    let by_chart = "    apiVersion: helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    name: podinfo\n";
    let by_image = "    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    name: podinfo\n  version:\n    image: podinfo\n";
    assert!(fleet.pipeline().contains(by_chart));
    fleet.hub.apply(&fleet.pipeline().replace(by_chart, by_image)).await;
    let weir = fleet.weir();
    for environment in ["dev", "prod"] {
        fleet.until_runs(environment, &["6.1.6"]).await;
    }

    declare(&fleet, "dev", "6.2.0").await;
    let into_prod = fleet.open_pull_request("Promote default/podinfo in prod to 6.2.0").await;
    assert_eq!(fleet.files(&into_prod).await, ["apps/prod/deployment.yaml"]);
    fleet.merge(&into_prod).await;
    fleet.until_phase("prod", "6.2.0", "Succeeded").await;
    assert_eq!(fleet.declared("apps/prod/deployment.yaml").await, file(&fleet, DEPLOYMENT, "prod", "6.2.0"));
    let targets = fleet.until_targets("prod", "it is ready", |targets| targets[0]["ready"] == true).await;
    let expected = json!([{
        "kind": "Kustomization", "name": "podinfo", "version": "6.2.0", "ready": true,
        "images": ["example.org/podinfo:6.2.0", "example.org/proxy:1.6.1"],
    }]);
    assert_eq!(targets[0]["workloads"], expected, "{targets:#}");
    assert_eq!(fleet.outcomes().await, [("Promote default/podinfo in prod to 6.2.0".to_owned(), "merged")]);
    weir.stop();
}
