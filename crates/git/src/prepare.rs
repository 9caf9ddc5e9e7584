//! A commit on top of another, without a work tree. Commits that are wanted at the same time are made together.

use std::{collections::BTreeSet, io::Write as _, sync::Arc};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use weir_core::CommitId;
use weir_ports::{Change, Doing, FileChange, FilePath, RepoAccess, RepoError};

use crate::{
    cache::Presence,
    fault::Fault,
    program::{Call, Git, Running},
    repos::Repository,
    sign_in::SignIn,
};

/// A commit that was made, or the path that was in the way and what is there.
pub(crate) type Made = Result<CommitId, (FilePath, &'static str)>;

/// What is at a path of the parent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Nothing,
    File { mode: String },
    Folder,
    Link,
    Submodule,
}

impl Repository {
    /// Makes a commit. A cache that is found damaged is made anew, once.
    pub(crate) async fn prepare(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        change: &Change,
    ) -> Result<Result<CommitId, RepoError>, Fault> {
        let generation = self.cache.generation();
        match self.try_prepare(git, sign_in, access, change).await {
            Err(Fault::Damaged(_)) => {
                self.cache.renew(git, &change.parent, generation).await?;
                self.try_prepare(git, sign_in, access, change).await
            }
            result => result,
        }
    }

    async fn try_prepare(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        change: &Change,
    ) -> Result<Result<CommitId, RepoError>, Fault> {
        let parent = &change.parent;
        let _shared = self.cache.share(git, parent).await?;
        if self.cache.ensure(git, sign_in, parent).await? == Presence::Nowhere {
            let repository = access.url.clone();
            return Ok(Err(RepoError::NoCommit { repository, doing: Doing::Preparing, commit: parent.clone() }));
        }
        let seat = self.prepares.join((), change.clone());
        let _turn = self.cache.writer.lock().await;
        let import = async |changes: Vec<Change>| self.import(git, &changes).await.map(Arc::from);
        let made: Arc<[Made]> = self.prepares.answer(&seat, import).await?;
        Ok(match made.get(seat.place) {
            Some(Ok(commit)) => Ok(commit.clone()),
            Some(Err((path, found))) => {
                Err(RepoError::NotAFile { repository: access.url.clone(), path: path.clone(), found })
            }
            None => return Err(Fault::Other("a commit was not made".to_owned())),
        })
    }

    /// Makes the commits of a round, with one call of Git. The caller has the turn to write.
    async fn import(&self, git: &Git, changes: &[Change]) -> Result<Vec<Made>, Fault> {
        self.cache.tidy_up(git).await;
        let writing = self.cache.writing();
        let call = Call::new(["fast-import", "--quiet", "--done", "--force", "--date-format=raw"]);
        let call = call.within(&self.cache.path);
        let mut importing = git.start(&call).await?;
        let made = git.by_the_deadline(async {
            let mut all = Vec::with_capacity(changes.len());
            for (change, mark) in changes.iter().zip(1..) {
                let Some(made) = import_one(&mut importing, change, mark).await? else {
                    return Err(Fault::told_of_cache(&importing.finish(&[]).await?.stderr));
                };
                all.push(made);
            }
            let output = importing.finish(b"done\n").await?;
            if output.succeeded() { Ok(all) } else { Err(Fault::told_of_cache(&output.stderr)) }
        });
        let made = made.await?;
        writing.done();
        for commit in made.iter().flatten() {
            self.cache.has(commit);
        }
        Ok(made)
    }
}

/// One commit. `None` if Git did not say.
async fn import_one(importing: &mut Running<'_>, change: &Change, mark: usize) -> Result<Option<Made>, Fault> {
    let Change { parent, files, .. } = change;
    let asked: Vec<&str> = files.keys().map(FilePath::as_str).chain(folders(files.keys())).collect();
    let Some(entries) = ask(importing, parent, &asked).await? else { return Ok(None) };
    if let Some(obstacle) = obstacle(files.keys(), &asked, &entries) {
        return Ok(Some(Err(obstacle)));
    }
    // If Git does not listen, it does not answer, either, and that is noticed.
    let _ = importing.stdin.write_all(&stream(change, &entries, mark)).await;
    let Some(made) = next_line(importing).await?.and_then(|id| CommitId::new(id).ok()) else { return Ok(None) };
    let keep = format!("reset refs/weir/commits/{made}\nfrom :{mark}\n\n");
    let _ = importing.stdin.write_all(keep.as_bytes()).await;
    Ok(Some(Ok(made)))
}

/// All folders that the paths lie in.
fn folders<'p>(paths: impl Iterator<Item = &'p FilePath>) -> BTreeSet<&'p str> {
    paths.flat_map(|path| path.as_str().match_indices('/').map(|(end, _)| &path.as_str()[..end])).collect()
}

/// What is at these paths. `None` if Git did not say.
async fn ask(importing: &mut Running<'_>, parent: &CommitId, paths: &[&str]) -> Result<Option<Vec<Entry>>, Fault> {
    let question = |path: &&str| format!("ls {parent} {}\n", quoted(path));
    let questions = paths.iter().fold(String::new(), |asked, path| asked + &question(path));
    let Running { stdin, stdout, .. } = importing;
    let hear = async {
        let mut lines = BufReader::new(stdout).lines();
        let mut entries = Vec::with_capacity(paths.len());
        while entries.len() < paths.len() {
            let Some(line) = lines.next_line().await? else { return Ok(None) };
            let Some(entry) = entry(&line) else { return Ok(None) };
            entries.push(entry);
        }
        Ok(Some(entries))
    };
    // If Git does not listen, it does not answer, either, and that is noticed.
    let (_, heard) = tokio::join!(stdin.write_all(questions.as_bytes()), hear);
    heard
}

async fn next_line(importing: &mut Running<'_>) -> Result<Option<String>, Fault> {
    Ok(BufReader::new(&mut importing.stdout).lines().next_line().await?)
}

fn entry(line: &str) -> Option<Entry> {
    match line.split(' ').next()? {
        "missing" => Some(Entry::Nothing),
        "040000" => Some(Entry::Folder),
        "120000" => Some(Entry::Link),
        "160000" => Some(Entry::Submodule),
        mode if mode.starts_with("100") => Some(Entry::File { mode: mode.to_owned() }),
        _ => None,
    }
}

/// The first path that cannot be a file, and why.
fn obstacle<'p>(
    paths: impl ExactSizeIterator<Item = &'p FilePath>,
    asked: &[&str],
    entries: &[Entry],
) -> Option<(FilePath, &'static str)> {
    let (own, above) = entries.split_at(paths.len());
    let blocked: BTreeSet<&str> = asked[own.len()..]
        .iter()
        .zip(above)
        .filter(|(_, entry)| !matches!(entry, Entry::Folder | Entry::Nothing))
        .map(|(folder, _)| *folder)
        .collect();
    paths.zip(own).find_map(|(path, entry)| {
        let found = match entry {
            Entry::File { .. } => return None,
            Entry::Folder => "a folder",
            Entry::Link => "a symbolic link",
            Entry::Submodule => "a submodule",
            Entry::Nothing => {
                let below = folders(std::iter::once(path)).iter().any(|folder| blocked.contains(folder));
                return below.then(|| (path.clone(), "below something that is no folder"));
            }
        };
        Some((path.clone(), found))
    })
}

/// The commit in the language of `fast-import`, and the question for its id. The branch that it needs is not used for
/// anything: what keeps the commit is a reference that is named after it, once its id is known.
fn stream(change: &Change, entries: &[Entry], mark: usize) -> Vec<u8> {
    let Change { parent, files, message, author, at } = change;
    let mut out = Vec::new();
    let line_end = if message.ends_with('\n') { "" } else { "\n" };
    let seconds = at.as_second();
    // Writing to memory does not fail.
    let _ = write!(
        out,
        "commit refs/weir/made\nmark :{mark}\nauthor {author} {seconds} +0000\ncommitter {author} {seconds} +0000\n\
         data {}\n{message}{line_end}\nfrom {parent}\n",
        message.len() + line_end.len(),
    );
    for ((path, change), entry) in files.iter().zip(entries) {
        let path = quoted(path.as_str());
        match change {
            FileChange::Write(content) => {
                let mode = if let Entry::File { mode } = entry { mode } else { "100644" };
                let _ = write!(out, "M {mode} inline {path}\ndata {}\n", content.len());
                out.extend_from_slice(content);
                out.push(b'\n');
            }
            FileChange::Remove if *entry == Entry::Nothing => {}
            FileChange::Remove => {
                let _ = writeln!(out, "D {path}");
            }
        }
    }
    let _ = write!(out, "\nget-mark :{mark}\n");
    out
}

/// A path as `fast-import` reads it. Paths hold no control characters.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', r"\\").replace('"', r#"\""#))
}
