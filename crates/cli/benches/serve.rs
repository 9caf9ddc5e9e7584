//! A whole server, in a process of its own, with real repositories on a real disk: how fast, how much, and how little.
//!
//! `cargo bench -p weir --bench serve -- proposal together` runs some parts; without names, all of them. Client and server
//! share the cores of one machine, so what the client takes is missing to the server.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up shall stop")]
#![expect(clippy::print_stdout, reason = "what was measured is the output")]

use std::{
    fmt::{Display, Write as _},
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Barrier,
    thread,
    time::{Duration, Instant, SystemTime},
};

use aws_lc_rs::hmac;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

const KEY: &str = "a key that nobody guesses";

/// The repository: so many files of 2 kB, and markers in one of so many of them.
const FILES: usize = 2_000;
const MARKED: usize = 100;

/// The parts, by the names that choose them.
const PARTS: [(&str, fn()); 6] = [
    ("proposal", proposal),
    ("together", together),
    ("accepts", accepts),
    ("memory", memory),
    ("idle", idle),
    ("restart", restart),
];

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it is there.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let chosen = |name: &str| arguments.iter().all(|it| it.starts_with('-')) || arguments.iter().any(|it| it == name);
    for (name, run) in PARTS.into_iter().filter(|(name, _)| chosen(name)) {
        println!("\n{name} (load average {})", load());
        run();
    }
}

/// From an event to the open proposal, against the bare push of an equal commit, in turns.
fn proposal() {
    const ROUNDS: usize = 30;
    let site = Site::new();
    site.repository();
    site.pipelines(100, "", "");
    let server = site.start();
    let mut client = server.connect();
    let mut promote = |number| {
        let begun = Instant::now();
        let answer = client.report(number, &event(number, 1), "Prefer: wait=30\r\n");
        assert_eq!(answer.0, 201, "{}", answer.1);
        begun.elapsed()
    };
    let first = promote(0);
    let (mut proposals, mut pushes, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    git(&site.path(""), &["clone", "--quiet", "--bare", "config.git", "clone.git"], "");
    for number in 1..=ROUNDS {
        proposals.push(promote(number));
        pushes.push(site.bare_push(number));
    }
    for number in ROUNDS + 1..=2 * ROUNDS {
        site.commit("config.git", "main", number);
        moved.push(promote(number));
    }
    let (proposal, push, moved) = (median(&mut proposals), median(&mut pushes), median(&mut moved));
    row("the first, with an empty cache", ms(first));
    row("event to open proposal, median", ms(proposal));
    row("bare git push, median", ms(push));
    row("more than the bare push", ms(proposal.saturating_sub(push)));
    row("event to open proposal, base branch moved before, median", ms(moved));
}

/// A hundred applications of one repository at once, into an empty cache.
fn together() {
    const COUNT: usize = 100;
    let site = Site::new();
    site.repository();
    site.pipelines(COUNT, "", "");
    site.count_calls();
    let server = site.start();
    let barrier = Barrier::new(COUNT + 1);
    let took = thread::scope(|scope| {
        for number in 0..COUNT {
            let (barrier, mut client, body) = (&barrier, server.connect(), event(number, 1));
            scope.spawn(move || {
                barrier.wait();
                let answer = client.report(number, &body, "");
                assert_eq!(answer.0, 202, "{}", answer.1);
            });
        }
        barrier.wait();
        Instant::now()
    });
    // Only so many may wait for an outcome at the same time; the log tells of all.
    until("all proposals are open", || {
        fs::read_to_string(site.path("log")).unwrap().matches("proposal opened").count() == COUNT
    });
    row("until all proposals are open", ms(took.elapsed()));
    let calls = fs::read_to_string(site.path("calls")).unwrap();
    let count = |verb: &str| calls.lines().filter(|line| line.split(' ').any(|word| word == verb)).count();
    row("fetches", count("fetch"));
    row("pushes that the repository saw", fs::read_to_string(site.path("pushes")).unwrap_or_default().lines().count());
    row("looks", count("ls-remote"));
    row("calls of git", calls.lines().count());
}

/// Durable accepts: once with nothing to decide, once with a promotion for each that waits for an approval.
fn accepts() {
    for (what, spec, gates) in [("suspended", "  suspend: true\n", ""), ("held by an approval", "", APPROVAL)] {
        let site = Site::new();
        site.repository();
        site.pipelines(1_000, spec, gates);
        let server = site.start();
        let mut taken = flood(&server, 1_000, 64, Duration::from_secs(10));
        taken.times.sort_unstable();
        row(&format!("{what}: accepts a second"), taken.times.len() / 10);
        row(&format!("{what}: p50"), ms(taken.times[taken.times.len() / 2]));
        row(&format!("{what}: p99"), ms(taken.times[taken.times.len() * 99 / 100]));
        let share = |time: Duration| format!("{:.2}", time.as_secs_f64() / 10.0);
        row(&format!("{what}: cores of the server"), share(taken.server));
        row(&format!("{what}: cores of the client"), share(taken.client));
    }
}

struct Taken {
    times: Vec<Duration>,
    server: Duration,
    client: Duration,
}

/// Posts new versions over kept-open connections, each with pipelines of its own, one event after the other.
fn flood(server: &Running, pipelines: usize, connections: usize, time: Duration) -> Taken {
    let barrier = Barrier::new(connections + 1);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..connections)
            .map(|first| {
                let (barrier, mut client) = (&barrier, server.connect());
                scope.spawn(move || {
                    let mut times = Vec::new();
                    barrier.wait();
                    let end = Instant::now() + time;
                    for version in 1.. {
                        for number in (first..pipelines).step_by(connections) {
                            let body = event(number, version);
                            let begun = Instant::now();
                            if begun >= end {
                                return times;
                            }
                            let answer = client.report(number, &body, "");
                            assert_eq!(answer.0, 202, "{}", answer.1);
                            times.push(begun.elapsed());
                        }
                    }
                    times
                })
            })
            .collect();
        barrier.wait();
        let before = (server.cpu(), cpu(std::process::id()));
        thread::sleep(time);
        let after = (server.cpu(), cpu(std::process::id()));
        let times = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        Taken { times, server: after.0.saturating_sub(before.0), client: after.1.saturating_sub(before.1) }
    })
}

fn memory() {
    let site = Site::new();
    site.repository();
    site.pipelines(1_000, "", APPROVAL);
    let server = site.start();
    row("1,000 pipelines, before the first event, MB", server.memory());
    server.one_each(1_000);
    site.rest();
    row("1,000 pipelines, one event each, MB", server.memory());
}

const MANY: usize = 5_000;

fn idle() {
    let site = Site::new();
    site.repository();
    site.pipelines(MANY, "", APPROVAL);
    let server = site.start();
    server.one_each(MANY);
    site.rest();
    let (before, stamps) = (server.cpu(), site.stamps());
    thread::sleep(Duration::from_mins(1));
    let used = server.cpu().saturating_sub(before).as_secs_f64() / 60.0;
    row("5,000 idle pipelines: share of a core over 60 s", format!("{:.2} %", used * 100.0));
    row("5,000 idle pipelines: files of the store written to", if site.stamps() == stamps { "no" } else { "yes" });
    row("5,000 idle pipelines: MB", server.memory());
}

fn restart() {
    let site = Site::new();
    site.repository();
    site.pipelines(MANY + 1, "", APPROVAL);
    let server = site.start();
    server.one_each(MANY);
    site.rest();
    server.stop();
    let begun = Instant::now();
    let server = site.start();
    let ready = begun.elapsed();
    let mut client = server.connect();
    let answer = client.report(MANY, &event(MANY, 1), "");
    assert_eq!(answer.0, 202, "{}", answer.1);
    let place = format!("/api/v1/pipelines/default/app-{MANY}/environments/prod");
    until("the decision", || {
        let (_, body) = client.request("GET", &place, "", "");
        let found: Value = serde_json::from_str(&body).unwrap_or_default();
        found.pointer("/promotion/phase").is_some()
    });
    row("from the start of the process to ready", ms(ready));
    row("from the start of the process to the first decision", ms(begun.elapsed()));
}

/// The gate that holds everything.
const APPROVAL: &str = "      gates: [{approval: {count: 2}}]\n";

/// Everything that outlives a server: its folders and the repository.
struct Site {
    folder: TempDir,
}

impl Site {
    /// On the disk of the target folder: the folder for temporary files may be in memory.
    fn new() -> Self {
        let site = Self { folder: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        fs::create_dir_all(site.path("manifests")).unwrap();
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: events, namespace: default}}\nstringData: {{hmac-key: {KEY}}}\n"
        );
        fs::write(site.path("manifests/secret.yaml"), secret).unwrap();
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Pipelines from dev to prod, each in a file of its own.
    fn pipelines(&self, count: usize, spec: &str, gates: &str) {
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
    fn repository(&self) {
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
    fn commit(&self, repository: &str, branch: &str, number: usize) {
        let content = content(number, number);
        let (path, length) = (path(number), content.len());
        let import = format!(
            "commit refs/heads/{branch}\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n\
             from refs/heads/main^0\nM 100644 inline {path}\ndata {length}\n{content}\n"
        );
        git(&self.path(repository), &["fast-import", "--quiet"], &import);
    }

    /// A new branch with one changed file, pushed from a clone.
    fn bare_push(&self, number: usize) -> Duration {
        let branch = format!("bench-{number}");
        self.commit("clone.git", &branch, number);
        let url = format!("file://{}", self.path("config.git").display());
        let begun = Instant::now();
        git(&self.path("clone.git"), &["push", "--quiet", &url, &branch], "");
        begun.elapsed()
    }

    /// Lets every call of git by the server, and every push to the repository, leave a line.
    fn count_calls(&self) {
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
    fn start(&self) -> Running {
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
    fn rest(&self) {
        let quiet = || {
            let before = self.stamps();
            thread::sleep(Duration::from_secs(3));
            self.stamps() == before
        };
        until("nothing is written any more", quiet);
    }

    /// When the files of the store were last written to, and how long they are.
    fn stamps(&self) -> Vec<(SystemTime, u64)> {
        let stamp = |name| fs::metadata(self.path(name)).map(|it| (it.modified().unwrap(), it.len()));
        ["data/weir.db", "data/weir.db-wal"].into_iter().filter_map(|name| stamp(name).ok()).collect()
    }
}

fn path(number: usize) -> String {
    format!("apps/{}/{number}.yaml", number % 50)
}

/// 2 kB; in one file of a hundred, the places of five applications.
fn content(number: usize, change: usize) -> String {
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
struct Running {
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
    fn stop(mut self) {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream: BufReader::new(stream), host: self.address.clone() }
    }

    /// One event for each pipeline, and everything decided that follows.
    fn one_each(&self, pipelines: usize) {
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
    fn memory(&self) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let of = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
        };
        format!("{:.1} (at most {:.1})", of("VmRSS"), of("VmHWM"))
    }

    fn cpu(&self) -> Duration {
        cpu(self.child.id())
    }
}

/// The processor time of a process, and of those it started and waited for.
fn cpu(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(4).map(|number| number.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// A connection that stays open.
struct Client {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Client {
    /// Reports a deployment, signed as Flux signs it.
    fn report(&mut self, number: usize, body: &(String, String), headers: &str) -> (u16, String) {
        let (body, signature) = body;
        let path = format!("/promotion/default/app-{number}/dev");
        self.request("POST", &path, &format!("X-Signature: {signature}\r\n{headers}"), body)
    }

    fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut code, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server hung up");
            let text = line.trim_end();
            if text.is_empty() {
                break;
            } else if code == 0 {
                code = text.split(' ').nth(1).unwrap().parse().unwrap();
            } else if let Some((name, value)) = text.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (code, String::from_utf8(body).unwrap())
    }
}

/// The event that a version was deployed, and its signature.
fn event(number: usize, version: u32) -> (String, String) {
    let app = format!("app-{number}");
    let object = json!({
        "kind": "HelmRelease", "namespace": "dev", "name": app, "apiVersion": "helm.toolkit.fluxcd.io/v2",
    });
    let body = json!({
        "involvedObject": object, "severity": "info", "timestamp": Timestamp::now().to_string(),
        "message": "said Helm", "reason": "UpgradeSucceeded", "reportingController": "helm-controller",
        "metadata": { "helm.toolkit.fluxcd.io/revision": format!("2.0.{version}") },
    })
    .to_string();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, KEY.as_bytes()), body.as_bytes());
    let mut signature = "sha256=".to_owned();
    for byte in tag.as_ref() {
        write!(signature, "{byte:02x}").unwrap();
    }
    (body, signature)
}

fn git(folder: &Path, arguments: &[&str], input: &str) {
    let mut child = Command::new("git").args(arguments).current_dir(folder).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "git {arguments:?}");
}

/// Waits for a condition, but not forever.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}

fn row(what: &str, value: impl Display) {
    println!("  {what:<60} {value}");
}
