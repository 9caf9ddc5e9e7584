//! Files of a commit.

use weir_core::CommitId;
use weir_git::Settings;
use weir_ports::{ConfigRepos, RepoError};

use crate::{
    http::{Http, Manner},
    world::{World, change, push, query},
};

#[tokio::test]
async fn files_with_a_text_are_found_and_nothing_else() {
    let world = World::new();
    let found = world.marked().await.unwrap();
    let expected = [
        "apps/team-0/app-0.yaml",
        "apps/team-0/app-100.yaml",
        "apps/team-0/app-200.yaml",
        "bin/run.sh",
        "odd name/ä b.yaml",
        "windows.yaml",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn files_come_with_every_byte() {
    let world = World::new();
    let query = query(None, &["*"]);
    let found = world.repos.files(&world.access(), &world.main(), &query).await.unwrap();
    let found: Vec<(&str, &[u8])> = found.iter().map(|file| (file.path.as_str(), &file.content[..])).collect();
    let expected: [(&str, &[u8]); 3] = [
        ("empty.yaml", b""),
        ("picture.bin", b"\0\x01$promotion\xff\0\n"),
        ("windows.yaml", b"version: 1\r\n# $promotion\r\n"),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_star_stays_in_its_folder_and_two_do_not() {
    let world = World::new();
    let access = world.access();
    let count =
        async |globs: &[&str]| world.repos.files(&access, &world.main(), &query(None, globs)).await.unwrap().len();
    assert_eq!(count(&["apps/*.yaml"]).await, 0);
    assert_eq!(count(&["apps/**/*.yaml"]).await, 300);
    assert_eq!(count(&["apps/team-3"]).await, 30);
    assert_eq!(count(&["apps/team-3", "apps/team-4/*1?4.yaml"]).await, 40);
}

#[tokio::test]
async fn a_text_is_looked_for_within_the_patterns_only() {
    let world = World::new();
    let query = query(Some("$promotion"), &["odd name/*", "bin"]);
    let found = world.repos.files(&world.access(), &world.main(), &query).await.unwrap();
    let found: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, ["bin/run.sh", "odd name/ä b.yaml"]);
}

#[tokio::test]
async fn a_text_that_nothing_contains_gives_nothing() {
    let world = World::new();
    let query = query(Some("no such text"), &[]);
    assert_eq!(world.repos.files(&world.access(), &world.main(), &query).await.unwrap(), []);
}

#[tokio::test]
async fn a_newer_commit_is_fetched_when_it_is_asked_for() {
    let world = World::new();
    world.marked().await.unwrap();
    world.somebody_commits("main");
    let query = query(None, &["theirs.yaml"]);
    let found = world.repos.files(&world.access(), &world.main(), &query).await.unwrap();
    assert_eq!(found[0].content, b"1\n");
}

#[tokio::test]
async fn a_commit_that_the_server_does_not_have_says_so() {
    let world = World::new();
    let commit = CommitId::new("1".repeat(40)).unwrap();
    let error = world.marked_at(&commit).await.unwrap_err();
    assert!(matches!(&error, RepoError::NoCommit { commit: named, .. } if *named == commit), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_definition_is_not_read_into_memory() {
    let world = World::with(Settings { largest_file: 20, ..Settings::default() });
    let error = world.marked().await.unwrap_err();
    assert!(matches!(error, RepoError::TooLarge { limit: 20, .. }), "{error}");
}

#[tokio::test]
async fn a_repository_of_the_newer_kind_is_read_as_well() {
    let world = World::empty(Settings::default());
    std::fs::remove_dir_all(world.server()).unwrap();
    world.git(&["init", "--quiet", "--bare", "--initial-branch=main", "--object-format=sha256", "."]);
    world.seed(10);
    let query = query(None, &["windows.yaml"]);
    let found = world.repos.files(&world.access(), &world.main(), &query).await.unwrap();
    assert_eq!(found.len(), 1);
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    world.push(&made, "promotion", None).await.unwrap();
    assert_eq!(world.head("promotion"), Some(made));
}

#[tokio::test]
async fn an_old_server_gives_out_what_a_branch_points_to_and_nothing_else() {
    let world = World::new();
    let http = Http::serve(world.folder.path(), None);
    http.behave(Manner::Old);
    let (access, query) = (http.access(&[]), query(None, &["windows.yaml"]));
    let before = world.main();
    let now = world.somebody_commits("main");
    let error = world.repos.files(&access, &before, &query).await.unwrap_err();
    assert!(matches!(error, RepoError::NoCommit { .. }), "{error}");
    assert_eq!(world.repos.files(&access, &now, &query).await.unwrap().len(), 1);
    let made = world.repos.prepare(&access, &change(&now, &[("a.yaml", Some(b"1"))])).await.unwrap();
    world.repos.push(&access, &push(&made, "promotion", None)).await.unwrap();
    assert_eq!(world.head("promotion"), Some(made));
}
