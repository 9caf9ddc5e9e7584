//! A Pipeline that is deleted while its pull request is open.

use weir_testkit::servers::unique;

use super::fleet::{Fleet, PIPELINE};

#[tokio::test(flavor = "multi_thread")]
async fn a_pipeline_that_is_deleted_closes_its_pull_request_and_goes() {
    let fleet = Fleet::new(&unique("deleted"), &[("dev", "dev"), ("prod", "prod")]).await;
    fleet.hub.apply(&fleet.pipeline()).await;
    let weir = fleet.weir();
    fleet.until_runs("prod", &["6.1.6"]).await;
    fleet.declare("dev", "dev", "6.2.0").await;
    fleet.open_pull_request("Promote default/podinfo in prod to 6.2.0").await;
    // The newer takes over, and what was superseded is not waited for.
    fleet.declare("dev", "dev", "6.3.0").await;
    fleet.open_pull_request("Promote default/podinfo in prod to 6.3.0").await;
    // The finalizer would let it go after five minutes in any case.
    fleet.hub.kubectl(&["delete", PIPELINE, "podinfo", "--timeout=60s"]).await;
    let all = fleet.pull_requests().await;
    assert_eq!((all.len(), all[0]["state"].as_str()), (1, Some("closed")));
    let left = fleet.hub.kubectl(&["get", "promotions", "-o", "name"]).await;
    assert_eq!(left.trim(), "");
    // One of the same name that is made later inherits nothing, also not from the one before that had as many promotions.
    for count in 2..=3 {
        fleet.hub.apply(&fleet.pipeline()).await;
        fleet.open_pull_request("Promote default/podinfo in prod to 6.3.0").await;
        assert_eq!(fleet.pull_requests().await.len(), count);
        fleet.hub.kubectl(&["delete", PIPELINE, "podinfo", "--timeout=60s"]).await;
    }
    weir.stop();
}
