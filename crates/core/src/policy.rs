//! How a release gets into an environment, as it is defined.

use std::{fmt, str::FromStr};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::name::{BranchName, Name, NameError};

/// How a release is brought into an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// By what means.
    pub strategy: Strategy,
    /// When a release may leave the environment before.
    pub when: When,
    /// Who merges a proposal.
    pub merge: Merge,
    /// What happens to a promotion under way when a newer release comes.
    pub concurrency: Concurrency,
    /// How long a delivered release may take to be seen healthy on every target.
    pub deploy_timeout: SignedDuration,
}

impl Policy {
    /// What a pipeline that names only a strategy gets: any one target is enough, people merge, what is approved
    /// finishes first, and a deployment has an hour.
    pub fn with(strategy: Strategy) -> Self {
        Self {
            strategy,
            when: When::Any,
            merge: Merge::People,
            concurrency: Concurrency::Finish,
            deploy_timeout: SignedDuration::from_hours(1),
        }
    }
}

/// By what means a promotion is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// A change on a branch of its own, proposed for review.
    PullRequest(PullRequest),
    /// A commit on the base branch.
    Push(Repository),
    /// An event that somebody else acts on.
    Notification,
}

impl Strategy {
    /// The repository that says what the environment runs. `None`: none does.
    pub fn repository(&self) -> Option<&Repository> {
        match self {
            Self::PullRequest(it) => Some(&it.repository),
            Self::Push(repository) => Some(repository),
            Self::Notification => None,
        }
    }

    /// The forge that its pull requests are on. `None`: there are none, or Weir keeps the proposals itself.
    pub fn forge(&self) -> Option<ForgeKind> {
        match self {
            Self::PullRequest(it) => Some(it.forge).filter(|forge| *forge != ForgeKind::Git),
            Self::Push(_) | Self::Notification => None,
        }
    }
}

/// Where a pull request is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// What kind of server keeps the proposals.
    pub forge: ForgeKind,
    /// The repository and branch that are changed.
    pub repository: Repository,
}

/// A branch of a Git repository, and the Secret that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its address.
    pub url: RepoUrl,
    /// The branch that environments follow.
    pub base: BranchName,
    /// A Secret in the pipeline's namespace.
    pub secret: Option<Name>,
}

/// What kind of server a repository is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ForgeKind {
    /// github.com or GitHub Enterprise.
    GitHub,
    /// gitlab.com or a GitLab of one's own.
    GitLab,
    /// Gitea or Forgejo.
    Gitea,
    /// Bitbucket Data Center.
    BitbucketServer,
    /// bitbucket.org.
    BitbucketCloud,
    /// Azure DevOps.
    AzureDevOps,
    /// Any Git server: Weir keeps the proposals itself.
    Git,
}

/// The address of a Git repository. Shown without credentials, whatever was written into it.
#[derive(Clone, PartialEq, Eq)]
pub struct RepoUrl(String);

impl RepoUrl {
    /// Checks an address: `https://`, `http://`, `ssh://`, `file://` or `user@host:path`.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let known = ["https://", "http://", "ssh://", "file://"];
        let with_scheme = known.iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
        let scp = !text.contains("://")
            && text
                .split_once(':')
                .is_some_and(|(host, path)| !host.is_empty() && !host.contains('/') && !path.is_empty());
        let clean = !text.starts_with('-') && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if clean && (with_scheme || scp) {
            return Ok(Self(text));
        }
        Err(NameError {
            kind: "repository address",
            found: Self(text).to_string(),
            rule: "use `https://`, `ssh://`, `file://` or `user@host:path`",
        })
    }

    /// The address as it was written, credentials and all. For the Git program only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://") else { return f.write_str(&self.0) };
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        write!(f, "{scheme}://{host}{}", path.split(['?', '#']).next().unwrap_or_default())
    }
}

impl fmt::Debug for RepoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// When a release may leave an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// One target runs it.
    Any,
    /// Every target runs it.
    All,
    /// That many targets run it.
    Count(u32),
    /// That share of the targets runs it, rounded up.
    Percent(u8),
}

impl When {
    /// How many of so many targets have to run a release. Never none.
    pub fn needed(self, targets: usize) -> usize {
        let needed = match self {
            Self::Any => 1,
            Self::All => targets,
            Self::Count(count) => count as usize,
            Self::Percent(percent) => (targets * usize::from(percent)).div_ceil(100),
        };
        needed.max(1)
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::All => f.write_str("all"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for When {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let found = match text {
            "any" => Some(Self::Any),
            "all" => Some(Self::All),
            _ => match text.strip_suffix('%') {
                Some(percent) => percent.parse().ok().filter(|p| (1..=100).contains(p)).map(Self::Percent),
                None => text.parse().ok().filter(|count| *count > 0).map(Self::Count),
            },
        };
        found.ok_or_else(|| NameError {
            kind: "`when`",
            found: text.to_owned(),
            rule: "use `any`, `all`, a count from 1, or a percentage from 1% to 100%",
        })
    }
}

/// Who merges a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// A person, on the forge or in Weir.
    People,
    /// Weir, once every gate is open and every check has passed.
    Auto,
}

/// What happens to a promotion that is approved or merging when a newer release is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// It finishes first.
    Finish,
    /// The newer release takes its place.
    Latest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_targets_is_rounded_up_and_never_none() {
        assert_eq!(When::Percent(50).needed(3), 2);
        assert_eq!(When::Percent(1).needed(3), 1);
        assert_eq!(When::All.needed(0), 1);
        assert_eq!(When::Count(5).needed(3), 5);
    }

    #[test]
    fn when_is_read_as_it_is_written() {
        for text in ["any", "all", "2", "50%"] {
            assert_eq!(text.parse::<When>().unwrap().to_string(), text);
        }
        for bad in ["", "0", "0%", "101%", "some", "-1"] {
            assert!(bad.parse::<When>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_repository_address_is_shown_without_credentials() {
        let url = RepoUrl::new("https://user:geheim@example.org/a/b.git?token=geheim").unwrap();
        assert_eq!(url.to_string(), "https://example.org/a/b.git");
        assert_eq!(format!("{url:?}"), "https://example.org/a/b.git");
        let error = RepoUrl::new("ftp://user:geheim@example.org/a").unwrap_err().to_string();
        assert!(!error.contains("geheim"), "{error}");
    }

    #[test]
    fn an_address_that_the_git_program_would_take_for_an_option_is_refused() {
        for bad in ["--upload-pack=x:y", "", "https://", "/tmp/x", "ext::sh -c x"] {
            assert!(RepoUrl::new(bad).is_err(), "{bad}");
        }
        for good in ["git@example.org:a/b.git", "ssh://git@example.org/a", "file:///tmp/a"] {
            assert!(RepoUrl::new(good).is_ok(), "{good}");
        }
    }
}
