//! The folder of a demo, made once.

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use weir_core::{BranchName, RepoUrl, Repository};
use weir_engine::Definitions;
use weir_ports::{FilePath, RepoAccess, Signature};

use super::{BROKEN, CLUSTERS, definitions::DEFINITIONS, path_of};

const PIPELINE: &str = include_str!("../../../../docs/examples/demo/pipeline.yaml");
const SECRET: &str = include_str!("../../../../docs/examples/demo/secret.yaml");
const HELM_RELEASE: &str = include_str!("../../../../docs/examples/demo/helmrelease.yaml");

/// A folder with everything of a demo.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder of a demo, which is made if it is not there. Whatever is half made is made anew.
    pub(crate) fn make(root: &Path) -> Result<(Self, bool)> {
        let root = std::path::absolute(root).with_context(|| format!("`{}` is no folder", root.display()))?;
        let folder = Self { root };
        if folder.is_made() {
            return Ok((folder, false));
        }
        if folder.root.exists() && !folder.is_ours()? {
            bail!("`{}` is not empty, and no demo: name another folder with --folder", folder.root.display());
        }
        folder.fill().with_context(|| format!("making the demo in `{}` failed", folder.root.display()))?;
        Ok((folder, true))
    }

    /// The folder of a demo that is there.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let root = std::path::absolute(root).with_context(|| format!("`{}` is no folder", root.display()))?;
        let folder = Self { root };
        if !folder.is_made() {
            bail!("there is no demo in `{}`: start one with `weir demo`, or name its folder", folder.root.display());
        }
        Ok(folder)
    }

    pub(crate) fn manifests(&self) -> PathBuf {
        self.root.join("manifests")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub(crate) fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    fn repository(&self) -> PathBuf {
        self.root.join("config.git")
    }

    /// What opens the repository.
    pub(crate) fn access(&self) -> Result<RepoAccess> {
        Ok(RepoAccess::open(RepoUrl::new(self.url())?))
    }

    /// Where the definitions go that people propose, with commits by this author.
    pub(crate) fn definitions(&self, author: Signature) -> Result<Definitions> {
        Ok(Definitions {
            repository: Repository { url: self.access()?.url, base: Self::base()?, secret: None },
            namespace: "default".parse()?,
            forge: None,
            folder: Some(FilePath::new(DEFINITIONS)?),
            author,
        })
    }

    /// The branch that the clusters follow.
    pub(crate) fn base() -> Result<BranchName> {
        Ok(BranchName::new("main")?)
    }

    /// The key that signs events.
    pub(crate) fn key(&self) -> Result<String> {
        Ok(fs::read_to_string(self.root.join("key")).context("reading the demo's key failed")?.trim().to_owned())
    }

    fn url(&self) -> String {
        format!("file://{}", self.repository().display())
    }

    /// What is written last.
    fn is_made(&self) -> bool {
        self.root.join("made").is_file()
    }

    /// Whether what is there is at most a demo that was not finished.
    fn is_ours(&self) -> Result<bool> {
        let known = ["manifests", "data", "agents", "config.git", "key"];
        for entry in fs::read_dir(&self.root).with_context(|| format!("reading `{}` failed", self.root.display()))? {
            if !known.contains(&&*entry?.file_name().to_string_lossy()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fill(&self) -> Result<()> {
        for folder in [self.manifests(), self.agents()] {
            fs::create_dir_all(folder)?;
        }
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).context("the system gave no random key")?;
        let key = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        private(&self.root.join("key"), &key)?;
        fs::write(self.manifests().join("podinfo.yaml"), PIPELINE.replace("file:///path/to/config.git", &self.url()))?;
        private(&self.manifests().join("secret.yaml"), &SECRET.replace("made-by-weir-demo", &key))?;
        if self.repository().exists() {
            fs::remove_dir_all(self.repository())?;
        }
        git(
            &["init", "--quiet", "--bare", "--initial-branch=main", "--", &self.repository().display().to_string()],
            b"",
        )?;
        git(&["--git-dir", &self.repository().display().to_string(), "fast-import", "--quiet"], &first_commit())?;
        fs::write(self.root.join("made"), "")?;
        Ok(())
    }
}

/// Writes a file that only this user may read.
fn private(path: &Path, text: &str) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

fn first_commit() -> Vec<u8> {
    let mut stream =
        b"commit refs/heads/main\ncommitter Demo <demo@example.org> 1700000000 +0000\ndata 5\nBegin\n".to_vec();
    let mut file = |path: &str, text: &str| {
        // Writing to memory does not fail.
        let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len());
    };
    for (cluster, environment) in CLUSTERS {
        file(&path_of(cluster), &HELM_RELEASE.replace("ENVIRONMENT", environment));
    }
    file(BROKEN, "");
    stream.extend_from_slice(b"done\n");
    stream
}

fn git(arguments: &[&str], input: &[u8]) -> Result<()> {
    let mut child = Command::new("git")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("running `git` failed; install it")?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("git says: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("demo");
        let (made, new) = Folder::make(&root).unwrap();
        assert!(new);
        let (again, new) = Folder::make(&root).unwrap();
        assert!(!new);
        assert_eq!(made.key().unwrap(), again.key().unwrap());
    }

    #[test]
    fn a_folder_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.md"), "all my work").unwrap();
        let error = Folder::make(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no demo"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_demo_that_was_not_finished_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (made, _) = Folder::make(folder.path()).unwrap();
        fs::remove_file(made.root.join("made")).unwrap();
        assert!(Folder::make(folder.path()).unwrap().1);
    }
}
