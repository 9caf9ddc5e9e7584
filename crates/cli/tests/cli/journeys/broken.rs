//! What fails in one environment goes no further.

use weir_testkit::servers::unique;

use super::fleet::{BROKEN, FAULT, Fleet};

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_that_cannot_be_installed_goes_nowhere_and_says_why_and_the_next_one_goes_on() {
    let fleet = Fleet::new(&unique("podinfo"), &[("dev", "dev"), ("prod", "prod")]).await;
    fleet.hub.apply(&fleet.pipeline()).await;
    let weir = fleet.weir();
    for environment in ["dev", "prod"] {
        fleet.until_runs(environment, &["6.1.6"]).await;
    }

    fleet.declare("dev", "dev", BROKEN).await;
    let says_why = |targets: &serde_json::Value| {
        targets[0]["workloads"][0]["message"].as_str().is_some_and(|message| message.contains(FAULT))
    };
    let targets = fleet.until_targets("dev", "it says why", says_why).await;
    let (target, workload) = (&targets[0], &targets[0]["workloads"][0]);
    assert_eq!((&target["ready"], &workload["ready"]), (&false.into(), &false.into()), "{target:#}");
    assert_eq!((&target["revision"], &workload["version"]), (&"6.1.6".into(), &BROKEN.into()), "{target:#}");
    assert_eq!(target["error"], serde_json::Value::Null);
    fleet.until_status("prod 6.1.6: NotHealthyYet").await;
    let bearer = format!("Bearer {}", fleet.hub.token_of("admin"));
    let path = "/api/v1/pipelines/default/podinfo/environments/prod/explain";
    let explained = weir.request("GET", path, &[("Authorization", &bearer)], "");
    assert!(explained.body.contains(BROKEN) && explained.body.contains(FAULT), "{}", explained.body);
    let prod = fleet.until_targets("prod", "it runs on", |targets| targets[0]["ready"] == true).await;
    assert_eq!(prod[0]["revision"], "6.1.6");

    fleet.declare("dev", "dev", "6.3.0").await;
    let into_prod = fleet.open_pull_request("Promote default/podinfo in prod to 6.3.0").await;
    fleet.merge(&into_prod).await;
    fleet.until_phase("prod", "6.3.0", "Succeeded").await;
    fleet.until_runs("prod", &["6.3.0"]).await;
    assert_eq!(fleet.outcomes().await, [("Promote default/podinfo in prod to 6.3.0".to_owned(), "merged")]);
    assert!(fleet.promotions(BROKEN).await.is_empty());
    weir.stop();
}
