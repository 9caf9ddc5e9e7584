//! Branches moved under guard, several at a time.

use std::fs;

use weir_core::CommitId;
use weir_ports::{ConfigRepos, Push, Pushed, RepoError};

use crate::world::{World, branch, push};

/// Counts pushes, not branches: this hook runs once for each push.
fn count_pushes(world: &World) {
    world.hook("post-receive", "echo push >> pushes.log");
}

fn pushes(world: &World) -> usize {
    fs::read_to_string(world.server().join("pushes.log")).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn a_branch_is_made_moved_and_removed() {
    let world = World::new();
    let first = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let second = world.prepare(&[("a.yaml", Some(b"2"))]).await.unwrap();
    world.push(&first, "promotion", None).await.unwrap();
    assert_eq!(world.head("promotion").as_ref(), Some(&first));
    world.push(&second, "promotion", Some(&first)).await.unwrap();
    assert_eq!(world.head("promotion").as_ref(), Some(&second));
    let remove = Push { branch: branch("promotion"), commit: None, expect: Some(second) };
    world.repos.push(&world.access(), &remove).await.unwrap();
    assert_eq!(world.head("promotion"), None);
}

#[tokio::test]
async fn what_is_done_already_is_a_success() {
    let world = World::new();
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    assert_eq!(world.push(&made, "promotion", None).await.unwrap(), Pushed::Now);
    assert_eq!(world.push(&made, "promotion", None).await.unwrap(), Pushed::Before);
    let remove = Push { branch: branch("promotion"), commit: None, expect: Some(made) };
    world.repos.push(&world.access(), &remove).await.unwrap();
    world.repos.push(&world.access(), &remove).await.unwrap();
}

#[tokio::test]
async fn a_branch_that_moved_is_left_alone_and_its_new_head_is_named() {
    let world = World::new();
    let (before, made) = (world.main(), world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap());
    let theirs = world.somebody_commits("main");
    let error = world.push(&made, "main", Some(&before)).await.unwrap_err();
    assert!(matches!(&error, RepoError::Moved { now, .. } if *now == theirs), "{error}");
    assert_eq!(world.main(), theirs);
}

#[tokio::test]
async fn a_branch_that_should_be_new_and_is_not_has_moved() {
    let world = World::new();
    world.git(&["branch", "promotion", "main"]);
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let error = world.push(&made, "promotion", None).await.unwrap_err();
    assert!(matches!(&error, RepoError::Moved { now, .. } if *now == world.main()), "{error}");
}

#[tokio::test]
async fn a_branch_that_is_gone_is_not_made_again() {
    let world = World::new();
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let error = world.push(&made, "gone", Some(&world.main())).await.unwrap_err();
    assert!(matches!(error, RepoError::NoBranch { .. }), "{error}");
    assert_eq!(world.head("gone"), None);
}

#[tokio::test]
async fn a_commit_on_a_moved_base_is_pushed_to_a_branch_of_its_own_all_the_same() {
    let world = World::new();
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    world.somebody_commits("main");
    world.push(&made, "promotion", None).await.unwrap();
    assert_eq!(world.head("promotion"), Some(made));
}

#[tokio::test]
async fn a_commit_that_was_never_prepared_is_named() {
    let world = World::new();
    let commit = CommitId::new("2".repeat(40)).unwrap();
    let error = world.push(&commit, "promotion", None).await.unwrap_err();
    assert!(matches!(&error, RepoError::NoCommit { commit: named, .. } if *named == commit), "{error}");
}

#[tokio::test]
async fn a_protected_branch_says_what_the_server_said() {
    let world = World::new();
    world.hook("update", "case $1 in refs/heads/main) echo 'main needs a review' >&2; exit 1;; esac");
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let error = world.push(&made, "main", Some(&world.main())).await.unwrap_err();
    assert!(matches!(&error, RepoError::Protected { reason, .. } if reason.contains("main needs a review")), "{error}");
    world.push(&made, "promotion", None).await.unwrap();
}

#[tokio::test]
async fn pushes_of_the_same_moment_go_out_together() {
    let world = World::new();
    count_pushes(&world);
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let access = world.access();
    let names: Vec<String> = (0..10).map(|number| format!("promotion-{number}")).collect();
    let wanted: Vec<Push> = names.iter().map(|name| push(&made, name, None)).collect();
    let answers = join_all(wanted.iter().map(|push| world.repos.push(&access, push))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert!(names.iter().all(|name| world.head(name).as_ref() == Some(&made)));
    assert_eq!(pushes(&world), 1);
}

#[tokio::test]
async fn each_of_many_pushes_gets_its_own_answer() {
    let world = World::new();
    world.hook("update", "test $1 != refs/heads/locked");
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    world.git(&["branch", "taken", "main"]);
    let unknown = CommitId::new("3".repeat(40)).unwrap();
    let wanted = [
        push(&made, "one", None),
        push(&made, "locked", None),
        push(&made, "taken", None),
        push(&unknown, "unknown", None),
        push(&made, "gone", Some(&made)),
        push(&made, "two", None),
    ];
    let access = world.access();
    let answers = join_all(wanted.iter().map(|push| world.repos.push(&access, push))).await;
    assert!(matches!(answers[0], Ok(Pushed::Now)), "{answers:?}");
    assert!(matches!(answers[1], Err(RepoError::Protected { .. })), "{answers:?}");
    assert!(matches!(answers[2], Err(RepoError::Moved { .. })), "{answers:?}");
    assert!(matches!(answers[3], Err(RepoError::NoCommit { .. })), "{answers:?}");
    assert!(matches!(answers[4], Err(RepoError::NoBranch { .. })), "{answers:?}");
    assert!(matches!(answers[5], Ok(Pushed::Now)), "{answers:?}");
}

#[tokio::test]
async fn a_hook_that_refuses_one_branch_does_not_refuse_the_others() {
    let world = World::new();
    world.hook("pre-receive", "if grep -q refs/heads/locked; then echo 'no, not that one' >&2; exit 1; fi");
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let wanted = [push(&made, "one", None), push(&made, "locked", None), push(&made, "two", None)];
    let access = world.access();
    let answers = join_all(wanted.iter().map(|push| world.repos.push(&access, push))).await;
    assert!(matches!(answers[0], Ok(Pushed::Now)), "{answers:?}");
    assert!(matches!(&answers[1], Err(RepoError::Protected { reason, .. }) if reason.contains("not that one")));
    assert!(matches!(answers[2], Ok(Pushed::Now)), "{answers:?}");
}

#[tokio::test]
async fn of_two_pushes_to_one_branch_the_second_learns_that_it_moved() {
    let world = World::new();
    let first = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let second = world.prepare(&[("a.yaml", Some(b"2"))]).await.unwrap();
    let access = world.access();
    let wanted = [push(&first, "promotion", None), push(&second, "promotion", None)];
    let answers = join_all(wanted.iter().map(|push| world.repos.push(&access, push))).await;
    assert!(matches!(answers[0], Ok(Pushed::Now)), "{answers:?}");
    assert!(matches!(&answers[1], Err(RepoError::Moved { now, .. }) if *now == first), "{answers:?}");
}

#[tokio::test]
async fn whoever_stops_waiting_does_not_take_the_others_with_them() {
    let world = World::new();
    let made = world.prepare(&[("a.yaml", Some(b"1"))]).await.unwrap();
    let access = world.access();
    let (leader, other) = (push(&made, "one", None), push(&made, "two", None));
    let leading = tokio::time::timeout(std::time::Duration::from_millis(12), world.repos.push(&access, &leader));
    let (_, answer) = tokio::join!(leading, world.repos.push(&access, &other));
    answer.unwrap();
    assert_eq!(world.head("two"), Some(made));
}

/// All futures at once, answers in order.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, answer) in &mut waiting {
            if answer.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *answer = Some(ready);
            }
        }
        if waiting.iter().all(|(_, answer)| answer.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    waiting.into_iter().filter_map(|(_, answer)| answer).collect()
}

#[tokio::test]
async fn a_hundred_changes_at_once_take_one_fetch_and_a_few_pushes() {
    let world = World::new();
    count_pushes(&world);
    let (access, parent) = (world.access(), world.main());
    let one = async |number: usize| {
        let content = format!("version: {number}\n");
        let path = format!("apps/{number}.yaml");
        let change = crate::world::change(&parent, &[(&path, Some(content.as_bytes()))]);
        let commit = world.repos.prepare(&access, &change).await.unwrap();
        world.push(&commit, &format!("promotion-{number}"), None).await.unwrap();
        assert_eq!(world.head(&format!("promotion-{number}")), Some(commit));
    };
    futures_util::future::join_all((0..100).map(one)).await;
    assert!((1..=5).contains(&pushes(&world)), "{} pushes", pushes(&world));
}

#[tokio::test]
async fn a_change_that_cannot_be_made_does_not_take_others_with_it() {
    let world = World::new();
    world.repos.files(&world.access(), &world.main(), &crate::world::query(None, &[])).await.unwrap();
    let good = world.prepare(&[("a.yaml", Some(b"1"))]);
    let bad = world.prepare(&[("apps", Some(b"1"))]);
    let other = world.prepare(&[("b.yaml", Some(b"1"))]);
    let (good, bad, other) = futures_util::future::join3(good, bad, other).await;
    assert!(good.is_ok() && other.is_ok());
    assert!(matches!(bad, Err(RepoError::NotAFile { .. })), "{bad:?}");
}
