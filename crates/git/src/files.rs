//! The files of a commit.

use std::{io, pin::pin};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use weir_core::CommitId;
use weir_ports::{Doing, FilePath, FileQuery, RepoAccess, RepoError, RepoFile};

use crate::{
    cache::Presence,
    fault::Fault,
    program::{Call, Git},
    repos::Repository,
    sign_in::SignIn,
};

/// What Git compares a commit with to list all its files: the tree without any, which every repository knows.
const NOTHING_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const NOTHING_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

impl Repository {
    /// The files that the query asks for. A cache that is found damaged is made anew, once.
    pub(crate) async fn files(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        commit: &CommitId,
        query: &FileQuery,
    ) -> Result<Result<Vec<RepoFile>, RepoError>, Fault> {
        let generation = self.cache.generation();
        match self.try_files(git, sign_in, access, commit, query).await {
            Err(Fault::Damaged(_)) => {
                self.cache.renew(git, commit, generation).await?;
                self.try_files(git, sign_in, access, commit, query).await
            }
            result => result,
        }
    }

    async fn try_files(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        commit: &CommitId,
        query: &FileQuery,
    ) -> Result<Result<Vec<RepoFile>, RepoError>, Fault> {
        let _shared = self.cache.share(git, commit).await?;
        if self.cache.ensure(git, sign_in, commit).await? == Presence::Nowhere {
            let repository = access.url.clone();
            return Ok(Err(RepoError::NoCommit { repository, doing: Doing::Reading, commit: commit.clone() }));
        }
        let paths = match &query.contains {
            Some(text) => self.containing(git, commit, text, query).await?,
            None => self.matching(git, commit, query).await?,
        };
        self.read(git, access, commit, paths).await
    }

    async fn containing(
        &self,
        git: &Git,
        commit: &CommitId,
        text: &str,
        query: &FileQuery,
    ) -> Result<Vec<FilePath>, Fault> {
        let arguments =
            ["grep", "-z", "-l", "-I", "--full-name", "--no-color", "-F", "-e", text, commit.as_str(), "--"];
        let mut call = Call::new(arguments).within(&self.cache.path);
        restrict(&mut call, query);
        let output = git.run(call).await?;
        // A file that cannot be read is complained of and passed over.
        if !matches!(output.code, 0 | 1) || !output.stderr.is_empty() {
            return Err(Fault::told_of_cache(&output.stderr));
        }
        let before = commit.as_str().len() + 1;
        Ok(output.stdout.split(|byte| *byte == 0).filter_map(|entry| path(entry.get(before..)?)).collect())
    }

    async fn matching(&self, git: &Git, commit: &CommitId, query: &FileQuery) -> Result<Vec<FilePath>, Fault> {
        let nothing = if commit.as_str().len() == 64 { NOTHING_SHA256 } else { NOTHING_SHA1 };
        let arguments = ["diff-tree", "-r", "-z", "--no-renames", "--raw", nothing, commit.as_str(), "--"];
        let mut call = Call::new(arguments).within(&self.cache.path);
        restrict(&mut call, query);
        let output = git.run(call).await?;
        if !output.succeeded() || !output.stderr.is_empty() {
            return Err(Fault::told_of_cache(&output.stderr));
        }
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut paths = Vec::new();
        while let (Some(entry), Some(name)) = (fields.next(), fields.next()) {
            // `:000000 100644 <no id> <id> A`: links and submodules have other modes.
            if entry.get(8..11) == Some(b"100") {
                paths.extend(path(name));
            }
        }
        Ok(paths)
    }

    async fn read(
        &self,
        git: &Git,
        access: &RepoAccess,
        commit: &CommitId,
        paths: Vec<FilePath>,
    ) -> Result<Result<Vec<RepoFile>, RepoError>, Fault> {
        if paths.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let questions = paths.iter().fold(String::new(), |asked, path| asked + &format!("{commit}:{path}\n"));
        let call = Call::new(["cat-file", "--batch"]).within(&self.cache.path);
        let limit = git.settings.largest_file;
        let mut running = git.start(&call).await?;
        git.by_the_deadline(async {
            let heard = {
                let mut ask = pin!(running.stdin.write_all(questions.as_bytes()));
                let mut hear = pin!(hear(BufReader::new(&mut running.stdout), paths, limit));
                // What is heard may end while there is more to ask.
                tokio::select! {
                    heard = &mut hear => heard?,
                    _ = &mut ask => hear.await?,
                }
            };
            match heard {
                Heard::All(files) => Ok(Ok(files)),
                Heard::TooLarge { path, size } => {
                    Ok(Err(RepoError::TooLarge { repository: access.url.clone(), path, size, limit }))
                }
                Heard::Cut => Err(Fault::told_of_cache(&running.finish(&[]).await?.stderr)),
            }
        })
        .await
    }
}

/// What came of reading files.
enum Heard {
    All(Vec<RepoFile>),
    TooLarge {
        path: FilePath,
        size: u64,
    },
    /// Git ended, or had no such file.
    Cut,
}

async fn hear(mut answers: impl AsyncBufRead + Unpin, paths: Vec<FilePath>, limit: u64) -> io::Result<Heard> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let mut head = String::new();
        answers.read_line(&mut head).await?;
        let size = head.trim_end().split_once(" blob ");
        let Some(size) = size.and_then(|(_, size)| size.parse::<u64>().ok()) else { return Ok(Heard::Cut) };
        if size > limit {
            return Ok(Heard::TooLarge { path, size });
        }
        let mut content = Vec::new();
        (&mut answers).take(size).read_to_end(&mut content).await?;
        if content.len() as u64 != size || answers.read_u8().await.ok() != Some(b'\n') {
            return Ok(Heard::Cut);
        }
        files.push(RepoFile { path, content });
    }
    Ok(Heard::All(files))
}

fn restrict(call: &mut Call<'_>, query: &FileQuery) {
    for glob in &query.within {
        call.argument(format!(":(top,glob){glob}"));
    }
}

fn path(bytes: &[u8]) -> Option<FilePath> {
    FilePath::new(str::from_utf8(bytes).ok()?).ok()
}
