//! The stories of RFC-0001, in the group of that time: environments and targets, and what runs in them.

use serde_json::{Value, json};
use weir_testkit::servers::{eventually, unique};

use super::fleet::{Fleet, file};

const OLDER: &str = "pipelines.pipelines.wego.weave.works";

/// A workload of the pipeline by its label, with a second image.
fn labelled(fleet: &Fleet, name: &str, version: &str) -> String {
    let labels = "  labels: {pipelines.wego.weave.works/pipeline: podinfo}\n";
    let release = fleet.release("-", version);
    let (source, release) = release.split_once("---\n").unwrap();
    let release = release
        .replace("metadata:\n  name: podinfo\n", &format!("metadata:\n  name: {name}\n{labels}"))
        .replace("  interval: 1m\n", "  interval: 1m\n  values: {sidecar: \"example.org/proxy:1.6.1\"}\n");
    assert!(release.contains(labels) && release.contains("sidecar"));
    if name == "podinfo" { format!("{source}---\n{release}") } else { release }
}

/// What the status shall say about a workload.
fn runs(name: &str, version: &str) -> Value {
    let images = [format!("example.org/podinfo:{version}"), "example.org/proxy:1.6.1".to_owned()];
    json!({ "kind": "HelmRelease", "name": name, "version": version, "ready": true, "images": images })
}

/// What the status shall say about a target, without its revision.
fn target(fleet: &Fleet, cluster: &str, workloads: &[Value]) -> Value {
    let cluster = json!({ "kind": "GitopsCluster", "name": cluster, "namespace": "default" });
    json!({ "clusterRef": cluster, "namespace": fleet.namespace, "ready": true, "workloads": workloads })
}

async fn until_shows(fleet: &Fleet, environment: &str, expected: &[Value]) {
    eventually(&format!("{environment} is shown"), async || {
        let shown = fleet.shown(OLDER).await;
        let mut targets = shown["status"]["environments"][environment]["targets"].clone();
        for target in targets.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            target.remove("revision");
        }
        if targets == json!(expected) { Ok(()) } else { Err(format!("{targets:#}\ninstead of\n{:#}", json!(expected))) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_of_a_labelled_pipeline_shows_every_workload_of_every_target_with_all_its_images() {
    let clusters = [("dev", "dev"), ("qa", "dev"), ("prod", "prod")];
    let fleet = Fleet::new(&unique("podinfo"), &clusters).await;
    for (cluster, version) in [("dev", "6.2.0"), ("qa", "6.3.0"), ("prod", "6.1.6")] {
        let release = labelled(&fleet, "podinfo", version);
        fleet.commit("podinfo", &format!("clusters/{cluster}/podinfo.yaml"), &release).await;
    }
    let another = labelled(&fleet, "podinfo-2", "6.1.6");
    fleet.commit("podinfo-2", "clusters/dev/podinfo-2.yaml", &another).await;
    let weir = fleet.weir();

    fleet.hub.apply(&fleet.here(&file("docs/examples/pipeline-two-environments.yaml"))).await;
    let dev = target(&fleet, "dev", &[runs("podinfo", "6.2.0"), runs("podinfo-2", "6.1.6")]);
    let prod = target(&fleet, "prod", &[runs("podinfo", "6.1.6")]);
    until_shows(&fleet, "dev", std::slice::from_ref(&dev)).await;
    until_shows(&fleet, "prod", std::slice::from_ref(&prod)).await;
    fleet.hub.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", &format!("{OLDER}/podinfo")]).await;

    // Another target joins the first environment.
    let two = fleet.here(&file("docs/examples/pipeline-two-targets.yaml"));
    fleet.hub.apply(&two.replace("name: dev-us", "name: dev").replace("name: dev-eu", "name: qa")).await;
    let qa = target(&fleet, "qa", &[runs("podinfo", "6.3.0")]);
    until_shows(&fleet, "dev", &[dev, qa]).await;
    until_shows(&fleet, "prod", &[prod]).await;

    let listed = fleet.hub.kubectl(&["get", OLDER]).await;
    for word in ["NAME", "READY", "STATUS", "podinfo", "True"] {
        assert!(listed.contains(word), "{listed}");
    }
    assert!(fleet.pull_requests().await.is_empty());
    weir.stop();
}
