//! The rules of promotion: one environment further, for all its targets, from any of those before, and no further than
//! the last.

use super::fleet::{Fleet, PIPELINE, file, leaf};

#[tokio::test(flavor = "multi_thread")]
async fn a_release_goes_from_dev_to_both_targets_of_qa_and_from_either_to_prod() {
    let fleet = Fleet::new("podinfo", &[("dev", "dev"), ("qa", "qa"), ("perf", "qa"), ("prod", "prod")]).await;
    let pipeline = file("docs/examples/pipeline-pull-request-short.yaml");
    let address = "https://github.com/organisation/gitops-configuration-monorepo.git";
    assert!(pipeline.contains(address));
    fleet.hub.apply(&pipeline.replace(address, &fleet.telling_url())).await;
    let weir = fleet.weir();
    for (environment, versions) in [("dev", &["6.1.6"][..]), ("qa", &["6.1.6", "6.1.6"]), ("prod", &["6.1.6"])] {
        fleet.until_runs(environment, versions).await;
    }

    fleet.declare("dev", "dev", "6.2.0").await;
    let into_qa = fleet.open_pull_request("Promote default/podinfo in qa to 6.2.0").await;
    assert_eq!(fleet.files(&into_qa).await, ["clusters/perf/podinfo.yaml", "clusters/qa/podinfo.yaml"]);
    assert!(into_qa["body"].as_str().unwrap().contains("default/podinfo/qa"), "{into_qa:#}");

    // One of the two does not get it, and the other is enough.
    let perf = leaf("perf").await.cluster();
    let suspend = |yes| format!(r#"{{"spec":{{"suspend":{yes}}}}}"#);
    let patch = ["patch", "kustomization", "config", "-n", "podinfo", "--type=merge", "-p"];
    perf.kubectl(&[&patch[..], &[&suspend(true)]].concat()).await;
    fleet.merge(&into_qa).await;
    let into_prod = fleet.open_pull_request("Promote default/podinfo in prod to 6.2.0").await;
    fleet.until_runs("qa", &["6.2.0", "6.1.6"]).await;
    assert_eq!(fleet.files(&into_prod).await, ["clusters/prod/podinfo.yaml"]);
    perf.kubectl(&[&patch[..], &[&suspend(false)]].concat()).await;

    fleet.merge(&into_prod).await;
    for environment in ["qa", "prod"] {
        fleet.until_phase(environment, "6.2.0", "Succeeded").await;
    }
    fleet.until_runs("prod", &["6.2.0"]).await;
    fleet.hub.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", &format!("{PIPELINE}/podinfo")]).await;
    assert_eq!(fleet.pull_requests().await.len(), 2);
    assert_eq!(fleet.promotions("6.2.0").await.len(), 2);
    weir.stop();
}
