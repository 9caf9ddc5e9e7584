//! Where a server runs: its folders, its repository, and the process itself.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    client::{Client, KEY, event},
    measure,
};

/// The repository: so many files of 2 kB, and markers in one of so many of them.
pub(crate) const FILES: usize = 2_000;
pub(crate) const MARKED: usize = 100;

/// The gate that holds everything.
pub(crate) const APPROVAL: &str = "      gates: [{approval: {count: 2}}]\n";

/// Everything that outlives a server: its folders and the repository.
pub(crate) struct Site {
    folder: TempDir,
}

impl Site {
    /// On the disk of the target folder: the folder for temporary files may be in memory.
    pub(crate) fn new() -> Self {
        let site = Self { folder: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        fs::create_dir_all(site.path("manifests")).unwrap();
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: events, namespace: default}}\nstringData: {{hmac-key: {KEY}}}\n"
        );
        fs::write(site.path("manifests/secret.yaml"), secret).unwrap();
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Pipelines from dev to prod, each in a file of its own.
    pub(crate) fn pipelines(&self, count: usize, spec: &str, gates: &str) {
        let url = self.path("config.git");
        for number in 0..count {
            let pipeline = format!(
                "apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {{name: app-{number}, namespace: default}}
spec:
{spec}  appRef: {{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: app-{number}}}
  promotion:
    strategy:
      pull-request: {{type: git, url: 'file://{}', baseBranch: main}}
      secretRef: {{name: events}}
  environments:
    - {{name: dev, targets: [{{namespace: dev}}]}}
    - name: prod
      targets: [{{namespace: prod}}]
{gates}",
                url.display()
            );
            fs::write(self.path(&format!("manifests/app-{number}.yaml")), pipeline).unwrap();
        }
    }

    /// A repository with a place for each of a hundred applications.
    pub(crate) fn repository(&self) {
        let mut import = "commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n".to_owned();
        for number in 0..FILES {
            let content = content(number, 0);
            let (path, length) = (path(number), content.len());
            write!(import, "M 100644 inline {path}\ndata {length}\n{content}\n").unwrap();
        }
        git(&self.path(""), &["init", "--quiet", "--bare", "--initial-branch=main", "config.git"], "");
        git(&self.path("config.git"), &["fast-import", "--quiet"], &import);
    }

    /// One changed file on top of the base branch.
    pub(crate) fn commit(&self, repository: &str, branch: &str, number: usize) {
        let content = content(number, number);
        let (path, length) = (path(number), content.len());
        let import = format!(
            "commit refs/heads/{branch}\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n\
             from refs/heads/main^0\nM 100644 inline {path}\ndata {length}\n{content}\n"
        );
        git(&self.path(repository), &["fast-import", "--quiet"], &import);
    }

    /// A new branch with one changed file, pushed from a clone.
    pub(crate) fn bare_push(&self, number: usize) -> Duration {
        let branch = format!("bench-{number}");
        self.commit("clone.git", &branch, number);
        let url = format!("file://{}", self.path("config.git").display());
        let begun = Instant::now();
        git(&self.path("clone.git"), &["push", "--quiet", &url, &branch], "");
        begun.elapsed()
    }

    /// Lets every call of git by the server, and every push to the repository, leave a line.
    pub(crate) fn count_calls(&self) {
        let program = |path: &str, text: String| {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
            fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
        };
        let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join("git"))
            .find(|path| path.is_file())
            .unwrap();
        let (calls, pushes) = (self.path("calls"), self.path("pushes"));
        let noted = format!("#!/bin/sh\necho \"$*\" >>'{}'\nexec '{}' \"$@\"\n", calls.display(), real.display());
        program("bin/git", noted);
        program("config.git/hooks/post-receive", format!("#!/bin/sh\necho push >>'{}'\n", pushes.display()));
    }

    /// Starts the server, and waits until it is ready.
    pub(crate) fn start(&self) -> Running {
        let log = self.path("log");
        let path = std::env::var_os("PATH").unwrap();
        let paths = std::iter::once(self.path("bin")).chain(std::env::split_paths(&path));
        let child = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--manifests"])
            .arg(self.path("manifests"))
            .arg("--data")
            .arg(self.path("data"))
            .env("PATH", std::env::join_paths(paths).unwrap())
            .stdin(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut address = None;
        until("it listens", || {
            let text = fs::read_to_string(&log).unwrap();
            let mut said = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            address = said.find_map(|it| it.pointer("/fields/address")?.as_str().map(str::to_owned));
            address.is_some()
        });
        let server = Running { child, address: address.unwrap() };
        let mut client = server.connect();
        until("it is ready", || client.request("GET", "/readyz", "", "").0 == 200);
        server
    }

    /// Waits until nothing was written for a while: everything that follows from the events is done.
    pub(crate) fn rest(&self) {
        let quiet = || {
            let before = self.stamps();
            thread::sleep(Duration::from_secs(3));
            self.stamps() == before
        };
        until("nothing is written any more", quiet);
    }

    /// When the files of the store were last written to, and how long they are.
    pub(crate) fn stamps(&self) -> Vec<(SystemTime, u64)> {
        let stamp = |name| fs::metadata(self.path(name)).map(|it| (it.modified().unwrap(), it.len()));
        ["data/weir.db", "data/weir.db-wal"].into_iter().filter_map(|name| stamp(name).ok()).collect()
    }
}

pub(crate) fn path(number: usize) -> String {
    format!("apps/{}/{number}.yaml", number % 50)
}

/// 2 kB; in one file of a hundred, the places of five applications.
pub(crate) fn content(number: usize, change: usize) -> String {
    let mut text = String::new();
    if number.is_multiple_of(MARKED) {
        for place in 0..5 {
            let app = number / MARKED * 5 + place;
            writeln!(text, "version{place}: 1.0.0 # {{\"$promotion\": \"default:app-{app}:prod\"}}").unwrap();
        }
    }
    writeln!(text, "replicas: {change}").unwrap();
    while text.len() < 2_000 {
        writeln!(text, "name{}: what it is for", text.len()).unwrap();
    }
    text
}

/// A server that runs.
pub(crate) struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.address)
    }

    /// One event for each pipeline, and everything decided that follows.
    pub(crate) fn one_each(&self, pipelines: usize) {
        thread::scope(|scope| {
            for first in 0..32 {
                let mut client = self.connect();
                scope.spawn(move || {
                    for number in (first..pipelines).step_by(32) {
                        let answer = client.report(number, &event(number, 1), "");
                        assert_eq!(answer.0, 202, "{}", answer.1);
                    }
                });
            }
        });
        let last = format!("/api/v1/pipelines/default/app-{}/environments/prod", pipelines - 1);
        let mut client = self.connect();
        until("everything is decided", || client.request("GET", &last, "", "").1.contains("\"promotion\""));
    }

    /// Resident memory, in MB.
    pub(crate) fn memory(&self) -> String {
        measure::memory(self.child.id())
    }

    pub(crate) fn cpu(&self) -> Duration {
        measure::cpu(self.child.id())
    }
}

pub(crate) fn git(folder: &Path, arguments: &[&str], input: &str) {
    let mut child = Command::new("git").args(arguments).current_dir(folder).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "git {arguments:?}");
}

/// Waits for a condition, but not forever.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}
