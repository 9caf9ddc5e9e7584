//! The Git repositories that say what environments run.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use weir_core::{BranchName, CommitId, NameError, RepoUrl};

use crate::{
    credentials::Credentials,
    path::{FilePath, PathGlob},
    repo_error::RepoError,
};

/// Git repositories, read and changed without a work tree.
///
/// Every call may be dropped at any time and repeated by anyone: what was done already is found done. Nothing is kept
/// that the server does not have, but for commits that were prepared and not pushed yet.
pub trait ConfigRepos: Send + Sync {
    /// Where branches are now, on the server, in the order they were asked for. A branch that does not exist is `None`.
    ///
    /// A repository without any branch is [`RepoError::Empty`].
    fn look(
        &self,
        access: &RepoAccess,
        branches: &[BranchName],
    ) -> impl Future<Output = Result<Vec<Option<CommitId>>, RepoError>> + Send;

    /// The branches below a name, by name, and where each is now, on the server. `a` has `a/b` and `a/b/c` below it,
    /// but neither `a` nor `ab`.
    fn below(
        &self,
        access: &RepoAccess,
        name: &BranchName,
    ) -> impl Future<Output = Result<Vec<(BranchName, CommitId)>, RepoError>> + Send;

    /// What a commit says of itself.
    fn commit(&self, access: &RepoAccess, commit: &CommitId) -> impl Future<Output = Result<Commit, RepoError>> + Send;

    /// The files of a commit that the query asks for, by their paths.
    ///
    /// Symbolic links, submodules, and files whose path no [`FilePath`] can name are left out.
    fn files(
        &self,
        access: &RepoAccess,
        commit: &CommitId,
        query: &FileQuery,
    ) -> impl Future<Output = Result<Vec<RepoFile>, RepoError>> + Send;

    /// Makes a commit on top of another. The same change always gives the same id. Nothing is pushed.
    ///
    /// A file that is there keeps its mode; a new one is an ordinary file. To remove a file that is not there does
    /// nothing. A path that is a folder, a link or a submodule, or that lies below a file, is [`RepoError::NotAFile`].
    fn prepare(&self, access: &RepoAccess, change: &Change)
    -> impl Future<Output = Result<CommitId, RepoError>> + Send;

    /// Moves one branch, if it is where it is expected to be. A branch that is already where it shall be is a success, too;
    /// who of several has moved it is told apart by that.
    ///
    /// Pushes to one repository that come within a short moment go out together; each gets its own answer, and one that
    /// is refused does not take the others with it.
    fn push(&self, access: &RepoAccess, push: &Push) -> impl Future<Output = Result<Pushed, RepoError>> + Send;
}

/// How a branch came to where it shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// By this push.
    Now,
    /// It was there already.
    Before,
}

/// Which repository, and what opens it.
#[derive(Debug, Clone)]
pub struct RepoAccess {
    /// Its address.
    pub url: RepoUrl,
    /// What opens it.
    pub credentials: Credentials,
}

impl RepoAccess {
    /// A repository that is open to everybody, or opened by what its address holds.
    pub fn open(url: RepoUrl) -> Self {
        Self { url, credentials: Credentials::default() }
    }
}

/// What a commit says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The commit that it goes on top of. `None`: it is the first.
    pub parent: Option<CommitId>,
    /// Who it is by: `Name <address>`.
    pub author: String,
    /// When it was made, to the second.
    pub at: Timestamp,
    /// What it says, without line ends at its end.
    pub message: String,
}

/// Which files of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileQuery {
    /// Only text files that contain these bytes, within one line. `None`: every file.
    pub contains: Option<String>,
    /// Only files that one of these matches. Empty: everywhere.
    pub within: Vec<PathGlob>,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoFile {
    /// Where it is.
    pub path: FilePath,
    /// Its bytes, as they are in Git.
    pub content: Vec<u8>,
}

/// A commit to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The commit that it goes on top of.
    pub parent: CommitId,
    /// What happens to which files. All others stay as they are.
    pub files: BTreeMap<FilePath, FileChange>,
    /// What it says. A line end is added if it has none.
    pub message: String,
    /// Who it is by; author and committer are the same.
    pub author: Signature,
    /// When it was made, to the second.
    pub at: Timestamp,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It has these bytes from now on.
    Write(Vec<u8>),
    /// It is removed.
    Remove,
}

/// Who a commit is by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    name: String,
    email: String,
}

impl Signature {
    /// Checks a name and an address for what a commit cannot hold.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Result<Self, NameError> {
        let (name, email) = (name.into(), email.into());
        let fits = |text: &str| !text.contains(|c: char| c.is_control() || c == '<' || c == '>') && text.trim() == text;
        if !name.is_empty() && fits(&name) && fits(&email) {
            return Ok(Self { name, email });
        }
        Err(NameError {
            kind: "author",
            found: format!("{name} <{email}>"),
            rule: "use a name and an address without `<`, `>`, line ends, or spaces at the ends",
        })
    }

    /// The person's or program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Their address.
    pub fn email(&self) -> &str {
        &self.email
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// One branch to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// Which branch.
    pub branch: BranchName,
    /// Where it shall be. `None`: it shall be gone.
    pub commit: Option<CommitId>,
    /// Where it has to be now. `None`: it must not exist.
    pub expect: Option<CommitId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_cannot_break_out_of_the_commit() {
        assert!(Signature::new("Weir", "weir@example.org").is_ok());
        for (name, email) in [("", "a@b"), ("a\nb", "a@b"), ("a", "a>b"), ("a <b", "c"), (" a", "b")] {
            assert!(Signature::new(name, email).is_err(), "{name} {email}");
        }
    }

    #[test]
    fn a_repository_is_shown_without_what_opens_it() {
        let credentials = Credentials::from_secret([("password", b"geheim".as_slice())]).unwrap();
        let access = RepoAccess { url: RepoUrl::new("https://me:geheim@example.org/a").unwrap(), credentials };
        assert!(!format!("{access:?}").contains("geheim"));
    }
}
