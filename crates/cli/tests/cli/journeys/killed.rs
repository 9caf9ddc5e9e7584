//! Whatever moment Weir is killed in, nothing is lost and nothing happens twice.

use std::time::Duration;

use weir_testkit::servers::{eventually, free_port, unique};

use super::fleet::{Fleet, PIPELINE};

/// What the world looks like after a step of a promotion.
#[derive(Clone, Copy, Debug)]
enum Step {
    Promotion,
    Branch,
    PullRequest,
    Merge,
    Delivered,
}

impl Step {
    async fn is_done(self, fleet: &Fleet, version: &str) -> bool {
        let title = format!("Promote default/podinfo in prod to {version}");
        match self {
            Self::Promotion => !fleet.promotions(version).await.is_empty(),
            // It goes when the release is delivered: who looks too late need not wait for it.
            Self::Branch => is_pushed(fleet, version).await || has_pull_request(fleet, &title, &["merged"]).await,
            Self::PullRequest => has_pull_request(fleet, &title, &["open", "merged"]).await,
            Self::Merge => has_pull_request(fleet, &title, &["merged"]).await,
            Self::Delivered => {
                let all = fleet.promotions(version).await;
                all.iter().any(|it| matches!(it["status"]["phase"].as_str(), Some("Delivered" | "Succeeded")))
            }
        }
    }

    async fn until_done(self, fleet: &Fleet, version: &str) {
        eventually(&format!("{self:?} for {version}"), async || {
            if self.is_done(fleet, version).await { Ok(()) } else { Err("not yet") }
        })
        .await;
    }
}

async fn is_pushed(fleet: &Fleet, version: &str) -> bool {
    fleet.branches().await.contains(&format!("Promote podinfo {version} to prod"))
}

async fn has_pull_request(fleet: &Fleet, title: &str, outcomes: &[&str]) -> bool {
    fleet.outcomes().await.iter().any(|(it, became)| it == title && outcomes.contains(became))
}

async fn merging_fleet() -> Fleet {
    let fleet = Fleet::new(&unique("podinfo"), &[("dev", "dev"), ("prod", "prod")]).await;
    let pipeline = fleet.pipeline().replace("  promotion:\n", "  promotion:\n    merge: auto\n");
    assert!(pipeline.contains("merge: auto"));
    fleet.hub.apply(&pipeline).await;
    fleet
}

/// One pull request and one merge for every version, and everything is where it should be.
async fn nothing_is_lost_or_done_twice(fleet: &Fleet, versions: &[&str]) {
    let outcomes = fleet.outcomes().await;
    let titles: Vec<_> = outcomes.iter().map(|(title, _)| title.clone()).collect();
    let expected: Vec<_> =
        versions.iter().map(|version| format!("Promote default/podinfo in prod to {version}")).collect();
    assert_eq!(titles, expected);
    // Who hangs up on Gitea while it merges may leave it with the merge in Git, and the pull request as it was. Then Weir
    // finds the release delivered, and closes the pull request. What counts is that it is merged once.
    assert!(outcomes.iter().all(|(_, became)| *became != "open"), "{outcomes:?}");
    assert_eq!(fleet.merges().await.len(), versions.len(), "{:?}", fleet.merges().await);
    for version in versions {
        assert_eq!(fleet.promotions(version).await.len(), 1, "{version}");
    }
    fleet.hub.kubectl(&["wait", "--for=condition=Ready", "--timeout=60s", &format!("{PIPELINE}/podinfo")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_every_step_it_opens_one_pull_request_and_merges_it_once() {
    let fleet = merging_fleet().await;
    let port = free_port();
    let mut weir = fleet.weir_at(port);
    fleet.until_runs("prod", &["6.1.6"]).await;
    for version in ["6.2.0", "6.3.0"] {
        fleet.declare("dev", "dev", version).await;
        for step in [Step::Promotion, Step::Branch, Step::PullRequest, Step::Merge, Step::Delivered] {
            step.until_done(&fleet, version).await;
            weir.kill();
            weir = fleet.weir_at(port);
        }
        fleet.until_phase("prod", version, "Succeeded").await;
        fleet.until_runs("prod", &[version]).await;
    }
    nothing_is_lost_or_done_twice(&fleet, &["6.2.0", "6.3.0"]).await;
    weir.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_it_comes_further_every_time_and_does_nothing_twice() {
    let fleet = merging_fleet().await;
    let port = free_port();
    let mut weir = fleet.weir_at(port);
    fleet.until_runs("prod", &["6.1.6"]).await;
    fleet.declare("dev", "dev", "6.2.0").await;
    // Longer every time, so that it comes to an end in the end, wherever the time goes.
    let lives = (0..24_u32).map(|life| Duration::from_millis(300 + 75 * u64::from(life * life / 4)));
    for life in lives {
        if tokio::time::timeout(life, Step::Delivered.until_done(&fleet, "6.2.0")).await.is_ok() {
            break;
        }
        weir.kill();
        weir = fleet.weir_at(port);
    }
    fleet.until_phase("prod", "6.2.0", "Succeeded").await;
    fleet.until_runs("prod", &["6.2.0"]).await;
    nothing_is_lost_or_done_twice(&fleet, &["6.2.0"]).await;
    weir.stop();
}
