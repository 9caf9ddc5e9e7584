//! One promotion into a repository of 2,000 files, against the bare `git push` of the same commit.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up shall stop")]

use std::{
    cell::Cell,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use divan::Bencher;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use weir_core::{BranchName, CommitId, RepoUrl};
use weir_git::{GitRepos, Settings};
use weir_ports::{Change, ConfigRepos, FileChange, FilePath, FileQuery, Push, RepoAccess, Signature};

const FILES: usize = 2_000;

fn main() {
    divan::main();
}

struct World {
    folder: TempDir,
    runtime: Runtime,
    repos: GitRepos,
    access: RepoAccess,
    base: CommitId,
    number: Cell<u32>,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let server = folder.path().join("fleet.git");
        git(&folder, &["init", "--quiet", "--bare", "--initial-branch=main", "fleet.git"], b"");
        let mut stream = b"commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n".to_vec();
        for number in 0..FILES {
            let marker = if number == 0 { " # {\"$promotion\": \"default:podinfo:prod\"}" } else { "" };
            let content = format!("version: 1.0.{number}{marker}\n{}", "# what it is for\n".repeat(100));
            let length = content.len();
            write!(stream, "M 100644 inline apps/{}/{number}.yaml\ndata {length}\n{content}\n", number % 50).unwrap();
        }
        git(&folder, &["--git-dir=fleet.git", "fast-import", "--quiet"], &stream);
        let base = CommitId::new(git(&folder, &["--git-dir=fleet.git", "rev-parse", "main"], b"").trim()).unwrap();
        let access = RepoAccess::open(RepoUrl::new(format!("file://{}", server.display())).unwrap());
        let repos = GitRepos::open(folder.path().join("cache"), Settings::default()).unwrap();
        let runtime = Runtime::new().unwrap();
        let world = Self { folder, runtime, repos, access, base, number: Cell::new(0) };
        world.find();
        world
    }

    fn find(&self) {
        let query = FileQuery { contains: Some("$promotion".into()), within: Vec::new() };
        let found = self.runtime.block_on(self.repos.files(&self.access, &self.base, &query)).unwrap();
        assert_eq!(found.len(), 1);
    }

    /// A commit that was never made before, and a branch that was never there.
    fn prepare(&self) -> Push {
        self.number.set(self.number.get() + 1);
        let content = format!("version: 2.0.{}\n", self.number.get());
        let change = Change {
            parent: self.base.clone(),
            files: [(FilePath::new("apps/0/0.yaml").unwrap(), FileChange::Write(content.into()))].into(),
            message: "promote podinfo".into(),
            author: Signature::new("Weir", "weir@example.org").unwrap(),
            at: Timestamp::UNIX_EPOCH,
        };
        let commit = self.runtime.block_on(self.repos.prepare(&self.access, &change)).unwrap();
        let branch = BranchName::new(format!("promotion-{}", self.number.get())).unwrap();
        Push { branch, commit: Some(commit), expect: None }
    }

    fn push(&self, push: &Push) {
        self.runtime.block_on(self.repos.push(&self.access, push)).unwrap();
    }

    fn cache(&self) -> PathBuf {
        let root = self.folder.path().join("cache");
        let mut entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|path| path.extension().is_some_and(|end| end == "git")).unwrap()
    }
}

fn git(folder: &TempDir, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    let command = command.args(arguments).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn the_bare_git_push_of_a_commit(bencher: Bencher<'_, '_>) {
    let world = World::new();
    let cache = format!("--git-dir={}", world.cache().display());
    bencher.with_inputs(|| world.prepare()).bench_local_values(|push| {
        let refs = format!("{}:refs/heads/{}", push.commit.unwrap(), push.branch);
        git(&world.folder, &[&cache, "push", "--quiet", world.access.url.reveal(), &refs], b"")
    });
}

/// With the moment that it waits for others.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn push(bencher: Bencher<'_, '_>) {
    let world = World::new();
    bencher.with_inputs(|| world.prepare()).bench_local_values(|push| world.push(&push));
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn prepare(bencher: Bencher<'_, '_>) {
    let world = World::new();
    bencher.bench_local(|| world.prepare());
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn find_the_marked_files(bencher: Bencher<'_, '_>) {
    let world = World::new();
    bencher.bench_local(|| world.find());
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn a_whole_promotion(bencher: Bencher<'_, '_>) {
    let world = World::new();
    bencher.bench_local(|| {
        let asked = [BranchName::new("main").unwrap()];
        world.runtime.block_on(world.repos.look(&world.access, &asked)).unwrap();
        world.find();
        world.push(&world.prepare());
    });
}
