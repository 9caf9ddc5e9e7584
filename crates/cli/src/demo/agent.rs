//! An agent that plays Flux on one cluster: it follows the repository, "deploys", and reports what came of it.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use weir_core::{BranchName, CommitId};
use weir_git::GitRepos;
use weir_ports::{ConfigRepos as _, FileQuery, PathGlob, RepoAccess, RepoFile};

use super::{
    BROKEN, Folder,
    event::{Ended, event, signature},
    path_of,
};
use crate::output;

/// How often an agent looks at the repository.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// How often it says again what runs. Weir may have been away when it said it first.
const REPEAT: u32 = 60;

/// What all agents share.
pub(crate) struct Clusters {
    repos: GitRepos,
    access: RepoAccess,
    base: BranchName,
    key: String,
    folder: PathBuf,
    address: String,
    http: reqwest::Client,
}

/// One of them.
pub(crate) struct Agent {
    shared: Arc<Clusters>,
    cluster: &'static str,
    environment: &'static str,
    running: Running,
}

/// What it runs, as it is kept between two starts.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    version: String,
    broken: bool,
}

impl Clusters {
    /// Agents that report to a server at this address.
    pub(crate) fn new(folder: &Folder, address: String) -> Result<Self> {
        Ok(Self {
            repos: GitRepos::open(folder.agents().join("cache"), weir_git::Settings::default())?,
            access: folder.access()?,
            base: Folder::base()?,
            key: folder.key()?,
            folder: folder.agents(),
            address,
            http: reqwest::Client::new(),
        })
    }

    /// Where the branch is that everything follows.
    pub(super) async fn head(&self) -> Result<Option<CommitId>> {
        Ok(self.repos.look(&self.access, std::slice::from_ref(&self.base)).await?.pop().flatten())
    }

    /// Files of a commit.
    pub(super) async fn files(&self, commit: &CommitId, within: Vec<PathGlob>) -> Result<Vec<RepoFile>> {
        Ok(self.repos.files(&self.access, commit, &FileQuery { contains: None, within }).await?)
    }

    /// What a cluster shall run, and whether it will start.
    async fn wanted(&self, commit: &CommitId, cluster: &str) -> Result<Option<Running>> {
        let path = path_of(cluster);
        let files = self.files(commit, vec![PathGlob::new(&path)?, PathGlob::new(BROKEN)?]).await?;
        let text = |path: &str| {
            let file = files.iter().find(|file| file.path.as_str() == path);
            file.map(|file| String::from_utf8_lossy(&file.content).into_owned()).unwrap_or_default()
        };
        let marked = weir_yaml::markers(&text(&path)).context("the definition cannot be read")?;
        let version = marked.iter().find_map(|marked| marked.declared().map(str::to_owned));
        let broken = text(BROKEN);
        Ok(version.map(|version| {
            let broken = broken.lines().any(|line| line == version);
            Running { version, broken }
        }))
    }
}

impl Agent {
    pub(crate) fn new(shared: Arc<Clusters>, cluster: &'static str, environment: &'static str) -> Self {
        let mut agent = Self { shared, cluster, environment, running: Running::default() };
        let kept = fs::read(agent.file()).ok();
        agent.running = kept.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        agent
    }

    fn file(&self) -> PathBuf {
        self.shared.folder.join(format!("{}.json", self.cluster))
    }

    /// Follows the repository until it is dropped.
    pub(crate) async fn run(mut self) {
        let mut seen = None;
        let mut quiet = REPEAT;
        loop {
            match self.turn(&mut seen, quiet >= REPEAT).await {
                Ok(true) => quiet = 0,
                Ok(false) => quiet += 1,
                Err(error) => output::say(format_args!("  {}: {error:#}", self.cluster)),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Looks once; `true` if something was reported.
    async fn turn(&mut self, seen: &mut Option<CommitId>, repeat: bool) -> Result<bool> {
        let shared = self.shared.clone();
        let head = shared.head().await?;
        if head != *seen
            && let Some(commit) = &head
            && let Some(wanted) = shared.wanted(commit, self.cluster).await?
            && wanted != self.running
        {
            self.deploy(wanted).await?;
            *seen = head;
            return Ok(true);
        }
        *seen = head;
        if repeat && !self.running.version.is_empty() {
            self.report().await?;
            return Ok(true);
        }
        Ok(false)
    }

    async fn deploy(&mut self, wanted: Running) -> Result<()> {
        let pause = self.pause(&wanted.version);
        let slowly = if pause > Duration::from_secs(5) { ", slowly" } else { "" };
        output::say(format_args!("  {} deploys {}{slowly}", self.cluster, wanted.version));
        tokio::time::sleep(pause).await;
        self.running = wanted;
        let how = if self.is_broken() { "failed to start" } else { "runs" };
        output::say(format_args!("  {} {how} {}", self.cluster, self.running.version));
        let text = serde_json::to_vec(&self.running)?;
        fs::write(self.file(), text).with_context(|| format!("writing `{}` failed", self.file().display()))?;
        self.report().await
    }

    /// A release that is broken starts in dev, where nobody looks closely.
    fn is_broken(&self) -> bool {
        self.running.broken && self.environment != "dev"
    }

    /// Some deployments take long, and it is always the same ones.
    fn pause(&self, version: &str) -> Duration {
        let number =
            version.bytes().chain(self.cluster.bytes()).fold(7_u64, |sum, byte| sum * 31 % 1009 + u64::from(byte));
        let seconds = if number % 5 == 0 { 8 } else { 1 + number % 3 };
        Duration::from_secs(seconds)
    }

    /// Tells Weir what runs here, until it has understood.
    async fn report(&self) -> Result<()> {
        let ended = if self.is_broken() { Ended::Badly } else { Ended::Well };
        let body = serde_json::to_vec(&event(self.cluster, &self.running.version, ended, Timestamp::now()))?;
        let Clusters { http, address, key, .. } = &*self.shared;
        let url = format!("{address}/promotion/default/podinfo/{}?cluster={}", self.environment, self.cluster);
        loop {
            let request = http.post(&url).header("Content-Type", "application/json");
            let sent = request.header("X-Signature", signature(key, &body)).body(body.clone()).send().await;
            match sent.map(|response| response.status()) {
                Ok(status) if status.is_success() => return Ok(()),
                Ok(status) if status.is_client_error() => anyhow::bail!("Weir does not take the event: {status}"),
                _ => tokio::time::sleep(INTERVAL).await,
            }
        }
    }
}
