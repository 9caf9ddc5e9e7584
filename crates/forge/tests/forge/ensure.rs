//! A pull request is there, and says what it shall.

use reqwest::Method;
use serde_json::json;
use weir_core::{Checks, Review};
use weir_ports::{Forge as _, ForgeError};

use crate::place::{Place, wanted};

#[tokio::test]
async fn it_is_opened_with_its_text_and_label() {
    let place = Place::new().await;
    let commit = place.commit("promote", "version: 1\n").await;
    let opened = place.forges.ensure(&place.access, &wanted("promote", 1)).await.unwrap();
    assert!(opened.is_open());
    assert_eq!(opened.head, commit);
    assert_eq!((opened.checks, opened.review, opened.conflict), (Checks::Passing, Review::NotRequired, false));
    let raw = place.raw(&opened.id).await;
    assert_eq!(raw["html_url"], &*opened.url);
    assert_eq!(raw["title"], "Promote to 1");
    assert!(raw["body"].as_str().unwrap().contains("<!-- weir: promote #1 -->"));
    assert_eq!(raw["labels"][0]["name"], "weir");
    // The label of the first is that of the second.
    let second = place.propose("other", 1).await;
    assert_eq!(place.raw(&second.id).await["labels"][0]["id"], raw["labels"][0]["id"]);
}

#[tokio::test]
async fn only_what_differs_is_changed() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let version = async || place.raw(&opened.id).await["content_version"].clone();
    let before = version().await;
    let again = place.forges.ensure(&place.access, &wanted("promote", 1)).await.unwrap();
    assert_eq!((again.id, version().await), (opened.id.clone(), before.clone()));
    let newer = place.forges.ensure(&place.access, &wanted("promote", 2)).await.unwrap();
    assert_eq!(newer.id, opened.id);
    assert_eq!(newer.title, "Promote to 2");
    assert!(newer.body.contains("#2 -->") && !newer.body.contains("#1 -->"));
    assert_ne!(version().await, before);
}

#[tokio::test]
async fn the_open_one_of_a_person_becomes_ours() {
    let place = Place::new().await;
    place.commit("promote", "version: 1\n").await;
    let body = json!({ "head": "promote", "base": "main", "title": "By hand" });
    let theirs = place.person().post_json(&place.path("/pulls"), &body).await;
    let ours = place.forges.ensure(&place.access, &wanted("promote", 1)).await.unwrap();
    assert_eq!(*ours.id, theirs["number"].to_string());
    assert_eq!(ours.title, "Promote to 1");
}

#[tokio::test]
async fn two_at_once_open_one() {
    let place = Place::new().await;
    place.commit("promote", "version: 1\n").await;
    let want = wanted("promote", 1);
    let other = weir_forge::Forges::default();
    let (one, two) = tokio::join!(place.forges.ensure(&place.access, &want), other.ensure(&place.access, &want));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.id.clone(), one.is_open(), two.is_open()), (two.id, true, true));
    // Nor is the other one found once this is over.
    place.close_as_person(&one.id).await;
    assert_eq!(place.find("promote").await.unwrap().id, one.id);
}

#[tokio::test]
async fn what_a_person_ended_is_not_opened_again() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.close_as_person(&opened.id).await;
    let again = place.forges.ensure(&place.access, &wanted("promote", 1)).await;
    assert!(matches!(again, Err(ForgeError::Moved { id, .. }) if id == *opened.id));
    // The next one is another matter.
    let next = place.forges.ensure(&place.access, &wanted("promote", 2)).await.unwrap();
    assert_ne!(next.id, opened.id);
}

#[tokio::test]
async fn without_a_branch_there_is_nothing_to_open() {
    let place = Place::new().await;
    let refused = place.forges.ensure(&place.access, &wanted("nowhere", 1)).await.unwrap_err();
    assert!(matches!(refused, ForgeError::Refused { .. }), "{refused}");
    assert!(refused.to_string().contains("no branch `nowhere`"), "{refused}");
    // Nor is there where the branch changes nothing.
    let body = json!({ "new_branch_name": "same", "old_ref_name": "main" });
    place.person().post_json(&place.path("/branches"), &body).await;
    let same = place.forges.ensure(&place.access, &wanted("same", 1)).await;
    assert!(matches!(same, Ok(_) | Err(ForgeError::Refused { .. })), "{same:?}");
}

#[tokio::test]
async fn a_label_that_cannot_be_had_is_no_reason_to_fail() {
    let place = Place::new().await;
    let mut want = wanted("promote", 1);
    // The forge takes no label without a name.
    want.label = Some(" ".to_owned());
    place.commit("promote", "version: 1\n").await;
    let opened = place.forges.ensure(&place.access, &want).await.unwrap();
    assert!(opened.is_open());
}

#[tokio::test]
async fn a_repository_that_was_renamed_is_followed() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let renamed = place.person().send(Method::PATCH, &place.path(""), Some(&json!({ "name": "moved" }))).await;
    assert!(renamed.status.is_success());
    assert_eq!(place.find("promote").await.unwrap().id, opened.id);
}
