//! An agent that plays Flux for definitions: what the repository has in its folder is in the folder of manifests.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use walkdir::WalkDir;
use weir_core::CommitId;
use weir_ports::{PathGlob, RepoFile};

use super::agent::{Clusters, INTERVAL};
use crate::output;

/// The folder of the repository that definitions are in, and of the manifests that they are brought into.
pub(crate) const DEFINITIONS: &str = "pipelines";

/// Follows the repository until it is dropped.
pub(crate) async fn follow(shared: Arc<Clusters>, manifests: PathBuf) {
    let mut seen = None;
    loop {
        if let Err(error) = turn(&shared, &manifests, &mut seen).await {
            output::say(format_args!("  definitions: {error:#}"));
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Looks once.
async fn turn(shared: &Clusters, manifests: &Path, seen: &mut Option<CommitId>) -> Result<()> {
    let head = shared.head().await?;
    if head == *seen {
        return Ok(());
    }
    if let Some(commit) = &head {
        let files = shared.files(commit, vec![PathGlob::new(format!("{DEFINITIONS}/**/*.yaml"))?]).await?;
        bring(&files, manifests)?;
    }
    *seen = head;
    Ok(())
}

/// Has the folder of manifests have these definitions, and of those that were brought before no others.
fn bring(files: &[RepoFile], manifests: &Path) -> Result<()> {
    for file in files {
        let path = manifests.join(file.path.as_str());
        if fs::read(&path).ok().as_deref() != Some(&file.content[..]) {
            write(&path, &file.content).with_context(|| format!("writing `{}` failed", path.display()))?;
            output::say(format_args!("  {} is taken in", file.path));
        }
    }
    for entry in WalkDir::new(manifests.join(DEFINITIONS)).into_iter().filter_map(Result::ok) {
        let is_wanted = |file: &RepoFile| manifests.join(file.path.as_str()) == entry.path();
        if entry.file_type().is_file() && !files.iter().any(is_wanted) {
            fs::remove_file(entry.path()).with_context(|| format!("removing `{}` failed", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Whoever reads the file sees the old text or the new one, never a part.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().context("it has no folder")?;
    fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new().prefix(".weir-").tempfile_in(folder)?;
    new.write_all(content)?;
    new.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use weir_ports::FilePath;

    use super::*;

    #[test]
    fn what_is_defined_comes_changes_and_goes_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("podinfo.yaml");
        fs::write(&own, "mine").unwrap();
        let file = |content: &str| RepoFile {
            path: FilePath::new("pipelines/team/app.yaml").unwrap(),
            content: content.as_bytes().to_vec(),
        };
        let there = folder.path().join("pipelines/team/app.yaml");
        for text in ["one", "two"] {
            bring(&[file(text)], folder.path()).unwrap();
            assert_eq!(fs::read_to_string(&there).unwrap(), text);
        }
        bring(&[], folder.path()).unwrap();
        assert!(!there.exists());
        assert_eq!(fs::read_to_string(own).unwrap(), "mine");
    }
}
