//! Credentials open the door and are never seen.

use std::fs;

use weir_ports::{ConfigRepos, RepoError};

use crate::{
    http::{Http, Manner, PASSWORD, TOKEN},
    processes::{self, until},
    world::{World, branch, change, push, query},
};

const RIGHT: &[(&str, &str)] = &[("username", "weir"), ("password", "geheim-1")];

#[tokio::test]
async fn a_name_and_a_password_open_the_repository() {
    let world = World::new();
    let access = Http::serve(world.folder.path(), Some(PASSWORD)).access(RIGHT);
    let main = world.main();
    assert_eq!(world.repos.look(&access, &[branch("main")]).await.unwrap(), [Some(main.clone())]);
    assert_eq!(world.repos.files(&access, &main, &query(Some("$promotion"), &[])).await.unwrap().len(), 6);
    let made = world.repos.prepare(&access, &change(&main, &[("a.yaml", Some(b"1"))])).await.unwrap();
    world.repos.push(&access, &push(&made, "promotion", None)).await.unwrap();
    assert_eq!(world.head("promotion"), Some(made));
}

#[tokio::test]
async fn a_token_opens_the_repository() {
    let world = World::new();
    let access = Http::serve(world.folder.path(), Some(TOKEN)).access(&[("token", "geheim-2\n")]);
    assert_eq!(world.repos.look(&access, &[branch("main")]).await.unwrap(), [Some(world.main())]);
}

#[tokio::test]
async fn what_the_address_holds_opens_the_repository() {
    let world = World::new();
    let access = Http::serve(world.folder.path(), Some(PASSWORD)).access_as("weir:geheim%2d1@", &[]);
    assert_eq!(world.repos.look(&access, &[branch("main")]).await.unwrap(), [Some(world.main())]);
}

#[tokio::test]
async fn wrong_credentials_and_none_at_all_are_told_apart_from_a_missing_repository() {
    let world = World::new();
    let http = Http::serve(world.folder.path(), Some(PASSWORD));
    for keys in [&[("username", "weir"), ("password", "geheim-wrong")][..], &[]] {
        let access = http.access(keys);
        let error = world.repos.look(&access, &[branch("main")]).await.unwrap_err();
        assert!(matches!(error, RepoError::Unauthorized { .. }), "{error}");
        assert!(!format!("{error} {error:?} {access:?}").contains("geheim"), "{error}");
    }
    fs::rename(world.server(), world.folder.path().join("moved.git")).unwrap();
    let error = world.repos.look(&http.access(RIGHT), &[branch("main")]).await.unwrap_err();
    assert!(matches!(error, RepoError::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn the_answers_of_a_server_in_trouble_are_told_apart() {
    let world = World::new();
    let http = Http::serve(world.folder.path(), None);
    let answer = async |status| {
        http.behave(Manner::Refusing(status));
        world.repos.look(&http.access(RIGHT), &[branch("main")]).await.unwrap_err()
    };
    assert!(matches!(answer(403).await, RepoError::Unauthorized { .. }));
    assert!(matches!(answer(404).await, RepoError::NotFound { .. }));
    assert!(matches!(answer(429).await, RepoError::RateLimited { .. }));
    assert!(matches!(answer(503).await, RepoError::Unreachable { .. }));
}

#[tokio::test]
async fn a_cache_is_not_shown_to_whom_the_server_does_not_let_in() {
    let world = World::new();
    let http = Http::serve(world.folder.path(), Some(PASSWORD));
    let (main, query) = (world.main(), query(Some("$promotion"), &[]));
    world.repos.files(&http.access(RIGHT), &main, &query).await.unwrap();
    let error = world.repos.files(&http.access(&[("token", "guessed")]), &main, &query).await.unwrap_err();
    assert!(matches!(error, RepoError::Unauthorized { .. }), "{error}");
}

#[tokio::test]
async fn a_secret_is_in_no_argument_of_any_process() {
    let world = World::new();
    let caches = world.folder.path().join("cache");
    let http = Http::serve(world.folder.path(), Some(PASSWORD));
    http.behave(Manner::Stalling);
    let (main, query) = (world.main(), query(None, &["windows.yaml"]));
    let access = http.access_as("weir:geheim-0@", RIGHT);
    let watching = async {
        until("the fetch hangs", || http.has_halted()).await;
        processes::of(&caches)
    };
    let running = tokio::select! {
        result = world.repos.files(&access, &main, &query) => panic!("{result:?}"),
        running = watching => running,
    };
    assert!(running.len() >= 3, "{}", running.len());
    assert!(running.iter().any(|process| process.arguments.contains("fetch")));
    for process in running {
        assert!(!process.arguments.contains("geheim"), "{}", process.arguments);
    }
}

#[tokio::test]
async fn a_secret_that_the_server_repeats_is_taken_out_of_the_error() {
    let world = World::new();
    world.hook("update", "echo 'geheim-1 may not push here' >&2; exit 1");
    let access = Http::serve(world.folder.path(), Some(PASSWORD)).access(RIGHT);
    let made = world.repos.prepare(&access, &change(&world.main(), &[("a.yaml", Some(b"1"))])).await.unwrap();
    let error = world.repos.push(&access, &push(&made, "main", Some(&world.main()))).await.unwrap_err();
    assert!(matches!(&error, RepoError::Protected { reason, .. } if reason.contains("*** may not push")), "{error}");
}

#[tokio::test]
async fn nothing_private_is_left_on_disk() {
    let world = World::new();
    let http = Http::serve(world.folder.path(), Some(PASSWORD));
    let keys = [RIGHT, &[("caFile", "geheim-ca")]].concat();
    world.repos.look(&http.access(&keys), &[branch("main")]).await.unwrap();
    let left = fs::read_dir(world.folder.path().join("cache")).unwrap();
    let left: Vec<String> = left.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(left, ["weir.lock"]);
}

#[tokio::test]
async fn credentials_do_not_follow_to_another_server() {
    let world = World::new();
    let (http, other) = (Http::serve(world.folder.path(), None), Http::serve(world.folder.path(), Some(PASSWORD)));
    http.behave(Manner::Redirecting(other.port));
    let error = world.repos.look(&http.access(RIGHT), &[branch("main")]).await.unwrap_err();
    assert!(matches!(error, RepoError::Unauthorized { .. }), "{error}");
    assert!(!other.was_shown_credentials());
}
