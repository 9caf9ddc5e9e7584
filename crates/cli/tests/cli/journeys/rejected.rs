//! A pull request that a person closes stays closed.

use serde_json::Value;
use weir_testkit::servers::{eventually, unique};

use super::fleet::{Fleet, PIPELINE};

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_was_closed_is_not_opened_again_and_a_newer_version_gets_its_own() {
    let fleet = Fleet::new(&unique("podinfo"), &[("dev", "dev"), ("prod", "prod")]).await;
    fleet.hub.apply(&fleet.pipeline()).await;
    let weir = fleet.weir();
    fleet.until_runs("prod", &["6.1.6"]).await;
    fleet.declare("dev", "dev", "6.2.0").await;
    let first = fleet.open_pull_request("Promote default/podinfo in prod to 6.2.0").await;
    fleet.close(&first).await;
    fleet.until_phase("prod", "6.2.0", "Rejected").await;
    fleet.until_status("prod 6.1.6: Refused").await;
    weir.stop();

    let weir = fleet.weir();
    let other_definition = r#"{"spec":{"promotion":{"deployTimeout":"30m"}}}"#;
    fleet.hub.kubectl(&["patch", PIPELINE, "podinfo", "--type=merge", "-p", other_definition]).await;
    eventually("it has looked at everything anew", async || {
        let shown = fleet.shown(PIPELINE).await;
        let (is, seen) = (&shown["metadata"]["generation"], &shown["status"]["observedGeneration"]);
        if is == seen { Ok(()) } else { Err(format!("{is} {seen}")) }
    })
    .await;
    fleet.until_status("prod 6.1.6: Refused").await;
    let kept: Vec<Value> = fleet.promotions("6.2.0").await;
    assert_eq!(kept.len(), 1, "{kept:#?}");

    fleet.declare("dev", "dev", "6.3.0").await;
    let second = fleet.open_pull_request("Promote default/podinfo in prod to 6.3.0").await;
    assert_ne!(first["number"], second["number"]);
    fleet.merge(&second).await;
    fleet.until_phase("prod", "6.3.0", "Succeeded").await;
    let title = |version: &str| format!("Promote default/podinfo in prod to {version}");
    assert_eq!(fleet.outcomes().await, [(title("6.2.0"), "closed"), (title("6.3.0"), "merged")]);
    assert_eq!(fleet.promotions("6.2.0").await.len(), 1);
    weir.stop();
}
