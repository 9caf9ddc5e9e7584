//! Where branches are.

use weir_core::RepoUrl;
use weir_git::Settings;
use weir_ports::{ConfigRepos, RepoAccess, RepoError};

use crate::world::{World, branch};

#[tokio::test]
async fn a_folder_of_the_machine_is_none_of_ours_where_that_is_not_allowed() {
    let world = World::with(Settings { allow_folders: false, ..Settings::default() });
    let refused = world.repos.look(&world.access(), &[]).await.unwrap_err();
    assert!(matches!(refused, RepoError::Folder { .. }), "{refused}");
    assert!(refused.to_string().contains("`--allow-file-repositories`"), "{refused}");
}

#[tokio::test]
async fn branches_are_looked_up_on_the_server_in_the_order_asked_for() {
    let world = World::new();
    world.git(&["branch", "qa", "main"]);
    let qa = world.somebody_commits("qa");
    let asked = [branch("qa"), branch("prod"), branch("main")];
    let found = world.repos.look(&world.access(), &asked).await.unwrap();
    assert_eq!(found, [Some(qa), None, Some(world.main())]);
}

#[tokio::test]
async fn a_branch_is_not_mistaken_for_one_whose_name_ends_alike() {
    let world = World::new();
    world.git(&["branch", "release/prod", "main"]);
    let found = world.repos.look(&world.access(), &[branch("prod")]).await.unwrap();
    assert_eq!(found, [None]);
}

#[tokio::test]
async fn the_branches_below_a_name_are_listed_and_no_others() {
    let world = World::new();
    let below = branch("weir/define");
    assert_eq!(world.repos.below(&world.access(), &below).await.unwrap(), []);
    let names = ["weir/define/b/app", "weir/define/a/web", "weir/defined/a", "other/refs/heads/weir/define/x"];
    for name in names {
        world.git(&["branch", name, "main"]);
    }
    let moved = world.somebody_commits("weir/define/a/web");
    let found = world.repos.below(&world.access(), &below).await.unwrap();
    assert_eq!(found, [(branch("weir/define/a/web"), moved), (branch("weir/define/b/app"), world.main())]);
    let empty = World::empty(Settings::default());
    assert_eq!(empty.repos.below(&empty.access(), &below).await.unwrap(), []);
}

#[tokio::test]
async fn a_commit_tells_its_parent_though_the_cache_does_not_have_it() {
    let world = World::new();
    let first = world.main();
    let second = world.somebody_commits("main");
    let told = world.repos.commit(&world.access(), &second).await.unwrap();
    assert_eq!((told.parent, &*told.author, &*told.message), (Some(first.clone()), "B <b@example.org>", "y"));
    assert_eq!(told.at.as_second(), 1_700_000_100);
    assert_eq!(world.repos.commit(&world.access(), &first).await.unwrap().parent, None);
    let nowhere = weir_core::CommitId::new("4".repeat(40)).unwrap();
    let error = world.repos.commit(&world.access(), &nowhere).await.unwrap_err();
    assert!(matches!(error, RepoError::NoCommit { .. }), "{error}");
}

#[tokio::test]
async fn a_repository_without_a_default_branch_is_not_empty() {
    let world = World::new();
    world.git(&["symbolic-ref", "HEAD", "refs/heads/gone"]);
    assert_eq!(world.repos.look(&world.access(), &[branch("prod")]).await.unwrap(), [None]);
}

#[tokio::test]
async fn an_empty_repository_says_so() {
    let world = World::empty(Settings::default());
    let error = world.repos.look(&world.access(), &[branch("main")]).await.unwrap_err();
    assert!(matches!(error, RepoError::Empty { .. }), "{error}");
    assert!(error.to_string().contains("push a first commit"), "{error}");
}

#[tokio::test]
async fn a_repository_that_is_not_there_says_so() {
    let world = World::new();
    let url = RepoUrl::new(format!("file://{}/nothing.git", world.folder.path().display())).unwrap();
    let error = world.repos.look(&RepoAccess::open(url), &[branch("main")]).await.unwrap_err();
    assert!(matches!(error, RepoError::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_says_so() {
    let world = World::new();
    let url = RepoUrl::new("http://127.0.0.1:1/fleet.git").unwrap();
    let error = world.repos.look(&RepoAccess::open(url), &[branch("main")]).await.unwrap_err();
    assert!(matches!(error, RepoError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_over_ssh_says_so() {
    let world = World::new();
    let url = RepoUrl::new("ssh://git@127.0.0.1:1/fleet.git").unwrap();
    let error = world.repos.look(&RepoAccess::open(url), &[branch("main")]).await.unwrap_err();
    assert!(matches!(error, RepoError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn many_who_ask_at_once_are_answered_by_few_questions() {
    let folder = tempfile::tempdir().unwrap();
    let (program, calls) = (folder.path().join("git"), folder.path().join("calls"));
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec git \"$@\"\n", calls.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let world = World::with(Settings { program, ..Settings::default() });
    let (access, main) = (world.access(), world.main());
    let asked: Vec<_> = (0..50).map(|number| [branch("main"), branch(&format!("promotion-{number}"))]).collect();
    let looks = asked.iter().map(|branches| world.repos.look(&access, branches));
    for found in futures_util::future::join_all(looks).await {
        assert_eq!(found.unwrap(), [Some(main.clone()), None]);
    }
    let calls = std::fs::read_to_string(calls).unwrap();
    let questions = calls.lines().filter(|line| line.contains("ls-remote")).count();
    assert!((1..=3).contains(&questions), "{questions} questions");
}

#[tokio::test]
async fn an_answer_is_never_older_than_the_question() {
    let world = World::new();
    let (access, main) = (world.access(), [branch("main")]);
    for _ in 0..10 {
        let early = world.repos.look(&access, &main);
        let early = async { drop(early.await) };
        let late = async {
            tokio::task::yield_now().await;
            let moved = world.somebody_commits("main");
            assert_eq!(world.repos.look(&access, &main).await.unwrap(), [Some(moved)]);
        };
        futures_util::future::join(early, late).await;
    }
}
