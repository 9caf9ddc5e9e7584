//! What a forge refuses, and what is told of it.

use serde_json::json;
use weir_core::{ForgeKind, RepoUrl};
use weir_forge::Forges;
use weir_ports::{Forge as _, ForgeAccess, ForgeError, Shown};

use crate::place::{Place, access, between, wanted};

/// Neither the message nor what is shown for debugging holds a secret.
fn told(error: &ForgeError, secret: &str) -> String {
    assert!(!format!("{error:?}").contains(secret), "{error:?}");
    let told = error.to_string();
    assert!(!told.contains(secret), "{told}");
    told
}

impl Place {
    fn with(&self, keys: &[(&str, &str)]) -> ForgeAccess {
        access(self.access.url.reveal(), keys)
    }
}

#[tokio::test]
async fn a_token_that_nobody_knows_lets_nobody_in() {
    let place = Place::new().await;
    let secret = "geheim00000000000000000000000000000000ff";
    let error = place.forges.find(&place.with(&[("token", secret)]), &between("promote")).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized { .. }), "{error:?}");
    assert!(told(&error, secret).contains("check the `token`"));
    let wrong = place.with(&[("username", &place.bot.name), ("password", "geheim-falsch")]);
    let error = place.forges.find(&wrong, &between("promote")).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized { .. }), "{error:?}");
    told(&error, "geheim-falsch");
    assert!(!format!("{:?}", place.forges).contains("geheim"));
}

#[tokio::test]
async fn a_password_opens_it_too_and_so_does_one_in_the_address() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let keys = [("username", place.bot.name.as_str()), ("password", place.bot.password.as_str())];
    let found = place.forges.find(&place.with(&keys), &between("promote")).await.unwrap();
    assert_eq!(found.unwrap().id, opened.id);
    let url = place.gitea.clone_url(&place.bot, &place.bot.name, "config");
    let commit = opened.head.clone();
    let shown = Shown { open: true, sentence: "nothing holds it".to_owned(), url: None };
    place.forges.show(&access(&url, &[]), &commit, &shown).await.unwrap();
}

#[tokio::test]
async fn a_token_that_may_only_read_finds_and_does_nothing() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let token = place.gitea.create_token(&place.bot, &["read:repository", "read:issue"]).await;
    let reader = place.with(&[("token", &token)]);
    assert_eq!(place.forges.find(&reader, &between("promote")).await.unwrap().unwrap().id, opened.id);
    place.commit("other", "version: 1\n").await;
    let shown = Shown { open: true, sentence: "nothing holds it".to_owned(), url: None };
    let all = [
        place.forges.ensure(&reader, &wanted("other", 1)).await.map(drop),
        place.forges.ensure(&reader, &wanted("promote", 2)).await.map(drop),
        place.forges.merge(&reader, &opened.id, &opened.head).await,
        place.forges.close(&reader, &opened.id, "no").await,
        place.forges.show(&reader, &opened.head, &shown).await,
    ];
    for done in all {
        let error = done.unwrap_err();
        assert!(matches!(error, ForgeError::Unauthorized { .. }), "{error:?}");
        assert!(told(&error, &token).contains("scope"), "{error}");
    }
}

#[tokio::test]
async fn who_may_only_read_the_repository_merges_nothing() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    let guest = place.gitea.create_user(&weir_testkit::servers::unique("guest")).await;
    let guest = place.with(&[("token", &guest.token)]);
    let error = place.forges.merge(&guest, &opened.id, &opened.head).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized { .. }), "{error:?}");
    let error = place.forges.ensure(&guest, &wanted("promote", 2)).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized { .. }), "{error:?}");
    assert!(place.find("promote").await.unwrap().is_open());
}

#[tokio::test]
async fn a_repository_that_is_gone_is_named() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.person().delete(&place.path("")).await;
    let shown = Shown { open: true, sentence: "nothing holds it".to_owned(), url: None };
    let all = [
        place.forges.find(&place.access, &between("promote")).await.map(drop),
        place.forges.ensure(&place.access, &wanted("promote", 1)).await.map(drop),
        place.forges.merge(&place.access, &opened.id, &opened.head).await,
        place.forges.close(&place.access, &opened.id, "no").await,
        place.forges.show(&place.access, &opened.head, &shown).await,
        place.forges.changed(&place.access, jiff::Timestamp::UNIX_EPOCH).await.map(drop),
    ];
    for done in all {
        let error = done.unwrap_err();
        assert!(
            matches!(&error, ForgeError::NoRepository { repository, .. } if *repository == place.repository),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_archived_repository_takes_nothing() {
    let place = Place::new().await;
    place.commit("promote", "version: 1\n").await;
    place.person().patch_json(&place.path(""), &json!({ "archived": true })).await;
    let error = place.forges.ensure(&place.access, &wanted("promote", 1)).await.unwrap_err();
    assert!(matches!(error, ForgeError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains("archived"), "{error}");
    assert_eq!(place.find("promote").await, None);
}

#[tokio::test]
async fn a_base_branch_that_was_renamed_is_followed_by_its_pull_request_only() {
    let place = Place::new().await;
    let opened = place.propose("promote", 1).await;
    place.person().patch_json(&place.path("/branches/main"), &json!({ "name": "trunk" })).await;
    assert_eq!(place.find("promote").await, None, "it goes into another branch now");
    assert!(place.raw(&opened.id).await["state"] == "open");
    let error = place.forges.ensure(&place.access, &wanted("promote", 2)).await.unwrap_err();
    assert!(error.to_string().contains("no branch `main`"), "{error}");
}

#[tokio::test]
async fn other_forges_are_not_spoken_to_yet() {
    let forges = Forges::default();
    for kind in [ForgeKind::GitHub, ForgeKind::GitLab, ForgeKind::BitbucketCloud, ForgeKind::AzureDevOps] {
        let url = RepoUrl::new("https://example.org/acme/config.git").unwrap();
        let access = ForgeAccess { kind, url, credentials: weir_ports::Credentials::default() };
        let error = forges.find(&access, &between("promote")).await.unwrap_err();
        assert_eq!(error, ForgeError::Unsupported(kind));
    }
}
