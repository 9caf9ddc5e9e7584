//! A pull request that is over: closed by Weir, or by somebody.

use serde_json::json;
use weir_ports::{Forge as _, PullRequestState};
use weir_testkit::servers::eventually;

use crate::place::Place;

impl Place {
    async fn notes(&self, id: &str) -> Vec<String> {
        let notes = self.person().get_json(&self.path(&format!("/issues/{id}/comments"))).await;
        notes.as_array().unwrap().iter().map(|note| note["body"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn it_is_closed_with_a_note() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.forges.close(&place.access, &opened.id, "dev went back to 1.0").await.unwrap();
    assert_eq!(place.notes(&opened.id).await, ["dev went back to 1.0"]);
    let found = place.find("promote").await.unwrap();
    assert_eq!(found.state, PullRequestState::Closed { by: Some(place.bot.name.as_str().into()) });
    // One that is over gets no further note.
    place.forges.close(&place.access, &opened.id, "once more").await.unwrap();
    assert_eq!(place.notes(&opened.id).await.len(), 1);
    place.forges.close(&place.access, "4711", "there is no such thing").await.unwrap();
}

#[tokio::test]
async fn who_was_cut_off_after_the_note_writes_no_second_one() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let comments = place.path(&format!("/issues/{}/comments", opened.id));
    place.gitea.api_of(&place.bot).post_json(&comments, &json!({ "body": "superseded" })).await;
    place.person().post_json(&comments, &json!({ "body": "what does that mean?" })).await;
    place.forges.close(&place.access, &opened.id, "superseded").await.unwrap();
    assert_eq!(place.notes(&opened.id).await, ["superseded", "what does that mean?"]);
    assert!(!place.find("promote").await.unwrap().is_open());
}

#[tokio::test]
async fn who_closed_it_is_told() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.close_as_person(&opened.id).await;
    let found = place.find("promote").await.unwrap();
    assert_eq!(found.state, PullRequestState::Closed { by: Some("keeper".into()) });
    assert_eq!(found.head, opened.head);
}

#[tokio::test]
async fn one_whose_branch_is_deleted_is_closed_and_keeps_its_head() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.person().delete(&place.path("/branches/promote")).await;
    let found = eventually("the forge has noticed", async || {
        let found = place.find("promote").await.unwrap();
        if found.is_open() { Err("it is still open") } else { Ok(found) }
    })
    .await;
    assert!(matches!(found.state, PullRequestState::Closed { .. }), "{found:?}");
    assert_eq!(found.head, opened.head);
}
