//! What is left of a test process that was killed: nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use weir_testkit::servers::{Controller, Leaf, eventually, room, shared};

/// Set for the process that is to be killed.
const VICTIM: &str = "WEIR_TESTKIT_VICTIM";

/// Plays a test process that holds a cluster, Flux and a forge, until it is killed.
#[tokio::test]
#[ignore = "the test below runs it, as a process of its own"]
#[expect(clippy::print_stdout, reason = "the other process reads it")]
async fn holds_servers_until_it_is_killed() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let _leaf = Leaf::builder("victim").controllers(&[Controller::Source]).start().await;
    shared::gitea().await;
    println!("\nroom={}", room().display());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn no_server_outlives_a_test_process_that_is_killed() {
    let mut victim = start();
    let room = room_of(&mut victim);
    let servers: Vec<String> = fs::read_dir(room.join("processes"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(servers.len(), 4, "etcd, kube-apiserver, source-controller, gitea");
    assert!(servers.iter().all(|server| runs(server)));

    victim.kill().unwrap();
    victim.wait().unwrap();
    eventually("the servers and their folder are gone", async || {
        let left: Vec<_> = servers.iter().filter(|server| runs(server)).collect();
        if left.is_empty() && !room.exists() { Ok(()) } else { Err(format!("{left:?}, {}", room.display())) }
    })
    .await;
}

fn start() -> Child {
    let name = "remains::holds_servers_until_it_is_killed";
    Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--ignored", "--nocapture"])
        .env(VICTIM, "1")
        .env_remove("WEIR_TESTBED_KEEP")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn room_of(victim: &mut Child) -> PathBuf {
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let mut rooms =
        lines.map_while(Result::ok).filter_map(|line| Some(Path::new(line.strip_prefix("room=")?).to_owned()));
    rooms.next().expect("it says where it is before it ends")
}

/// Whether the process is there and not merely waiting to be reaped.
fn runs(id: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}
