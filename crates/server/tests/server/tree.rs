//! The objects behind a workload are shown to whoever may look at its pipeline.

use std::sync::Arc;

use serde_json::json;
use weir_core::{Sighting, TargetKey, Unreachable, Version, Workload, WorkloadState};
use weir_ports::Seen;

use crate::{house::House, records::PODINFO};

const TARGET: &str = "default/dev/podinfo";

/// A target that runs the application.
fn running() -> Sighting {
    let version = Version::Revision("6.1.0".parse().unwrap());
    let workload = Workload { version, state: WorkloadState::Healthy };
    Sighting { workloads: [("HelmRelease/podinfo".parse().unwrap(), workload)].into(), ..Sighting::default() }
}

fn show(house: &House, sighting: Sighting) {
    let (key, target): (_, TargetKey) = (PODINFO.parse().unwrap(), TARGET.parse().unwrap());
    let interest = house.world.look(&key, |known| known.interest().cloned()).flatten().unwrap();
    house.clusters.show(&target, Some(sighting.clone()));
    house.world.see(Seen { pipeline: key, interest, target, sighting: Some(Arc::new(sighting)) });
}

fn tree(environment: &str, target: &str, workload: &str) -> String {
    format!("/api/v1/pipelines/default/podinfo/environments/{environment}/tree?target={target}&workload={workload}")
}

#[tokio::test]
async fn what_is_behind_a_workload_of_the_pipeline_is_shown_and_nothing_else() {
    let mut house = House::tokens().await;
    show(&house, running());
    house.act_as("default-view");
    let told = house.get(&tree("dev", TARGET, "HelmRelease/podinfo")).await.ok(200).json;
    let object = json!({
        "kind": "HelmRelease", "namespace": "podinfo", "name": "podinfo", "state": "healthy", "leadsTo": [], "leftOut": 0,
    });
    assert_eq!(told, object);
    for (environment, target, workload) in [
        ("dev", TARGET, "HelmRelease/other"),
        ("dev", "default/dev/kube-system", "HelmRelease/podinfo"),
        ("qa", TARGET, "HelmRelease/podinfo"),
        ("nothing", TARGET, "HelmRelease/podinfo"),
    ] {
        house.get(&tree(environment, target, workload)).await.problem(404);
    }
    house.get(&tree("dev", "a/b", "HelmRelease/podinfo")).await.problem(400);
    house.act_as("team-a-view");
    house.get(&tree("dev", TARGET, "HelmRelease/podinfo")).await.problem(403);
}

#[tokio::test]
async fn a_cluster_that_cannot_be_read_says_why() {
    let house = House::open().await;
    let lost = Unreachable { error: "it burns".into(), since: jiff::Timestamp::UNIX_EPOCH };
    show(&house, Sighting { unreachable: Some(lost), ..running() });
    let told = house.get(&tree("dev", TARGET, "HelmRelease/podinfo")).await;
    assert_eq!(told.problem(503), "the cluster cannot be read: it burns");
}
