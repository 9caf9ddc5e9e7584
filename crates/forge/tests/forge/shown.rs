//! What holds a promotion is shown beside its commit.

use serde_json::Value;
use weir_ports::{Forge as _, Shown};

use crate::place::Place;

impl Place {
    async fn statuses(&self, commit: &str) -> Vec<Value> {
        let all = self.person().get_json(&self.path(&format!("/commits/{commit}/statuses"))).await;
        all.as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn what_holds_it_is_shown_once_and_what_changes_is_shown_anew() {
    let place = Place::new().await;
    let commit = place.commit("promote", "version: 1\n").await;
    let url = Some("https://weir.example.org/".to_owned());
    let held = Shown { open: false, sentence: "frozen until Monday".to_owned(), url };
    for _ in 0..2 {
        place.forges.show(&place.access, &commit, &held).await.unwrap();
    }
    let all = place.statuses(commit.as_str()).await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["context"], "weir");
    assert_eq!(all[0]["status"], "pending");
    assert_eq!(all[0]["description"], "frozen until Monday");
    assert_eq!(all[0]["target_url"], "https://weir.example.org/");

    let open = Shown { open: true, sentence: "ä".repeat(1000), url: None };
    for _ in 0..2 {
        place.forges.show(&place.access, &commit, &open).await.unwrap();
    }
    let combined = place.person().get_json(&place.path(&format!("/commits/{commit}/status"))).await;
    assert_eq!(combined["state"], "success");
    let sentence = combined["statuses"][0]["description"].as_str().unwrap();
    assert_eq!(sentence.chars().count(), 255);
    assert_eq!(place.statuses(commit.as_str()).await.len(), 2);
}
