//! Events as a real forge posts them.

use serde_json::json;
use weir_core::ForgeKind;
use weir_forge::hook::{Happened, Heard, Refused, hear};
use weir_ports::Forge as _;
use weir_testkit::servers::{Delivery, Inbox};

use crate::place::{Place, branch};

const KEY: &[u8] = b"between the two of us";

fn heard(delivery: &Delivery) -> Result<Heard, Refused> {
    hear(ForgeKind::Gitea, &delivery.headers, &delivery.body, KEY)
}

#[tokio::test]
async fn what_the_forge_posts_is_believed_and_understood() {
    let place = Place::new().await;
    let inbox = Inbox::open().await;
    let events = ["pull_request", "pull_request_review_approved", "pull_request_comment", "status", "push"];
    let key = str::from_utf8(KEY).unwrap();
    place.gitea.create_webhook(&place.repository, &inbox.url(), key, &events).await;
    let first = async |event: &'static str| {
        let what = format!("`{event}` is posted");
        inbox.first(&what, |delivery| delivery.header("x-gitea-event") == event).await
    };
    let opened = place.propose("promote", 1).await;
    place.review(&opened.id, "APPROVED").await;
    let comments = place.path(&format!("/issues/{}/comments", opened.id));
    place.person().post_json(&comments, &json!({ "body": "well done" })).await;
    place.report(&opened.head, "test", "success").await;

    let on = |what| Ok(Heard { what, branch: Some(branch("promote")) });
    assert_eq!(heard(&first("push").await), on(Happened::Push));
    assert_eq!(heard(&first("pull_request").await), on(Happened::PullRequest));
    assert_eq!(heard(&first("pull_request_approved").await), on(Happened::Review));
    assert_eq!(heard(&first("issue_comment").await).map(|it| it.what), Ok(Happened::Comment));
    assert_eq!(heard(&first("status").await).map(|it| it.what), Ok(Happened::Check));

    place.forges.close(&place.access, &opened.id, "enough").await.unwrap();
    let closed = inbox.first("the end is posted", |delivery| delivery.json()["action"] == "closed").await;
    assert_eq!(heard(&closed), on(Happened::PullRequest));
    // The same bytes with another key, or other bytes with the same.
    assert_eq!(hear(ForgeKind::Gitea, &closed.headers, &closed.body, b"another"), Err(Refused::Wrong));
    let mut forged = closed.body.to_vec();
    forged.push(b' ');
    assert_eq!(hear(ForgeKind::Gitea, &closed.headers, &forged, KEY), Err(Refused::Wrong));
}

#[tokio::test]
async fn what_the_forge_posts_without_a_secret_is_not_believed() {
    let place = Place::new().await;
    let inbox = Inbox::open().await;
    place.gitea.create_webhook(&place.repository, &inbox.url(), "", &["push"]).await;
    place.commit("promote", "version: 1\n").await;
    let posted = inbox.first("the push is posted", |delivery| delivery.header("x-gitea-event") == "push").await;
    assert!(heard(&posted).is_err());
    assert!(hear(ForgeKind::Gitea, &posted.headers, &posted.body, b"").is_err());
}
