//! A pull request is merged at the head that was reviewed, or not at all.

use serde_json::{Value, json};
use weir_core::CommitId;
use weir_ports::{Forge as _, ForgeError, PullRequest, PullRequestState};
use weir_testkit::servers::eventually;

use crate::place::Place;

impl Place {
    async fn merge(&self, pull: &PullRequest) -> Result<(), ForgeError> {
        self.forges.merge(&self.access, &pull.id, &pull.head).await
    }

    /// Merges as often as it takes for the forge to find out whether that can be done.
    async fn merge_in_time(&self, pull: &PullRequest) -> Result<(), ForgeError> {
        let merged = async || match self.merge(pull).await {
            Err(error @ ForgeError::Unreachable { .. }) => Err(error),
            done => Ok(done),
        };
        eventually("the forge has found out", merged).await
    }

    /// The newest commit of `main`.
    async fn tip(&self) -> Value {
        self.person().get_json(&self.path("/commits?sha=main&limit=1")).await[0].clone()
    }
}

#[tokio::test]
async fn it_is_merged_and_once_is_enough() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.merge_in_time(&opened).await.unwrap();
    assert_eq!(place.tip().await["parents"].as_array().unwrap().len(), 2);
    place.merge(&opened).await.unwrap();
    let found = place.find("promote").await.unwrap();
    assert_eq!(found.head, opened.head);
    let PullRequestState::Merged { at, by } = found.state else { panic!("{found:?}") };
    assert_eq!(by.as_deref(), Some(place.bot.name.as_str()));
    assert!(jiff::Timestamp::now().duration_since(at).as_secs() < 600);
}

#[tokio::test]
async fn the_repository_says_how() {
    let place = Place::new().await;
    let style = json!({ "default_merge_style": "squash", "allow_merge_commits": false, "allow_squash_merge": true });
    place.person().patch_json(&place.path(""), &style).await;
    let opened = place.propose("promote", 1).await;
    place.merge_in_time(&opened).await.unwrap();
    let tip = place.tip().await;
    assert_eq!(tip["parents"].as_array().unwrap().len(), 1);
    assert_ne!(tip["sha"], opened.head.as_str());
}

#[tokio::test]
async fn another_head_than_the_reviewed_one_is_not_merged() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let before = place.tip().await;
    place.commit("promote", "version: 2\n").await;
    assert!(matches!(place.merge(&opened).await, Err(ForgeError::Moved { .. })));
    let other = PullRequest { head: CommitId::new("0".repeat(40)).unwrap(), ..opened.clone() };
    assert!(matches!(place.merge(&other).await, Err(ForgeError::Moved { .. })));
    assert_eq!(place.tip().await, before);
    place.close_as_person(&opened.id).await;
    assert!(matches!(place.merge(&opened).await, Err(ForgeError::Moved { .. })));
    let nowhere = PullRequest { id: "4711".into(), ..opened };
    assert!(matches!(place.merge(&nowhere).await, Err(ForgeError::Moved { .. })));
}

#[tokio::test]
async fn who_merged_it_and_when_is_told_however_it_was_done() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let path = place.path(&format!("/pulls/{}/merge", opened.id));
    let body = json!({ "Do": "squash", "delete_branch_after_merge": true });
    eventually("a person merges it", async || {
        let answer = place.person().send("POST".parse().unwrap(), &path, Some(&body)).await;
        if answer.status.is_success() { Ok(()) } else { Err(answer.body) }
    })
    .await;
    let found = place.find("promote").await.unwrap();
    assert!(matches!(found.state, PullRequestState::Merged { by: Some(by), .. } if &*by == "keeper"));
    assert_eq!(found.head, opened.head);
    place.merge(&opened).await.unwrap();
}

#[tokio::test]
async fn a_branch_that_wants_an_approval_is_not_merged_into_without_one() {
    let place = Place::new().await;
    place.protect(json!({ "required_approvals": 1 })).await;
    let opened = place.propose("promote", 1).await;
    let refused = place.merge_in_time(&opened).await.unwrap_err();
    assert!(matches!(refused, ForgeError::Refused { .. }), "{refused:?}");
    assert!(refused.to_string().contains("approvals"), "{refused}");
    place.review(&opened.id, "APPROVED").await;
    place.merge_in_time(&opened).await.unwrap();
}

#[tokio::test]
async fn a_branch_that_wants_a_check_is_not_merged_into_before_it_has_passed() {
    let place = Place::new().await;
    place.protect(json!({ "enable_status_check": true, "status_check_contexts": ["test"] })).await;
    let opened = place.propose("promote", 1).await;
    let refused = place.merge_in_time(&opened).await.unwrap_err();
    assert!(matches!(refused, ForgeError::Refused { .. }), "{refused:?}");
    assert!(refused.to_string().contains("status checks"), "{refused}");
    place.report(&opened.head, "test", "success").await;
    place.merge_in_time(&opened).await.unwrap();
}

#[tokio::test]
async fn a_conflict_is_not_merged() {
    let place = Place::new().await;
    place.commit("main", "version: 0\n").await;
    let opened = place.propose("promote", 1).await;
    place.commit("main", "version: 7\n").await;
    let before = place.tip().await;
    let refused = place.merge(&opened).await.unwrap_err();
    assert!(matches!(refused, ForgeError::Unreachable { .. } | ForgeError::Refused { .. }), "{refused:?}");
    assert_eq!(place.tip().await, before);
}
