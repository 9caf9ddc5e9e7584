//! What checks and reviewers say, and whether it can be merged.

use serde_json::json;
use weir_core::{Checks, Review};
use weir_ports::Forge as _;
use weir_testkit::servers::eventually;

use crate::place::{Place, branch};

#[tokio::test]
async fn checks_are_told_by_name_and_without_our_own() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let checks = async || place.find("promote").await.unwrap().checks;
    place.report(&opened.head, "weir", "pending").await;
    assert_eq!(checks().await, Checks::Passing);
    place.report(&opened.head, "test", "pending").await;
    place.report(&opened.head, "lint", "success").await;
    assert_eq!(checks().await, Checks::Pending(vec!["test".into()]));
    place.report(&opened.head, "test", "failure").await;
    assert_eq!(checks().await, Checks::Failing(vec!["test".into()]));
    place.report(&opened.head, "test", "success").await;
    assert_eq!(checks().await, Checks::Passing);
    // There may be more than a page of them.
    for number in 0..55 {
        place.report(&opened.head, &format!("check-{number}"), "pending").await;
    }
    assert!(matches!(checks().await, Checks::Pending(names) if names.len() == 55));
}

#[tokio::test]
async fn a_required_check_that_has_not_begun_is_awaited() {
    let place = Place::new().await;
    place.protect(json!({ "enable_status_check": true, "status_check_contexts": ["test", "weir"] })).await;
    let opened = place.propose("promote", 1).await;
    assert_eq!(opened.checks, Checks::Pending(vec!["test".into()]));
    place.report(&opened.head, "test", "success").await;
    assert_eq!(place.find("promote").await.unwrap().checks, Checks::Passing);
}

#[tokio::test]
async fn reviews_count_at_the_head_that_they_were_given_for() {
    let place = Place::new().await;
    place.protect(json!({ "required_approvals": 1 })).await;
    let opened = place.propose("promote", 1).await;
    assert_eq!(opened.review, Review::Required);
    let review = async || place.find("promote").await.unwrap().review;
    let no = place.review(&opened.id, "REQUEST_CHANGES").await;
    assert_eq!(review().await, Review::ChangesRequested);
    let dismissals = place.path(&format!("/pulls/{}/reviews/{}/dismissals", opened.id, no["id"]));
    place.person().post_json(&dismissals, &json!({ "message": "never mind" })).await;
    assert_eq!(review().await, Review::Required);
    place.review(&opened.id, "APPROVED").await;
    assert_eq!(review().await, Review::Approved);
    place.commit("promote", "version: 2\n").await;
    eventually("the approval is of another head", async || match review().await {
        Review::Required => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

#[tokio::test]
async fn where_nobody_has_to_review_an_approval_is_told_all_the_same() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    assert_eq!(opened.review, Review::NotRequired);
    place.review(&opened.id, "APPROVED").await;
    assert_eq!(place.find("promote").await.unwrap().review, Review::Approved);
}

#[tokio::test]
async fn a_conflict_is_told_when_it_is_sure_and_no_sooner() {
    let place = Place::new().await;
    place.commit("main", "version: 0\n").await;
    let opened = place.propose("promote", 1).await;
    assert!(!opened.conflict);
    let conflict = async || place.find("promote").await.unwrap().conflict;
    assert!(!conflict().await);
    place.commit("main", "version: 7\n").await;
    let now = jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(1)).unwrap();
    let mut asked = false;
    eventually("the conflict is told", async || {
        // Until it is sure, whoever asks what changed is sent to look again.
        asked |= place.forges.changed(&place.access, now).await.unwrap() == [branch("promote")];
        if conflict().await { Ok(()) } else { Err("not yet") }
    })
    .await;
    assert!(asked);
    assert!(place.forges.changed(&place.access, now).await.unwrap().is_empty());
    // A branch that is built anew has none.
    place.person().delete(&place.path("/branches/promote")).await;
    // Gitea closes a pull request without a branch in its own time.
    eventually(
        "it is closed",
        async || {
            if place.raw(&opened.id).await["state"] == "closed" { Ok(()) } else { Err("not yet") }
        },
    )
    .await;
    place.propose("promote", 2).await;
    assert!(!conflict().await);
}
