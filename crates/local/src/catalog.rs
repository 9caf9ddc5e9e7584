//! Pipelines, clusters and Secrets from a folder of manifests.
//!
//! A thread looks at the folder again and again (`look`), reads the files that changed (`file`), and puts together what
//! is in force (`view`). Looking compares times, sizes and numbers of files instead of asking the system to tell of
//! changes: that works on every disk, network mounts and the swapped links of Kubernetes volumes included.

mod file;
mod look;
mod view;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use futures_core::Stream;
use futures_util::stream;
use thiserror::Error;
use tokio::sync::watch;
use weir_core::{ClusterKey, Name, Namespace, PipelineKey};
use weir_ports::{Catalog, CatalogError, CatalogNotice, ClusterError, Definition, ManifestUnread, Secret};

use file::File;
use look::Look;
use view::View;

use crate::stamp::Stamp;

/// How often the folder is looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// Looking takes at most one part in so many of the time of a core: a folder of very many files is looked at less often.
const SHARE: u32 = 200;

/// However large the folder is, a change is seen after this time.
const LONGEST: Duration = Duration::from_secs(30);

/// A folder that changed is read when two looks this far apart see the same, or after so many of them.
const SETTLE: Duration = Duration::from_millis(50);
const ROUNDS: u32 = 20;

/// The pipelines, clusters and Secrets of a folder, followed as its files change.
///
/// It is looked at every second, or less often if it holds so many files that looking takes more than 5 ms.
pub struct FolderCatalog {
    view: watch::Receiver<Arc<View>>,
    /// Dropped to stop the thread.
    _stop: mpsc::Sender<()>,
}

/// Why a folder cannot be followed.
#[derive(Debug, Error)]
#[error("reading the manifests in `{}` failed; name a folder that Weir may read", folder.display())]
pub struct FolderError {
    /// Which folder.
    pub folder: PathBuf,
    /// What went wrong.
    #[source]
    pub source: io::Error,
}

impl FolderCatalog {
    /// Reads the folder, and follows it from then on. That a file is broken is no error here, but a problem that is told.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, FolderError> {
        Self::open_with(folder, INTERVAL)
    }

    /// The same, looked at in another rhythm.
    pub fn open_with(folder: impl AsRef<Path>, interval: Duration) -> Result<Self, FolderError> {
        let folder = folder.as_ref().to_owned();
        let failed = |source| FolderError { folder: folder.clone(), source };
        std::fs::read_dir(&folder).map_err(failed)?;
        let mut reader = Reader { look: look::look(&folder), folder: folder.clone(), files: BTreeMap::new() };
        reader.read(&Look::default());
        let (tell, view) = watch::channel(Arc::new(reader.view()));
        let (stop, stopped) = mpsc::channel();
        let follow = move || reader.follow(interval, &tell, &stopped);
        thread::Builder::new().name("weir-catalog".to_owned()).spawn(follow).map_err(failed)?;
        Ok(Self { view, _stop: stop })
    }

    /// The pipelines that are in force now.
    pub fn definitions(&self) -> Vec<Definition> {
        self.view.borrow().definitions.values().map(|definition| (**definition).clone()).collect()
    }

    /// Everything that is wrong now.
    pub fn problems(&self) -> Vec<String> {
        self.view.borrow().problems.iter().map(ToString::to_string).collect()
    }
}

/// How long to wait after a look that took so long.
fn rhythm(interval: Duration, took: Duration) -> Duration {
    interval.max(took.saturating_mul(SHARE).min(LONGEST))
}

/// The thread's belongings.
struct Reader {
    folder: PathBuf,
    look: Look,
    files: BTreeMap<PathBuf, File>,
}

impl Reader {
    fn follow(mut self, interval: Duration, tell: &watch::Sender<Arc<View>>, stopped: &mpsc::Receiver<()>) {
        let mut pause = interval;
        let wait = |time| stopped.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
        while wait(pause) {
            let begun = Instant::now();
            let mut seen = look::look(&self.folder);
            pause = rhythm(interval, begun.elapsed());
            if seen == self.look && !self.files.values().any(|file| file.is_unread) {
                continue;
            }
            for _ in 0..ROUNDS {
                if !wait(SETTLE) {
                    return;
                }
                let again = look::look(&self.folder);
                let settled = again == seen;
                seen = again;
                if settled {
                    break;
                }
            }
            let before = std::mem::replace(&mut self.look, seen);
            self.read(&before);
            tell.send_replace(Arc::new(self.view()));
        }
    }

    /// Reads what is new or changed, and forgets what is gone.
    fn read(&mut self, before: &Look) {
        let unseen = |path: &Path| self.look.failures.keys().any(|failed| path.starts_with(failed));
        self.files.retain(|path, _| self.look.files.contains_key(path) || unseen(path));
        for (path, stamp) in &self.look.files {
            let is_same = |old: &Stamp| old == stamp;
            let is_read = self.files.get(path).is_some_and(|file| !file.is_unread);
            if !is_read || !before.files.get(path).is_some_and(is_same) {
                self.files.entry(path.clone()).or_default().read(path);
            }
        }
    }

    fn view(&self) -> View {
        View::of(&self.files, self.look.failures.values().cloned().collect())
    }
}

impl Catalog for FolderCatalog {
    fn watch(&self) -> impl Stream<Item = CatalogNotice> + Send + Unpin + 'static {
        let mut view = self.view.clone();
        let told = Arc::clone(&view.borrow_and_update());
        let mut waiting: VecDeque<_> = View::default().changes_to(&told).into();
        waiting.push_back(CatalogNotice::Listed);
        Box::pin(stream::unfold(Follower { view, told, waiting }, Follower::next))
    }

    async fn kubeconfig(&self, cluster: &ClusterKey) -> Result<Option<Name>, ClusterError> {
        Ok(self.view.borrow().clusters.get(cluster).cloned())
    }

    async fn manifest(&self, pipeline: &PipelineKey) -> Result<Option<String>, ManifestUnread> {
        let Some(place) = self.view.borrow().places.get(pipeline).cloned() else { return Ok(None) };
        let failed = |reason| ManifestUnread { pipeline: pipeline.clone(), reason };
        let wanted = pipeline.clone();
        let read = tokio::task::spawn_blocking(move || place.manifest(&wanted)).await;
        read.map_err(|error| failed(error.to_string()))?.map(Some).map_err(failed)
    }

    async fn secret(&self, namespace: &Namespace, name: &Name) -> Result<Secret, CatalogError> {
        let found = self.view.borrow().secrets.get(&(namespace.clone(), name.clone())).cloned();
        found.ok_or_else(|| CatalogError::NoSecret { namespace: namespace.clone(), name: name.clone() })
    }
}

/// One who follows. Whatever happens while they are busy, only what they were told last is kept for them.
struct Follower {
    view: watch::Receiver<Arc<View>>,
    told: Arc<View>,
    waiting: VecDeque<CatalogNotice>,
}

impl Follower {
    async fn next(mut self) -> Option<(CatalogNotice, Self)> {
        loop {
            if let Some(notice) = self.waiting.pop_front() {
                return Some((notice, self));
            }
            self.view.changed().await.ok()?;
            let now = Arc::clone(&self.view.borrow_and_update());
            self.waiting = self.told.changes_to(&now).into();
            self.told = now;
        }
    }
}
