//! One bare, shallow repository on disk, that can be thrown away at any time.
//!
//! Whatever uses the folder shares it; one at a time writes to it; whoever makes it anew has it alone. A write that was
//! cut off leaves the cache unsettled, and the next user first clears away what it left.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use tokio::sync::{Mutex as Turn, RwLock, RwLockReadGuard};
use weir_core::CommitId;

use crate::{
    fault::Fault,
    program::{Call, Git},
    sign_in::{Fingerprint, SignIn},
};

/// Commits that are kept when a cache is tidied up. They are also what the server is told that we have.
const KEPT: usize = 64;

/// A folder, and what is known of it.
pub(crate) struct Cache {
    pub(crate) path: PathBuf,
    whole: RwLock<()>,
    pub(crate) writer: Turn<()>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// How often it was made anew.
    generation: u64,
    /// Whether nothing was left behind by a write that was cut off.
    settled: bool,
    /// Commits that are here with all their files.
    present: HashSet<CommitId>,
    /// Credentials that the server has let in. Others do not get to see the cache.
    let_in: HashSet<Fingerprint>,
    /// Writes since it was last tidied up.
    writes: u32,
}

impl Cache {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, whole: RwLock::default(), writer: Turn::default(), known: Mutex::default() }
    }

    fn known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn generation(&self) -> u64 {
        self.known(|known| known.generation)
    }

    /// The server has let these credentials in.
    pub(crate) fn let_in(&self, who: Fingerprint) {
        self.known(|known| known.let_in.insert(who));
    }

    /// The server has not.
    pub(crate) fn turn_away(&self, who: Fingerprint) {
        self.known(|known| known.let_in.remove(&who));
    }

    pub(crate) fn is_let_in(&self, who: Fingerprint) -> bool {
        self.known(|known| known.let_in.contains(&who))
    }

    /// A commit is here.
    pub(crate) fn has(&self, commit: &CommitId) {
        self.known(|known| known.present.insert(commit.clone()));
    }

    /// Shares the folder with others, after what a cut-off write left is cleared away and the folder is there.
    pub(crate) async fn share(&self, git: &Git, like: &CommitId) -> Result<RwLockReadGuard<'_, ()>, Fault> {
        if !self.known(|known| known.settled) {
            let _alone = self.whole.write().await;
            if !self.known(|known| known.settled) {
                self.settle(git, like).await?;
                self.known(|known| known.settled = true);
            }
        }
        Ok(self.whole.read().await)
    }

    async fn settle(&self, git: &Git, like: &CommitId) -> Result<(), Fault> {
        let path = self.path.clone();
        if !blocking(move || clear(&path)).await? {
            self.make(git, like).await?;
        }
        Ok(())
    }

    async fn make(&self, git: &Git, like: &CommitId) -> Result<(), Fault> {
        let path = self.path.clone();
        blocking(move || remove(&path)).await?;
        self.known(|known| {
            known.present.clear();
            known.generation += 1;
        });
        let format = if like.as_str().len() == 64 { "--object-format=sha256" } else { "--object-format=sha1" };
        let mut call = Call::new(["init", "--quiet", "--bare", "--template=", format, "--"]);
        call.argument(&self.path);
        let output = git.run(call).await?;
        if output.succeeded() { Ok(()) } else { Err(Fault::told_of_cache(&output.stderr)) }
    }

    /// Throws the cache away and makes it anew, unless somebody else just did.
    pub(crate) async fn renew(&self, git: &Git, like: &CommitId, generation: u64) -> Result<(), Fault> {
        let _alone = self.whole.write().await;
        if self.generation() != generation {
            return Ok(());
        }
        self.known(|known| known.settled = false);
        self.make(git, like).await?;
        self.known(|known| known.settled = true);
        Ok(())
    }

    /// Sees to it that a commit is here with all its files, and that whoever asks may see it. The folder is shared.
    pub(crate) async fn ensure(&self, git: &Git, sign_in: &SignIn, commit: &CommitId) -> Result<Presence, Fault> {
        if !self.is_let_in(sign_in.fingerprint) {
            self.knock(git, sign_in).await?;
        }
        if self.is_here(git, commit).await? {
            return Ok(Presence::Here);
        }
        let _turn = self.writer.lock().await;
        // Whoever had the turn before may have wanted the same.
        if self.is_here(git, commit).await? {
            return Ok(Presence::Here);
        }
        self.tidy_up(git).await;
        self.fetch(git, sign_in, commit).await
    }

    /// Asks the server whether it lets these credentials in.
    async fn knock(&self, git: &Git, sign_in: &SignIn) -> Result<(), Fault> {
        let call = Call::new(["ls-remote", "--", &sign_in.address.url, "HEAD"]).signed_in(sign_in);
        let output = git.run(call).await?;
        if !output.succeeded() {
            return Err(Fault::told(&output.stderr, &sign_in.address.url));
        }
        self.let_in(sign_in.fingerprint);
        Ok(())
    }

    async fn is_here(&self, git: &Git, commit: &CommitId) -> Result<bool, Fault> {
        if self.known(|known| known.present.contains(commit)) {
            return Ok(true);
        }
        let here = self.holds(git, commit).await?;
        if here {
            self.has(commit);
        }
        Ok(here)
    }

    async fn holds(&self, git: &Git, commit: &CommitId) -> Result<bool, Fault> {
        let call = Call::new(["cat-file", "--batch-check"]).within(&self.path);
        let output = git.run(call.given(format!("{commit}^{{tree}}\n").into_bytes())).await?;
        // Git complains of a broken pack and then reports its objects as missing.
        if !output.succeeded() || !output.stderr.is_empty() {
            return Err(Fault::told_of_cache(&output.stderr));
        }
        Ok(output.stdout.windows(6).any(|word| word == b" tree "))
    }

    /// Fetches one commit by its id. What we have is kept under the ids, so that only what is new has to be sent.
    async fn fetch(&self, git: &Git, sign_in: &SignIn, commit: &CommitId) -> Result<Presence, Fault> {
        let arguments = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--"];
        let mut call = Call::new(arguments).within(&self.path).signed_in(sign_in);
        call.argument(&sign_in.address.url);
        call.argument(format!("+{commit}:refs/weir/commits/{commit}"));
        let writing = self.writing();
        let output = git.run(call).await?;
        writing.done();
        if output.succeeded() {
            self.has(commit);
            return Ok(Presence::Here);
        }
        match Fault::told(&output.stderr, &sign_in.address.url) {
            Fault::NoCommit(_) => Ok(Presence::Nowhere),
            fault => Err(fault),
        }
    }

    /// Marks the beginning of a write. If it is cut off, the cache is unsettled.
    pub(crate) fn writing(&self) -> Writing<'_> {
        Writing { cache: self, done: false }
    }

    /// Packs the cache and forgets old commits, now and then. The caller has the turn to write.
    pub(crate) async fn tidy_up(&self, git: &Git) {
        if self.known(|known| known.writes) < git.settings.tidy_after {
            return;
        }
        self.known(|known| {
            known.writes = 0;
            known.present.clear();
        });
        // It only saves space: what fails here fails again, and is told, where it matters.
        let _ = self.forget_old(git).await;
    }

    async fn forget_old(&self, git: &Git) -> Result<(), Fault> {
        let writing = self.writing();
        let arguments = ["for-each-ref", "--sort=-committerdate", "--format=delete %(refname)", "refs/weir"];
        let list = git.run(Call::new(arguments).within(&self.path)).await?;
        let list = String::from_utf8_lossy(&list.stdout);
        let old: String = list.lines().skip(KEPT).flat_map(|line| [line, "\n"]).collect();
        git.run(Call::new(["update-ref", "--stdin"]).within(&self.path).given(old.into_bytes())).await?;
        git.run(Call::new(["gc", "--quiet", "--prune=1.hour.ago"]).within(&self.path)).await?;
        writing.done();
        Ok(())
    }
}

/// Whether a commit could be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Here,
    /// The server does not have it, either.
    Nowhere,
}

/// A write under way.
pub(crate) struct Writing<'c> {
    cache: &'c Cache,
    done: bool,
}

impl Writing<'_> {
    /// Git came to its end by itself, and has cleared up.
    pub(crate) fn done(mut self) {
        self.done = true;
        self.cache.known(|known| known.writes += 1);
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.cache.known(|known| known.settled = false);
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Fault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(Fault::Other(error.to_string())),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Removes what killed writes leave behind. `false` if what remains is no repository.
fn clear(path: &Path) -> io::Result<bool> {
    let whole = ["HEAD", "config"].iter().all(|name| path.join(name).is_file())
        && ["objects", "refs"].iter().all(|name| path.join(name).is_dir());
    if whole {
        clear_folder(path)?;
    }
    Ok(whole)
}

fn clear_folder(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            clear_folder(&entry.path())?;
        } else if name.ends_with(".lock") || name.starts_with("tmp_") || name.starts_with("fast_import_crash_") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
