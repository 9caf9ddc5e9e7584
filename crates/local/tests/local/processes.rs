//! Other processes, and the end of this one.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use tempfile::TempDir;
use weir_local::LocalStore;
use weir_ports::{RecordVersion, Store};
use weir_testkit::records::{said, said_key};

/// Where the test binary finds its data folder when it runs as another process.
const FOLDER: &str = "WEIR_TEST_FOLDER";

/// Runs one of the tests that play another process.
fn process(test: &str, folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn folder() -> std::path::PathBuf {
    std::env::var_os(FOLDER).unwrap().into()
}

fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{words}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "plays another process"]
fn hold_the_folder() {
    let _store = LocalStore::open(&folder()).unwrap();
    say("opened");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
#[ignore = "plays another process"]
async fn write_for_ever() {
    let store = Arc::new(LocalStore::open(&folder()).unwrap());
    let writers = (0..8).map(|writer| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for number in 0.. {
                let name = format!("default/w{writer}-{number}");
                let version = store.create(said(&name, true)).await.unwrap();
                say(&format!("kept {name} {}", version.0));
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

#[test]
fn a_second_process_is_told_who_holds_the_folder() {
    let data = TempDir::new().unwrap();
    let mut other = process("processes::hold_the_folder", data.path());
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("opened")));
    let told = LocalStore::open(data.path()).err().unwrap().to_string();
    let who = format!("is in use by process {}, since 20", other.id());
    assert!(told.contains(&who) && told.ends_with("give each process a folder of its own"), "{told}");
    other.kill().unwrap();
    other.wait().unwrap();
    LocalStore::open(data.path()).unwrap();
}

#[test]
fn a_second_store_in_the_same_process_is_refused_too() {
    let data = TempDir::new().unwrap();
    let first = LocalStore::open(data.path()).unwrap();
    let told = LocalStore::open(data.path()).err().unwrap().to_string();
    assert!(told.contains(&format!("is in use by process {}", std::process::id())), "{told}");
    drop(first);
    LocalStore::open(data.path()).unwrap();
}

#[tokio::test]
async fn what_was_accepted_survives_kill_9() {
    let data = TempDir::new().unwrap();
    let mut other = process("processes::write_for_ever", data.path());
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines().map(Result::unwrap);
    let acknowledged = |line: String| {
        let words: Vec<_> = line.split_whitespace().skip_while(|word| *word != "kept").map(str::to_owned).collect();
        Some((words.get(1)?.clone(), RecordVersion(words.get(2)?.parse().ok()?)))
    };
    let mut kept: Vec<_> = lines.by_ref().filter_map(acknowledged).take(500).collect();
    other.kill().unwrap();
    other.wait().unwrap();
    // The last line may be cut: it is not acknowledged then.
    kept.extend(lines.filter_map(acknowledged));
    assert!(kept.len() >= 500);
    let store = LocalStore::open(data.path()).unwrap();
    for (name, version) in kept {
        let found = store.get(&said_key(&name)).await.unwrap().unwrap();
        assert_eq!((found.record, found.version), (said(&name, true), version));
    }
}

#[tokio::test]
async fn what_was_accepted_is_written_when_the_store_is_dropped() {
    let data = TempDir::new().unwrap();
    let store = LocalStore::open(data.path()).unwrap();
    let accepted = store.create(said("default/a", true));
    // Polled once, so it is on its way; nobody waits for the answer.
    tokio::select! { biased; _ = accepted => {} () = std::future::ready(()) => {} }
    drop(store);
    let store = LocalStore::open(data.path()).unwrap();
    assert!(store.get(&said_key("default/a")).await.unwrap().is_some());
}
