//! A cluster that is gone for a while harms nobody else, and goes on when it is back.

use serde_json::Value;
use weir_testkit::servers::{Controller, Leaf, unique};

use super::fleet::{Fleet, PIPELINE, leaf};

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_gone_says_so_and_holds_up_nobody_else_and_catches_up_when_it_is_back() {
    let controllers = [Controller::Source, Controller::Kustomize, Controller::Helm];
    let mut edge = Leaf::builder("edge").controllers(&controllers).start().await;
    let fleet = Fleet::empty(&unique("podinfo"), &["dev", "qa", "prod", "edge"]).await;
    for (cluster, environment) in [("dev", "dev"), ("prod", "prod"), ("edge", "prod")] {
        fleet.declare(cluster, environment, "6.1.6").await;
    }
    let of_other = fleet.release("prod", "6.1.6").replace("default:podinfo:prod", "default:other:prod");
    fleet.commit("qa runs 6.1.6", "clusters/qa/podinfo.yaml", &of_other).await;
    for cluster in ["dev", "qa", "prod"] {
        fleet.add(cluster, leaf(cluster).await).await;
    }
    fleet.add("edge", &edge).await;
    let second =
        format!("    - namespace: {}\n      clusterRef: {{kind: GitopsCluster, name: edge}}\n", fleet.namespace);
    fleet.hub.apply(&(fleet.pipeline() + &second)).await;
    let other = fleet.pipeline().replace("name: podinfo\n  namespace: default", "name: other\n  namespace: default");
    fleet.hub.apply(&other.replace("        name: prod", "        name: qa")).await;
    let weir = fleet.weir();
    fleet.until_runs("dev", &["6.1.6"]).await;
    fleet.until_runs("prod", &["6.1.6", "6.1.6"]).await;

    edge.stop();
    let lost = |targets: &Value| targets[1]["error"].is_string();
    let targets = fleet.until_targets("prod", "edge is lost", lost).await;
    assert_eq!((&targets[0]["ready"], &targets[1]["ready"]), (&true.into(), &false.into()), "{targets:#}");
    assert_eq!((&targets[0]["error"], &targets[1]["revision"]), (&Value::Null, &"6.1.6".into()), "{targets:#}");
    fleet.until_targets("dev", "it is fine", |targets| targets[0]["ready"] == true).await;
    let unready = ["wait", "--for=condition=Ready=False", "--timeout=60s"];
    fleet.hub.kubectl(&[&unready[..], &[&format!("{PIPELINE}/podinfo")]].concat()).await;

    fleet.declare("dev", "dev", "6.2.0").await;
    let of_other = fleet.open_pull_request("Promote default/other in prod to 6.2.0").await;
    fleet.merge(&of_other).await;
    fleet.until_phase_of("other", "prod", "6.2.0", "Succeeded").await;
    fleet.hub.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", &format!("{PIPELINE}/other")]).await;
    let ours = fleet.open_pull_request("Promote default/podinfo in prod to 6.2.0").await;
    fleet.merge(&ours).await;
    fleet.until_runs("prod", &["6.2.0", "6.1.6"]).await;
    fleet.until_phase("prod", "6.2.0", "Delivered").await;

    edge.start_again().await;
    fleet.until_runs("prod", &["6.2.0", "6.2.0"]).await;
    fleet.until_phase("prod", "6.2.0", "Succeeded").await;
    let found = |targets: &Value| targets[1]["error"].is_null() && targets[1]["ready"] == true;
    fleet.until_targets("prod", "edge is back", found).await;
    fleet.hub.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", &format!("{PIPELINE}/podinfo")]).await;
    assert_eq!(fleet.pull_requests().await.len(), 2);
    weir.stop();
}
