//! A whole server on Kubernetes, with real API servers and a real forge: how fast, how much, and how little.
//!
//! `cargo bench -p weir --bench fleet -- request memory` runs some parts; without names, all of them. Everything shares the
//! cores of one machine. What Flux would write is written here: it is Weir that is measured.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up shall stop")]
#![expect(clippy::print_stdout, reason = "what was measured is the output")]

mod ground;
#[path = "../common/measure.rs"]
mod measure;

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use weir_testkit::servers::{Gitea, Leaf};

use crate::{
    ground::{Ground, pipeline, release},
    measure::{load, median, ms, row},
};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it is there.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let chosen = |name: &str| arguments.iter().all(|it| it.starts_with('-')) || arguments.iter().any(|it| it == name);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for name in ["request", "memory", "idle"].into_iter().filter(|name| chosen(name)) {
            println!("\n{name} (load average {})", load());
            match name {
                "request" => request().await,
                "memory" => memory().await,
                _ => idle().await,
            }
        }
    });
}

/// From a HelmRelease that is ready on a leaf to the open pull request, against a bare push of an equal commit and the bare
/// call that opens a pull request, in turns.
async fn request() {
    const ROUNDS: usize = 20;
    let gitea = Gitea::start().await;
    let bot = gitea.create_user("weir").await;
    gitea.create_repository(&bot.name, "config").await;
    let files: Vec<_> =
        (0..=2 * ROUNDS).map(|number| (format!("apps/{number}.yaml"), marked(number, "1.0.0"))).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    gitea.commit("weir/config", "main", "All applications", &files).await;
    let url = gitea.repository_url(&bot.name, "config");
    let leaf = Leaf::builder("dev").controllers(&[]).start().await;
    let ground = Ground::new(&[("dev", leaf.cluster())], &[("promotion-credentials", &bot.token)]).await;
    for number in 0..=2 * ROUNDS {
        let targets = [("dev", "dev", "apps"), ("prod", "nowhere", "apps")];
        ground.define(&pipeline(number, &targets, Some(&url))).await;
        ground.deploy(leaf.cluster(), "apps", &release(&format!("app-{number}"), "1.0.0")).await;
    }
    let server = ground.serve();
    // The first shows that everything is known, and fills the cache.
    ground.deploy(leaf.cluster(), "apps", &release("app-0", "1.1.0")).await;
    opened(&gitea, &ours(0)).await;
    let (mut requests, mut bare) = (Vec::new(), Vec::new());
    let clone = ground.folder().join("clone");
    let from = gitea.clone_url(&bot, &bot.name, "config");
    git(&["clone", "--quiet", &from, &clone.display().to_string()]);
    for round in 1..=ROUNDS {
        ground.deploy(leaf.cluster(), "apps", &release(&format!("app-{round}"), "1.1.0")).await;
        let begun = Instant::now();
        opened(&gitea, &ours(round)).await;
        requests.push(begun.elapsed());
        bare.push(by_hand(&gitea, &clone, ROUNDS + round).await);
        // What follows on a pull request shall not be counted to the next.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    drop(server);
    let (request, bare) = (median(&mut requests), median(&mut bare));
    row("HelmRelease ready to open pull request, median", ms(request));
    row("bare git push and create call, median", ms(bare));
    row("more than that", ms(request.saturating_sub(bare)));
}

fn marked(number: usize, version: &str) -> String {
    format!("version: {version} # {{\"$promotion\": \"default:app-{number}:prod\"}}\n")
}

/// The branch of an application's pull request.
fn ours(number: usize) -> String {
    format!("promotion-default-app-{number}-prod")
}

/// Waits until there is a pull request from a branch. The question for one is cheap: it shall not be what is measured.
async fn opened(gitea: &Gitea, branch: &str) {
    let deadline = Instant::now() + Duration::from_mins(1);
    let path = format!("/repos/weir/config/pulls/main/{branch}");
    while !gitea.api().send(Method::GET, &path, None).await.status.is_success() {
        assert!(Instant::now() < deadline, "never: a pull request from {branch}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What Weir does, by hand: a commit that is ready is pushed, and a pull request opened. Seen by the same who sees Weir's.
async fn by_hand(gitea: &Gitea, clone: &std::path::Path, number: usize) -> Duration {
    let (branch, folder) = (format!("by-hand-{number}"), clone.display().to_string());
    git(&["-C", &folder, "checkout", "--quiet", "-B", &branch, "origin/main"]);
    fs::write(clone.join(format!("apps/{number}.yaml")), marked(number, "1.1.0")).unwrap();
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    git(&[&["-C", &folder], &who[..], &["commit", "--quiet", "-am", "By hand"]].concat());
    let begun = Instant::now();
    let make = async {
        let push = ["-C", &folder, "push", "--quiet", "--no-progress", "origin", &branch].map(str::to_owned);
        tokio::task::spawn_blocking(move || git(&push.each_ref().map(String::as_str))).await.unwrap();
        let body = json!({ "head": branch, "base": "main", "title": branch, "body": "By hand" });
        gitea.api().post_json("/repos/weir/config/pulls", &body).await;
    };
    tokio::join!(make, opened(gitea, &branch));
    begun.elapsed()
}

fn git(arguments: &[&str]) {
    let done = Command::new("git").args(arguments).stderr(std::process::Stdio::null()).status().unwrap();
    assert!(done.success(), "git {arguments:?}");
}

/// A thousand pipelines through five clusters, each with a thousand `HelmReleases`.
async fn memory() {
    const COUNT: usize = 1000;
    const CLUSTERS: [&str; 5] = ["one", "two", "three", "four", "five"];
    let mut leaves = Vec::new();
    for name in CLUSTERS {
        leaves.push(Leaf::builder(name).controllers(&[]).start().await);
    }
    let known: Vec<_> = CLUSTERS.into_iter().zip(leaves.iter().map(Leaf::cluster)).collect();
    let ground = Ground::new(&known, &[]).await;
    for leaf in &leaves {
        ground.deploy_many(leaf.cluster(), COUNT).await;
    }
    ground
        .define_many(COUNT, |number| {
            let namespace = Ground::namespace(number);
            let targets = CLUSTERS.map(|cluster| (cluster, cluster, namespace.as_str()));
            pipeline(number, &targets, None)
        })
        .await;
    let server = ground.serve();
    ground.until_status(COUNT, "five 1.0.0").await;
    row("resident, in MB, with 1,000 pipelines and 5 x 1,000 HelmReleases", server.memory());
}

/// Five thousand pipelines in which nothing happens.
async fn idle() {
    const COUNT: usize = 5000;
    let minutes: u32 = std::env::var("WEIR_BENCH_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let leaf = Leaf::builder("dev").controllers(&[]).start().await;
    let ground = Ground::new(&[("dev", leaf.cluster())], &[]).await;
    ground.deploy_many(leaf.cluster(), COUNT).await;
    ground
        .define_many(COUNT, |number| {
            let namespace = Ground::namespace(number);
            pipeline(number, &[("dev", "dev", &namespace), ("prod", "nowhere", &namespace)], None)
        })
        .await;
    let server = ground.serve();
    ground.until_status(COUNT, "dev 1.0.0").await;
    ground.until_quiet().await;
    let (before, cpu) = (ground.writes().await, server.cpu());
    tokio::time::sleep(Duration::from_mins(minutes.into())).await;
    let (after, used) = (ground.writes().await, server.cpu().saturating_sub(cpu));
    let mut told = Vec::new();
    for (what, count) in after {
        let new = count - before.get(&what).copied().unwrap_or_default();
        if new > 0.0 {
            told.push(format!("{what}: {new}"));
        }
    }
    row(&format!("writes to the API server in {minutes} min"), told.join(", "));
    let share = used.as_secs_f64() / (f64::from(minutes) * 60.0) * 100.0;
    row("share of a core", format!("{share:.2} %"));
    row("resident, in MB", server.memory());
}

/// Part of an object.
pub(crate) fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
