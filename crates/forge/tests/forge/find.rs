//! Which pull request is found.

use serde_json::json;
use weir_forge::Forges;
use weir_ports::{Forge as _, PullRequestState};

use crate::place::{Place, between, branch, wanted};

impl Place {
    /// A branch at `main`, without a commit of its own.
    async fn branch(&self, name: &str, from: &str) {
        let body = json!({ "new_branch_name": name, "old_ref_name": from });
        self.person().post_json(&self.path("/branches"), &body).await;
    }

    async fn open_as_person(&self, head: &str, body: &str) -> String {
        let body = json!({ "head": head, "base": "main", "title": "By hand", "body": body });
        self.person().post_json(&self.path("/pulls"), &body).await["number"].to_string()
    }
}

#[tokio::test]
async fn where_there_is_none_none_is_found() {
    let place = Place::new().await;
    assert_eq!(place.find("promote").await, None);
    place.commit("promote", "version: 1\n").await;
    assert_eq!(place.find("promote").await, None);
}

#[tokio::test]
async fn the_open_one_is_ours_whatever_it_says() {
    let place = Place::new().await;
    let old = place.propose("promote", 1).await;
    place.close_as_person(&old.id).await;
    let id = place.open_as_person("promote", "nothing of weir").await;
    let found = place.find("promote").await.unwrap();
    assert_eq!((&*found.id, found.is_open()), (id.as_str(), true));
    assert_eq!(found.body, "nothing of weir");
}

#[tokio::test]
async fn of_those_that_are_over_the_newest_with_the_mark_is_ours() {
    let place = Place::new().await;
    for ordinal in [1, 2] {
        let pull = place.propose("promote", ordinal).await;
        place.close_as_person(&pull.id).await;
    }
    let other = place.open_as_person("promote", "nothing of weir").await;
    place.close_as_person(&other).await;
    let found = place.find("promote").await.unwrap();
    assert_eq!(&*found.id, "2");
    assert!(found.body.contains("#2 -->"), "{}", found.body);
    // Whoever has never seen any of them finds the same.
    assert_eq!(Forges::default().find(&place.access, &between("promote")).await.unwrap(), Some(found));
}

#[tokio::test]
async fn one_without_the_mark_is_none_of_ours_once_it_is_over() {
    let place = Place::new().await;
    place.commit("promote", "version: 1\n").await;
    let id = place.open_as_person("promote", "nothing of weir").await;
    place.close_as_person(&id).await;
    assert_eq!(place.find("promote").await, None);
    // And not even if it was looked for before it became ours.
    place.person().patch_json(&place.path(&format!("/pulls/{id}")), &json!({ "state": "open" })).await;
    assert_eq!(&*place.find("promote").await.unwrap().id, id.as_str());
    place.forges.ensure(&place.access, &wanted("promote", 1)).await.unwrap();
    place.close_as_person(&id).await;
    assert_eq!(&*place.find("promote").await.unwrap().id, id.as_str());
}

#[tokio::test]
async fn a_branch_of_the_same_name_in_a_fork_is_not_ours() {
    let place = Place::new().await;
    let api = place.person();
    let name = weir_testkit::servers::unique("fork");
    api.post_json(&place.path("/forks"), &json!({ "name": name })).await;
    let fork = format!("{}/{name}", place.gitea.admin().name);
    place.gitea.commit(&fork, "promote", "Change", &[("prod.yaml", "version: 9\n")]).await;
    let owner = &place.gitea.admin().name;
    let body = json!({ "head": format!("{owner}:promote"), "base": "main", "title": "From afar", "body": "" });
    api.post_json(&place.path("/pulls"), &body).await;
    assert_eq!(place.find("promote").await, None);
    let ours = place.propose("promote", 1).await;
    assert_eq!(place.find("promote").await.unwrap().id, ours.id);
}

#[tokio::test]
async fn it_is_found_behind_more_than_a_page_of_others() {
    let place = Place::new().await;
    let ended = place.propose("ended", 1).await;
    place.close_as_person(&ended.id).await;
    // What was there first is the last of a list, and this one hides the open one from who asks for any.
    let hidden = place.propose("hidden", 1).await;
    place.close_as_person(&hidden.id).await;
    let hidden = place.propose("hidden", 2).await;
    place.commit("many", "version: 1\n").await;
    for number in 0..52 {
        let head = format!("many-{number}");
        place.branch(&head, "many").await;
        place.open_as_person(&head, "").await;
    }
    let forges = Forges::default();
    let found = forges.find(&place.access, &between("hidden")).await.unwrap().unwrap();
    assert_eq!((found.id.clone(), found.state), (hidden.id, PullRequestState::Open));
    let found = forges.find(&place.access, &between("ended")).await.unwrap().unwrap();
    assert_eq!(found.id, ended.id);
    assert!(!found.is_open());
}

#[tokio::test]
async fn branches_with_slashes_are_found() {
    let place = Place::new().await;
    place.branch("release/1.x", "main").await;
    place.commit("promote/prod", "version: 1\n").await;
    let mut want = wanted("promote/prod", 1);
    want.between.base = branch("release/1.x");
    let opened = place.forges.ensure(&place.access, &want).await.unwrap();
    let found = Forges::default().find(&place.access, &want.between).await.unwrap().unwrap();
    assert_eq!(found.id, opened.id);
    assert_eq!(place.find("promote/prod").await, None, "that goes into another branch");
}

#[tokio::test]
async fn what_changed_is_told_by_branch() {
    let place = Place::new().await;
    let one = place.propose("one", 1).await;
    let two = place.propose("two", 1).await;
    // The forge counts in seconds.
    let raw = place.raw(&two.id).await;
    let begin: jiff::Timestamp = raw["updated_at"].as_str().unwrap().parse().unwrap();
    let later = begin.checked_add(jiff::SignedDuration::from_secs(2)).unwrap();
    let changed = async || place.forges.changed(&place.access, later).await.unwrap();
    weir_testkit::servers::eventually("two seconds have passed", async || {
        if jiff::Timestamp::now() > later { Ok(()) } else { Err("not yet") }
    })
    .await;
    assert!(changed().await.is_empty());
    place.review(&one.id, "APPROVED").await;
    assert_eq!(changed().await, [branch("one")]);
    place.close_as_person(&two.id).await;
    assert_eq!(changed().await, [branch("one"), branch("two")]);
    let fresh = Forges::default().changed(&place.access, later).await.unwrap();
    assert_eq!(fresh, [branch("one"), branch("two")]);
}
