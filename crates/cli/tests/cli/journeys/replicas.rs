//! Of several processes one acts, and when it dies another goes on.

use weir_testkit::servers::{eventually, free_port, unique};

use super::fleet::Fleet;

const ACTS: &str = "this process acts for a shard";

/// Until the Lease is held by the process on this port.
async fn until_holds(fleet: &Fleet, port: u16) {
    eventually(&format!("{port} holds the Lease"), async || {
        let path = "jsonpath={.spec.holderIdentity}";
        let words = ["get", "lease", "weir-shard-0", "--namespace=weir-system", "--ignore-not-found", "-o", path];
        let holder = fleet.hub.kubectl(&words).await;
        if holder.ends_with(&format!(":{port}")) { Ok(()) } else { Err(holder) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_acts_and_the_other_goes_on_where_it_was_killed() {
    let fleet = Fleet::new(&unique("podinfo"), &[("dev", "dev"), ("prod", "prod")]).await;
    fleet.hub.apply(&fleet.pipeline()).await;
    let (one, other) = (free_port(), free_port());
    let first = fleet.weir_at(one);
    until_holds(&fleet, one).await;
    let second = fleet.weir_at(other);
    second.ready();
    fleet.until_runs("prod", &["6.1.6"]).await;

    // Killed before it could see that a person merged.
    fleet.declare("dev", "dev", "6.2.0").await;
    let into_prod = fleet.open_pull_request("Promote default/podinfo in prod to 6.2.0").await;
    assert!(first.log().contains(ACTS), "{}", first.log());
    assert!(!second.log().contains(ACTS), "{}", second.log());
    first.kill();
    fleet.merge(&into_prod).await;
    until_holds(&fleet, other).await;
    fleet.until_phase("prod", "6.2.0", "Succeeded").await;
    fleet.until_runs("prod", &["6.2.0"]).await;
    assert!(second.log().contains(ACTS), "{}", second.log());

    // Killed while the pull request is open.
    let first = fleet.weir_at(one);
    first.ready();
    fleet.declare("dev", "dev", "6.3.0").await;
    let into_prod = fleet.open_pull_request("Promote default/podinfo in prod to 6.3.0").await;
    assert!(!first.log().contains(ACTS), "{}", first.log());
    second.kill();
    until_holds(&fleet, one).await;
    fleet.merge(&into_prod).await;
    fleet.until_phase("prod", "6.3.0", "Succeeded").await;
    fleet.until_runs("prod", &["6.3.0"]).await;

    let title = |version: &str| format!("Promote default/podinfo in prod to {version}");
    assert_eq!(fleet.outcomes().await, [(title("6.2.0"), "merged"), (title("6.3.0"), "merged")]);
    assert_eq!(fleet.merges().await.len(), 2, "{:?}", fleet.merges().await);
    for version in ["6.2.0", "6.3.0"] {
        assert_eq!(fleet.promotions(version).await.len(), 1, "{version}");
    }
    first.stop();
}
