//! Caches that break, and are made anew.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use weir_git::{GitRepos, OpenError, Settings};
use weir_ports::{ConfigRepos, RepoError};

use crate::{
    http::{Http, Manner},
    processes::{self, until},
    world::{World, query, run_git, write_script},
};

fn packs(cache: &Path, end: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(cache.join("objects/pack")).unwrap();
    folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == end))
        .collect()
}

fn truncate(path: &Path) {
    let size = fs::metadata(path).unwrap().len();
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(size / 2).unwrap();
}

/// Another process with the same folder, that knows nothing of it yet.
async fn restarted(world: World) -> World {
    let World { folder, repos } = world;
    drop(repos);
    // A program that another test is just about to start holds the lock for another moment.
    let reopened = RefCell::new(None);
    until("the folder is free", || {
        *reopened.borrow_mut() = GitRepos::open(folder.path().join("cache"), Settings::default()).ok();
        reopened.borrow().is_some()
    })
    .await;
    World { folder, repos: reopened.into_inner().unwrap() }
}

/// Everything still works.
async fn assert_whole(world: &World) {
    assert_eq!(world.marked().await.unwrap().len(), 6);
    let made = world.prepare(&[("whole.yaml", Some(b"1"))]).await.unwrap();
    let expect = world.head("whole");
    world.push(&made, "whole", expect.as_ref()).await.unwrap();
    assert_eq!(world.head("whole"), Some(made));
}

#[tokio::test]
async fn a_truncated_pack_is_noticed_under_way() {
    let world = World::new();
    world.marked().await.unwrap();
    for pack in packs(&world.cache(), "pack") {
        truncate(&pack);
    }
    assert_whole(&world).await;
}

#[tokio::test]
async fn a_truncated_pack_is_noticed_after_a_restart() {
    let world = World::new();
    world.marked().await.unwrap();
    for pack in packs(&world.cache(), "pack") {
        truncate(&pack);
    }
    assert_whole(&restarted(world).await).await;
}

#[tokio::test]
async fn a_truncated_index_is_noticed() {
    let world = World::new();
    world.marked().await.unwrap();
    for index in packs(&world.cache(), "idx") {
        truncate(&index);
    }
    assert_whole(&restarted(world).await).await;
}

#[tokio::test]
async fn a_pack_that_is_gone_is_noticed() {
    let world = World::new();
    world.marked().await.unwrap();
    for pack in packs(&world.cache(), "pack") {
        fs::remove_file(pack).unwrap();
    }
    assert_whole(&world).await;
    assert_whole(&restarted(world).await).await;
}

#[tokio::test]
async fn a_cache_without_its_head_is_made_anew() {
    let world = World::new();
    world.marked().await.unwrap();
    fs::remove_file(world.cache().join("HEAD")).unwrap();
    assert_whole(&world).await;
    fs::write(world.cache().join("HEAD"), "").unwrap();
    assert_whole(&restarted(world).await).await;
}

#[tokio::test]
async fn a_cache_that_is_gone_is_made_anew() {
    let world = World::new();
    world.marked().await.unwrap();
    fs::remove_dir_all(world.cache()).unwrap();
    assert_whole(&world).await;
}

#[tokio::test]
async fn locks_of_a_killed_process_are_cleared_away() {
    let world = World::new();
    world.marked().await.unwrap();
    let cache = world.cache();
    let names = ["shallow.lock", "config.lock", "HEAD.lock", "refs/weir/made.lock", "objects/pack/tmp_pack_x"];
    for name in names {
        fs::write(cache.join(name), "").unwrap();
    }
    let world = restarted(world).await;
    world.somebody_commits("main");
    assert_whole(&world).await;
    assert!(names.iter().all(|name| !cache.join(name).exists()));
}

#[tokio::test]
async fn a_lock_that_appears_under_way_is_not_waited_for() {
    let world = World::new();
    world.marked().await.unwrap();
    fs::write(world.cache().join("shallow.lock"), "").unwrap();
    fs::write(world.cache().join("refs/weir/made.lock"), "").unwrap();
    world.somebody_commits("main");
    assert_whole(&world).await;
}

#[tokio::test]
async fn what_was_prepared_in_a_cache_that_broke_is_prepared_again() {
    let world = World::new();
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    fs::remove_dir_all(world.cache().join("objects")).unwrap();
    let error = world.push(&made, "promotion", None).await.unwrap_err();
    assert!(matches!(error, RepoError::NoCommit { .. }), "{error}");
    assert_eq!(world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap(), made);
    world.push(&made, "promotion", None).await.unwrap();
}

#[tokio::test]
async fn git_killed_in_the_middle_of_a_fetch_is_survived() {
    let world = World::new();
    let caches = world.folder.path().join("cache");
    let http = Http::serve(world.folder.path(), None);
    http.behave(Manner::Stalling);
    let (access, commit, query) = (http.access(&[]), world.main(), query(None, &["windows.yaml"]));
    let kill = async {
        until("the fetch hangs", || http.has_halted()).await;
        for process in processes::of(&caches) {
            // Some are gone by the time it is their turn.
            Command::new("kill").args(["-9", &process.id.to_string()]).output().unwrap();
        }
        http.behave(Manner::Proper);
    };
    let (result, ()) = tokio::join!(world.repos.files(&access, &commit, &query), kill);
    assert!(result.is_err() || result.is_ok_and(|files| files.len() == 1));
    assert_eq!(world.repos.files(&access, &commit, &query).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_cache_is_tidied_up_and_works_on() {
    let world = World::with(Settings { tidy_after: 3, ..Settings::default() });
    for number in 0..8 {
        let content = format!("{number}");
        let made = world.prepare(&[("a.yaml", Some(content.as_bytes()))]).await.unwrap();
        world.push(&made, "promotion", world.head("promotion").as_ref()).await.unwrap();
        world.somebody_commits("main");
    }
    assert_whole(&world).await;
}

#[tokio::test]
async fn two_processes_do_not_share_a_folder() {
    let world = World::new();
    let error = GitRepos::open(world.folder.path().join("cache"), Settings::default()).err().unwrap();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
}

/// Where the kernel lets an ordinary account have mounts of its own, Git gets a disk that is too small. Elsewhere, what
/// Git says of a full disk is tested with the words it uses.
#[tokio::test]
async fn a_full_disk_says_so_and_works_again_with_more_space() {
    if !Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success()) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let (program, full) = (folder.path().join("git"), folder.path().join("full"));
    let script = format!(
        "test -e '{}' && test \"$1\" = fetch || exec git \"$@\"\n\
         exec unshare -rm sh -c 'mount -t tmpfs -o size=16k t \"$GIT_DIR/objects\" && exec git \"$@\"' git \"$@\"\n",
        full.display()
    );
    write_script(&program, &script);
    fs::write(&full, "").unwrap();
    let world = World::with(Settings { program, ..Settings::default() });
    let error = world.marked().await.unwrap_err();
    assert!(matches!(error, RepoError::DiskFull { .. }), "{error}");
    fs::remove_file(full).unwrap();
    assert_whole(&world).await;
}

/// How many objects a repository holds.
fn objects(folder: &Path) -> usize {
    let counted = run_git(folder, &["count-objects", "-v"], b"");
    let number = |name: &str| {
        let line = counted.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().parse::<usize>().unwrap()
    };
    number("count:") + number("in-pack:")
}

#[tokio::test]
async fn only_what_is_new_is_fetched_and_pushed() {
    let world = World::new();
    world.marked().await.unwrap();
    let before = objects(&world.cache());
    world.somebody_commits("main");
    world.marked().await.unwrap();
    // A commit, its root folder and one file.
    assert_eq!(objects(&world.cache()) - before, 3);
    let before = objects(&world.server());
    let made = world.prepare(&[("apps/team-0/app-0.yaml", Some(b"version: 2\n"))]).await.unwrap();
    world.push(&made, "promotion", None).await.unwrap();
    // A commit, three folders and one file.
    assert_eq!(objects(&world.server()) - before, 5);
}
