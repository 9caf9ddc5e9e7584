//! What a developer does in the demo: release a version to dev, by a commit.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow, bail};
use jiff::Timestamp;
use weir_core::Revision;
use weir_git::{GitRepos, Settings};
use weir_ports::{Change, ConfigRepos as _, FileChange, FilePath, FileQuery, PathGlob, Push, RepoError, Signature};
use weir_yaml::{MarkerFilter, Selector, Value, set};

use super::{BROKEN, Folder, path_of};

/// How often it is tried anew because somebody else committed at the same time.
const ROUNDS: usize = 5;

/// Commits a version to dev. A broken one starts in dev, and nowhere else.
pub(crate) async fn release(folder: &Folder, version: &str, broken: bool) -> Result<()> {
    let semantic = Revision::new(version).context("that is not a version")?.semver();
    semantic.ok_or_else(|| anyhow!("`{version}` is not a version that a chart can have; use one such as 6.2.0"))?;
    let cache = tempfile::tempdir().context("making a folder for the clone failed")?;
    let repos = GitRepos::open(cache.path(), Settings::default())?;
    for _ in 0..ROUNDS {
        match commit(folder, &repos, version, broken).await? {
            Err(RepoError::Moved { .. }) => {}
            done => return Ok(done?),
        }
    }
    bail!("somebody else commits all the time; try again")
}

async fn commit(folder: &Folder, repos: &GitRepos, version: &str, broken: bool) -> Result<Result<(), RepoError>> {
    let (access, base) = (folder.access()?, Folder::base()?);
    let head = repos.look(&access, std::slice::from_ref(&base)).await?.into_iter().next().flatten();
    let head = head.ok_or_else(|| anyhow!("the demo's repository has no branch `{base}` any more"))?;
    let path = path_of("dev");
    let within = vec![PathGlob::new(&path)?, PathGlob::new(BROKEN)?];
    let files = repos.files(&access, &head, &FileQuery { contains: None, within }).await?;
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path.as_str() == path);
        file.map(|file| String::from_utf8_lossy(&file.content).into_owned()).unwrap_or_default()
    };
    let dev = MarkerFilter {
        namespace: "default".to_owned(),
        pipeline: "podinfo".to_owned(),
        environment: "dev".to_owned(),
        workload: None,
    };
    let edited = set(&text(&path), &[(Selector::Marker(dev), Value::new(version))])?;
    if edited.changes.is_empty() {
        bail!("dev has {version} already; choose another version");
    }
    let known = text(BROKEN);
    let mut listed: Vec<&str> = known.lines().filter(|line| *line != version).collect();
    if broken {
        listed.push(version);
    }
    let listed: String = listed.iter().flat_map(|line| [*line, "\n"]).collect();
    let change = Change {
        parent: head.clone(),
        files: BTreeMap::from([
            (FilePath::new(&path)?, FileChange::Write(edited.text.into_bytes())),
            (FilePath::new(BROKEN)?, FileChange::Write(listed.into_bytes())),
        ]),
        message: format!("Release podinfo {version} to dev"),
        author: Signature::new("Demo", "demo@example.org")?,
        at: Timestamp::now(),
    };
    let made = repos.prepare(&access, &change).await?;
    Ok(repos.push(&access, &Push { branch: base, commit: Some(made), expect: Some(head) }).await.map(drop))
}
