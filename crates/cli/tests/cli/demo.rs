//! The demonstration, from its first start to the last environment, and once more.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use assert_cmd::cargo::cargo_bin;

use crate::server::until;

struct Demo {
    child: Child,
    server: String,
}

/// A test that fails leaves nothing running.
impl Drop for Demo {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

impl Demo {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(cargo_bin("weir"))
            .args(["demo", "--listen", "127.0.0.1:0", "--folder"])
            .arg(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let server = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, rest)) = line.split_once("Weir runs at ") {
                break rest.split(". ").next().unwrap().to_owned();
            }
        };
        // Whatever else it says has to go somewhere.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { child, server }
    }

    fn weir(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(cargo_bin("weir"));
        let output = command.args(arguments).env("WEIR_SERVER", &self.server).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    fn runs(&self, environment: &str, version: &str) -> bool {
        let found = self.weir(&["get", "versions", "--environment", environment, "--version", version]);
        found.contains(version) && !found.contains("false")
    }

    /// Ctrl-C.
    fn stop(mut self) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn the_demo_does_what_it_says_and_carries_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("demo");
    let release = |arguments: &[&str]| {
        let mut command = Command::new(cargo_bin("weir"));
        let done = command.args(["demo", "release"]).args(arguments).arg("--folder").arg(&folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let demo = Demo::start(&folder);
    until("everything runs 6.0.0", || ["dev", "qa", "prod"].iter().all(|name| demo.runs(name, "6.0.0")));
    release(&["6.1.0"]);
    until("6.1.0 waits before prod", || demo.weir(&["get", "pipelines"]).contains("AwaitingApproval"));
    demo.stop();
    let demo = Demo::start(&folder);
    until("the server is back", || demo.weir(&["get", "pipelines"]).contains("AwaitingApproval"));
    let told = demo.weir(&["approve", "podinfo", "prod", "--dry-run"]);
    assert!(told.starts_with("Nothing is done.") && told.contains("› Weir merges the proposal of 6.1.0"), "{told}");
    let told = demo.weir(&["promote", "podinfo", "prod", "6.0.0", "--dry-run"]);
    for words in ["· prod runs 6.0.0 already", "· 6.1.0, which is on its way, gives way to it"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(demo.weir(&["get", "pipelines"]).contains("AwaitingApproval"), "nothing was done");
    let told = demo.weir(&["approve", "podinfo", "prod", "--watch"]);
    assert!(told.contains("6.1.0: Succeeded"), "{told}");
    release(&["6.2.0", "--broken"]);
    until("6.2.0 fails in qa", || demo.weir(&["explain", "podinfo", "prod"]).contains("NotHealthyYet"));
    assert!(demo.runs("prod", "6.1.0"));
    demo.stop();
}
