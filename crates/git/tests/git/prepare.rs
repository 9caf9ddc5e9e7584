//! Commits without a work tree.

use weir_ports::{ConfigRepos, RepoError};

use crate::world::{World, change};

#[tokio::test]
async fn the_same_change_always_gives_the_same_commit() {
    let (one, other) = (World::new(), World::new());
    let files: &[(&str, Option<&[u8]>)] = &[("apps/team-0/app-0.yaml", Some(b"version: 2\n")), ("new.yaml", Some(b""))];
    let first = one.prepare(files).await.unwrap();
    assert_eq!(first, one.prepare(files).await.unwrap());
    assert_eq!(first, other.prepare(files).await.unwrap());
    assert_ne!(first, one.prepare(&files[..1]).await.unwrap());
}

#[tokio::test]
async fn nothing_reaches_the_server_before_it_is_pushed() {
    let world = World::new();
    let before = world.git(&["for-each-ref"]);
    world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    assert_eq!(world.git(&["for-each-ref"]), before);
}

#[tokio::test]
async fn only_the_named_files_change() {
    let world = World::new();
    let files: &[(&str, Option<&[u8]>)] = &[
        ("apps/team-1/app-1.yaml", None),
        ("apps/team-2/app-2.yaml", Some(b"two: \"2\"\r\nbinary: \0\xff")),
        ("bin/run.sh", Some(b"#!/bin/sh\n")),
        ("deep/er/\"new\" \\ file.yaml", Some(b"x")),
        ("not/there.yaml", None),
        ("odd name/\u{e4} b.yaml", Some(b"version: 2\n")),
    ];
    let made = world.prepare(files).await.unwrap();
    world.push(&made, "promotion", None).await.unwrap();
    let changed = world.git(&["diff-tree", "-r", "-z", "--no-commit-id", "main", "promotion"]);
    let changed: Vec<String> = changed
        .split('\0')
        .collect::<Vec<_>>()
        .chunks_exact(2)
        .map(|entry| format!("{} {} {}", &entry[0][1..14], entry[0].chars().last().unwrap(), entry[1]))
        .collect();
    let expected = [
        "100644 000000 D apps/team-1/app-1.yaml",
        "100644 100644 M apps/team-2/app-2.yaml",
        "100755 100755 M bin/run.sh",
        "000000 100644 A deep/er/\"new\" \\ file.yaml",
        "100644 100644 M odd name/\u{e4} b.yaml",
    ];
    assert_eq!(changed, expected);
    let query = crate::world::query(None, &["apps/team-2/app-2.yaml"]);
    let read = world.repos.files(&world.access(), &made, &query).await.unwrap();
    assert_eq!(read[0].content, b"two: \"2\"\r\nbinary: \0\xff");
}

#[tokio::test]
async fn a_commit_says_who_made_it_when_and_what_for() {
    let world = World::new();
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    world.push(&made, "promotion", None).await.unwrap();
    let shown = world.git(&["log", "-1", "--format=%P|%an|%ae|%cn|%at|%ct|%B", "promotion"]);
    let main = world.main();
    assert_eq!(shown.trim(), format!("{main}|Weir|weir@example.org|Weir|1700001000|1700001000|promote podinfo"));
}

#[tokio::test]
async fn a_commit_can_go_on_top_of_one_that_is_not_pushed_yet() {
    let world = World::new();
    let first = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let second = world.repos.prepare(&world.access(), &change(&first, &[("b.yaml", Some(b"2"))])).await.unwrap();
    world.push(&second, "promotion", None).await.unwrap();
    assert_eq!(world.git(&["rev-list", "--count", "main..promotion"]).trim(), "2");
}

#[tokio::test]
async fn what_is_no_file_is_not_overwritten() {
    let world = World::new();
    for (path, found) in [("apps", "a folder"), ("link", "a symbolic link"), ("empty.yaml/x", "below something")] {
        let error = world.prepare(&[("a.yaml", Some(b"1")), (path, Some(b"1"))]).await.unwrap_err();
        assert!(matches!(error, RepoError::NotAFile { .. }), "{error}");
        assert!(error.to_string().contains(&format!("`{path}`")) && error.to_string().contains(found), "{error}");
    }
}

#[tokio::test]
async fn many_files_go_into_one_commit() {
    let world = World::new();
    let names: Vec<String> = (0..5_000).map(|number| format!("made/{}/file-{number}.yaml", number % 50)).collect();
    let files: Vec<(&str, Option<&[u8]>)> =
        names.iter().map(|name| (name.as_str(), Some(b"x: 1\n".as_slice()))).collect();
    let made = world.prepare(&files).await.unwrap();
    world.push(&made, "promotion", None).await.unwrap();
    let listed = world.git(&["ls-tree", "-r", "--name-only", "promotion", "made"]);
    assert_eq!(listed.lines().count(), 5_000);
}
