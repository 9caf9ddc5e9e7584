//! Every call ends, and everything that it started ends with it.

use std::time::Duration;

use weir_git::Settings;
use weir_ports::{ConfigRepos, RepoError};

use crate::{
    http::{Http, Manner},
    processes::{self, until},
    world::{World, branch},
};

#[tokio::test]
async fn a_call_that_takes_too_long_is_killed_with_its_children() {
    let world = World::with(Settings { deadline: Duration::from_secs(2), ..Settings::default() });
    let caches = world.folder.path().join("cache");
    let http = Http::serve(world.folder.path(), None);
    http.behave(Manner::Silent);
    let access = http.access(&[]);
    let branches = [branch("main")];
    // Git itself, and at least the one that talks to the server.
    let seen = until("git with a child", || processes::of(&caches).len() >= 2);
    let (result, ()) = tokio::join!(world.repos.look(&access, &branches), seen);
    let error = result.unwrap_err();
    assert!(matches!(error, RepoError::TimedOut { after, .. } if after.as_secs() == 2), "{error}");
    until("all of them are gone", || processes::of(&caches).is_empty()).await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_killed_with_its_children() {
    let world = World::new();
    let caches = world.folder.path().join("cache");
    let http = Http::serve(world.folder.path(), None);
    http.behave(Manner::Silent);
    let access = http.access(&[]);
    let branches = [branch("main")];
    tokio::select! {
        result = world.repos.look(&access, &branches) => panic!("{result:?}"),
        () = until("git with a child", || processes::of(&caches).len() >= 2) => {}
    }
    until("all of them are gone", || processes::of(&caches).is_empty()).await;
}

#[tokio::test]
async fn a_slow_fetch_does_not_hold_up_reading_what_is_there() {
    let world = World::new();
    let http = Http::serve(world.folder.path(), None);
    let access = http.access(&[]);
    let query = crate::world::query(None, &["windows.yaml"]);
    let before = world.main();
    world.repos.files(&access, &before, &query).await.unwrap();
    let newer = world.somebody_commits("main");
    http.behave(Manner::Stalling);
    let fetching = world.repos.files(&access, &newer, &query);
    let reading = async {
        until("the fetch hangs", || http.has_halted()).await;
        world.repos.files(&access, &before, &query).await
    };
    tokio::select! {
        result = fetching => panic!("{result:?}"),
        read = reading => assert_eq!(read.unwrap().len(), 1),
    }
}
