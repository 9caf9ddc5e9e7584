//! The smallest world: a bare repository as the server, a folder for caches, and the adapter between them.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use jiff::Timestamp;
use tempfile::TempDir;
use weir_core::{BranchName, CommitId, RepoUrl};
use weir_git::{GitRepos, Settings};
use weir_ports::{
    Change, ConfigRepos, FileChange, FilePath, FileQuery, PathGlob, Push, Pushed, RepoAccess, RepoError, Signature,
};

pub(crate) const MARKER: &str = "$promotion";

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) repos: GitRepos,
}

impl World {
    /// A server with 300 small files on `main`, some of them of an unusual kind.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let world = Self::empty(settings);
        world.seed(300);
        world
    }

    /// A server whose repository has no commit.
    pub(crate) fn empty(settings: Settings) -> Self {
        let folder = TempDir::new().unwrap();
        let repos = GitRepos::open(folder.path().join("cache"), settings).unwrap();
        let world = Self { folder, repos };
        world.git(&["init", "--quiet", "--bare", "--initial-branch=main", "."]);
        world
    }

    pub(crate) fn server(&self) -> PathBuf {
        let path = self.folder.path().join("fleet.git");
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn cache(&self) -> PathBuf {
        let is_cache = |path: &PathBuf| path.extension().is_some_and(|end| end == "git");
        let root = fs::read_dir(self.folder.path().join("cache")).unwrap();
        root.map(|entry| entry.unwrap().path()).find(is_cache).unwrap()
    }

    pub(crate) fn access(&self) -> RepoAccess {
        RepoAccess::open(RepoUrl::new(format!("file://{}", self.server().display())).unwrap())
    }

    /// Runs Git on the server.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_given(arguments, b"")
    }

    pub(crate) fn git_given(&self, arguments: &[&str], input: &[u8]) -> String {
        run_git(&self.server(), arguments, input)
    }

    pub(crate) fn seed(&self, files: usize) {
        let mut stream = b"commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n".to_vec();
        let mut file = |mode: &str, path: &str, content: &[u8]| {
            write!(stream, "M {mode} inline \"{path}\"\ndata {}\n", content.len()).unwrap();
            stream.extend_from_slice(content);
            stream.push(b'\n');
        };
        for number in 0..files {
            let marker = if number % 100 == 0 { " # {\"$promotion\": \"default:podinfo:prod\"}" } else { "" };
            let content = format!("kind: HelmRelease\nversion: 1.0.{number}{marker}\n");
            file("100644", &format!("apps/team-{}/app-{number}.yaml", number % 10), content.as_bytes());
        }
        file("100755", "bin/run.sh", b"#!/bin/sh\n# $promotion\n");
        file("100644", "windows.yaml", b"version: 1\r\n# $promotion\r\n");
        file("100644", "picture.bin", b"\0\x01$promotion\xff\0\n");
        file("100644", "odd name/ä b.yaml", b"version: 1 # $promotion\n");
        file("100644", "empty.yaml", b"");
        file("120000", "link", b"$promotion");
        stream.extend_from_slice(b"\n");
        self.git_given(&["fast-import", "--quiet"], &stream);
    }

    pub(crate) fn hook(&self, name: &str, script: &str) {
        let path = self.server().join("hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_script(&path, script);
    }

    /// Somebody else commits to a branch of the server.
    pub(crate) fn somebody_commits(&self, branch: &str) -> CommitId {
        let stream = format!(
            "commit refs/heads/{branch}\ncommitter B <b@example.org> 1700000100 +0000\ndata 1\ny\n\
             from refs/heads/{branch}^0\nM 100644 inline theirs.yaml\ndata 2\n1\n\n"
        );
        self.git_given(&["fast-import", "--quiet"], stream.as_bytes());
        self.head(branch).unwrap()
    }

    pub(crate) fn head(&self, branch: &str) -> Option<CommitId> {
        let name = format!("refs/heads/{branch}");
        let found = self.git(&["for-each-ref", "--format=%(objectname)", &name]);
        CommitId::new(found.trim()).ok()
    }

    pub(crate) fn main(&self) -> CommitId {
        self.head("main").unwrap()
    }

    pub(crate) async fn prepare(&self, files: &[(&str, Option<&[u8]>)]) -> Result<CommitId, RepoError> {
        self.repos.prepare(&self.access(), &change(&self.main(), files)).await
    }

    pub(crate) async fn push(
        &self,
        commit: &CommitId,
        branch_name: &str,
        expect: Option<&CommitId>,
    ) -> Result<Pushed, RepoError> {
        self.repos.push(&self.access(), &push(commit, branch_name, expect)).await
    }

    pub(crate) async fn marked(&self) -> Result<Vec<String>, RepoError> {
        self.marked_at(&self.main()).await
    }

    pub(crate) async fn marked_at(&self, commit: &CommitId) -> Result<Vec<String>, RepoError> {
        let found = self.repos.files(&self.access(), commit, &query(Some(MARKER), &[])).await?;
        Ok(found.into_iter().map(|file| file.path.to_string()).collect())
    }
}

/// Writes a script that can be run at once. Another program writes it: a file that this process has open for writing,
/// and so any program that another test is just about to start, cannot be run.
pub(crate) fn write_script(path: &Path, script: &str) {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    write!(child.stdin.take().unwrap(), "#!/bin/sh\n{script}\n").unwrap();
    assert!(child.wait().unwrap().success());
}

pub(crate) fn run_git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

pub(crate) fn push(commit: &CommitId, branch_name: &str, expect: Option<&CommitId>) -> Push {
    Push { branch: branch(branch_name), commit: Some(commit.clone()), expect: expect.cloned() }
}

pub(crate) fn query(contains: Option<&str>, within: &[&str]) -> FileQuery {
    let within = within.iter().map(|glob| PathGlob::new(glob).unwrap()).collect();
    FileQuery { contains: contains.map(str::to_owned), within }
}

pub(crate) fn change(parent: &CommitId, files: &[(&str, Option<&[u8]>)]) -> Change {
    let file = |(path, content): &(&str, Option<&[u8]>)| {
        let change = content.map_or(FileChange::Remove, |content| FileChange::Write(content.to_vec()));
        (FilePath::new(path).unwrap(), change)
    };
    Change {
        parent: parent.clone(),
        files: files.iter().map(file).collect(),
        message: "promote podinfo".into(),
        author: Signature::new("Weir", "weir@example.org").unwrap(),
        at: Timestamp::from_second(1_700_001_000).unwrap(),
    }
}
