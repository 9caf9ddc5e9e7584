//! What a commit says of itself.

use jiff::Timestamp;
use weir_core::CommitId;
use weir_ports::{Commit, Doing, RepoAccess, RepoError};

use crate::{
    cache::Presence,
    fault::Fault,
    program::{Call, Git},
    repos::Repository,
    sign_in::SignIn,
};

impl Repository {
    /// What a commit says of itself. A cache that is found damaged is made anew, once.
    pub(crate) async fn commit(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        commit: &CommitId,
    ) -> Result<Result<Commit, RepoError>, Fault> {
        let generation = self.cache.generation();
        match self.try_commit(git, sign_in, access, commit).await {
            Err(Fault::Damaged(_)) => {
                self.cache.renew(git, commit, generation).await?;
                self.try_commit(git, sign_in, access, commit).await
            }
            result => result,
        }
    }

    async fn try_commit(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        commit: &CommitId,
    ) -> Result<Result<Commit, RepoError>, Fault> {
        let _shared = self.cache.share(git, commit).await?;
        if self.cache.ensure(git, sign_in, commit).await? == Presence::Nowhere {
            let repository = access.url.clone();
            return Ok(Err(RepoError::NoCommit { repository, doing: Doing::Reading, commit: commit.clone() }));
        }
        // The object itself: a shallow cache would tell of a commit without parents.
        let call = Call::new(["cat-file", "commit", commit.as_str()]).within(&self.cache.path);
        let output = git.run(call).await?;
        if !output.succeeded() {
            return Err(Fault::told_of_cache(&output.stderr));
        }
        parse(&String::from_utf8_lossy(&output.stdout)).map(Ok).ok_or_else(|| {
            let reason = format!("commit `{commit}` has a form that nobody knows");
            Fault::Other(reason)
        })
    }
}

/// Reads the object: lines with a name and a value, an empty line, the message.
fn parse(text: &str) -> Option<Commit> {
    let (head, message) = text.split_once("\n\n").unwrap_or((text, ""));
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let (author, _) = person(field("author")?)?;
    let (_, at) = person(field("committer")?)?;
    let parent = field("parent").map(CommitId::new).transpose().ok()?;
    Some(Commit { parent, author: author.to_owned(), at, message: message.trim_end().to_owned() })
}

/// `Name <address> 1700000000 +0100`: who, and when.
fn person(text: &str) -> Option<(&str, Timestamp)> {
    let end = text.rfind('>')? + 1;
    let second = text.get(end..)?.split_whitespace().next()?.parse().ok()?;
    Some((text.get(..end)?, Timestamp::from_second(second).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_merge_is_read_as_what_it_says() {
        let (tree, one, other) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
        let text = format!(
            "tree {tree}\nparent {one}\nparent {other}\nauthor Ada <ada@example.org> 1700000000 +0100\n\
             committer Forge <> 1700000009 +0000\ngpgsig -----BEGIN\n \n -----END\n\nMerge it\n\nparent of all\n"
        );
        let commit = parse(&text).unwrap();
        assert_eq!(commit.parent, Some(CommitId::new(one).unwrap()));
        assert_eq!((&*commit.author, &*commit.message), ("Ada <ada@example.org>", "Merge it\n\nparent of all"));
        assert_eq!(commit.at, Timestamp::from_second(1_700_000_009).unwrap());
    }
}
