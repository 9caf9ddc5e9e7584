//! What went wrong with one call of the program. The only place that reads what Git says to people.

use std::{io, time::Duration};

use weir_core::RepoUrl;
use weir_ports::{Doing, RepoError};

/// What went wrong with one call, before it is known what the call was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    Unreachable(String),
    RateLimited(String),
    Unauthorized(String),
    Untrusted(String),
    NotFound(String),
    /// The server does not have, or not give out, a commit that was asked for by its id.
    NoCommit(String),
    DiskFull,
    Damaged(String),
    TimedOut {
        after: Duration,
    },
    Other(String),
}

/// What Git and `ssh` say, most telling first. All in lowercase.
const SAYINGS: &[(Kind, &[&str])] = &[
    (Kind::DiskFull, &["no space left on device", "out of diskspace", "disk quota exceeded"]),
    (
        Kind::Untrusted,
        &[
            "host key verification failed",
            "ssl certificate problem",
            "certificate verification failed",
            "certificate verify failed",
            "local issuer certificate",
            "error setting certificate",
            "does not match target host name",
        ],
    ),
    (Kind::RateLimited, &["returned error: 429", "too many requests", "rate limit"]),
    (
        Kind::Unauthorized,
        &[
            "authentication failed",
            "could not read username",
            "could not read password",
            "terminal prompts disabled",
            "returned error: 401",
            "returned error: 403",
            "permission denied",
            "access denied",
            "denied to",
            "marked as read only",
        ],
    ),
    (
        Kind::NotFound,
        &[
            "does not appear to be a git repository",
            "repository not found",
            "returned error: 404",
            "' not found",
            "could not be found",
            "does not exist or",
            "repository does not exist",
        ],
    ),
    (Kind::NoCommit, &["not our ref", "unadvertised object", "couldn't find remote ref", "does not match any"]),
    (
        Kind::Damaged,
        &[
            "corrupt",
            "bad object",
            "bad tree",
            "missing blob",
            "missing tree",
            "missing commit",
            "unable to read",
            "could not read shallow",
            "cannot read",
            "does not match index",
            "far too short to be a packfile",
            "cannot be accessed",
            "cannot be mapped",
            "inflate",
            "hash mismatch",
            "sha1 mismatch",
            "invalid sha1 pointer",
            "did not send all necessary objects",
            "not a valid object",
            "not a git repository",
            ".lock': file exists",
            "bad config",
            "bad pack header",
            "bad shallow",
            "index-pack",
        ],
    ),
    (
        Kind::Unreachable,
        &[
            "could not resolve",
            "connection",
            "couldn't connect",
            "failed to connect",
            "no route to host",
            "network is unreachable",
            "timed out",
            "returned error: 5",
            "early eof",
            "hung up",
            "rpc failed",
            "unexpected disconnect",
            "unable to access",
            "could not read from remote repository",
            "empty reply",
            "expected flush",
            "protocol error",
        ],
    ),
];

#[derive(Clone, Copy)]
enum Kind {
    Unreachable,
    RateLimited,
    Unauthorized,
    Untrusted,
    NotFound,
    NoCommit,
    DiskFull,
    Damaged,
}

impl Fault {
    /// What a call that failed has said, which may be about the server, the way to it, or the cache.
    ///
    /// The address is not counted: it may hold any word.
    pub(crate) fn told(stderr: &str, address: &str) -> Self {
        let place = address.strip_prefix("file://").unwrap_or(address);
        let said =
            stderr.replace(address, "").replace(if place.is_empty() { address } else { place }, "").to_lowercase();
        let of_server = |line: &&str| line.starts_with("remote:") || line.starts_with("error: remote unpack failed");
        let own = said.lines().filter(|line| !of_server(line)).collect::<Vec<_>>().join("\n");
        // A server on the same machine speaks without a prefix; that it could not take what was sent is its own fault.
        let refused = ["remote unpack failed", "unpacker error"].iter().any(|saying| said.contains(saying));
        let found = SAYINGS.iter().find(|(kind, sayings)| {
            // The disk and the objects of the server are not ours.
            let text = if matches!(kind, Kind::DiskFull | Kind::Damaged) { &own } else { &said };
            let theirs = refused && matches!(kind, Kind::DiskFull);
            !theirs && sayings.iter().any(|saying| text.contains(saying))
        });
        let reason = gist(stderr);
        match found.map(|(kind, _)| *kind) {
            Some(Kind::Unreachable) => Self::Unreachable(reason),
            Some(Kind::RateLimited) => Self::RateLimited(reason),
            Some(Kind::Unauthorized) => Self::Unauthorized(reason),
            Some(Kind::Untrusted) => Self::Untrusted(reason),
            Some(Kind::NotFound) => Self::NotFound(reason),
            Some(Kind::NoCommit) => Self::NoCommit(reason),
            Some(Kind::DiskFull) => Self::DiskFull,
            Some(Kind::Damaged) => Self::Damaged(reason),
            None => Self::Other(reason),
        }
    }

    /// What a call that only has to do with the cache has said. It can fail for a full disk or a damaged cache.
    pub(crate) fn told_of_cache(stderr: &str) -> Self {
        match Self::told(stderr, "file://") {
            Self::DiskFull => Self::DiskFull,
            _ => Self::Damaged(gist(stderr)),
        }
    }

    pub(crate) fn into_error(self, doing: Doing, repository: &RepoUrl) -> RepoError {
        let repository = repository.clone();
        match self {
            Self::Unreachable(reason) => RepoError::Unreachable { repository, doing, reason },
            Self::RateLimited(reason) => RepoError::RateLimited { repository, doing, reason },
            Self::Unauthorized(reason) => RepoError::Unauthorized { repository, doing, reason },
            Self::Untrusted(reason) => RepoError::Untrusted { repository, doing, reason },
            Self::NotFound(reason) => RepoError::NotFound { repository, doing, reason },
            Self::DiskFull => RepoError::DiskFull { repository, doing },
            Self::Damaged(reason) => RepoError::Damaged { repository, doing, reason },
            Self::TimedOut { after } => RepoError::TimedOut { repository, doing, after },
            Self::NoCommit(reason) | Self::Other(reason) => RepoError::Other { repository, doing, reason },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Other(error.to_string()),
        }
    }
}

/// The telling part of what Git said, in one line: what it calls fatal or an error, and what the server said.
pub(crate) fn gist(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let telling = |line: &&&str| ["fatal:", "error:", "remote:", "ERROR"].iter().any(|word| line.starts_with(word));
    let told: Vec<&str> = lines.iter().filter(telling).copied().collect();
    let told = if told.is_empty() { lines } else { told };
    let line = told.into_iter().filter(|line| *line != "remote:").take(6).collect::<Vec<_>>().join("; ");
    match line.char_indices().nth(600) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "Git gave no reason".into(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(stderr: &str) -> Fault {
        Fault::told(stderr, "https://example.org/fleet.git")
    }

    #[test]
    fn a_full_disk_is_ours_only_if_git_says_so_and_not_the_server() {
        let ours = "fatal: unable to write loose object file: No space left on device\nfatal: unpack-objects failed";
        assert_eq!(told(ours), Fault::DiskFull);
        assert_eq!(Fault::told_of_cache(ours), Fault::DiskFull);
        let theirs = "remote: fatal: write error: No space left on device\n\
                      error: remote unpack failed: index-pack abnormal exit";
        assert!(matches!(told(theirs), Fault::Other(_)), "{:?}", told(theirs));
        let beside = "fatal: write error: No space left on device\n\
                      error: remote unpack failed: unpack-objects abnormal exit\n\
                      ! [remote rejected] main -> main (unpacker error)";
        assert!(matches!(told(beside), Fault::Other(_)), "{:?}", told(beside));
    }

    #[test]
    fn forges_are_understood() {
        let denied = ["remote: HTTP Basic: Access denied", "ERROR: Permission to a/b.git denied to c."];
        for said in denied {
            assert!(matches!(told(said), Fault::Unauthorized(_)), "{said}");
        }
        let missing = ["remote: Repository not found.", "fatal: repository 'https://example.org/fleet.git/' not found"];
        for said in missing {
            assert!(matches!(told(said), Fault::NotFound(_)), "{said}");
        }
        let untrusted =
            ["Host key verification failed.", "fatal: unable to access '': SSL certificate problem: expired"];
        for said in untrusted {
            assert!(matches!(told(said), Fault::Untrusted(_)), "{said}");
        }
    }

    #[test]
    fn the_name_of_a_repository_is_no_reason() {
        let address = "https://example.org/permission-denied/corrupt.git";
        let said = format!("fatal: unable to access '{address}/': Failed to connect to example.org");
        assert!(matches!(Fault::told(&said, address), Fault::Unreachable(_)));
    }

    #[test]
    fn a_reason_is_one_line_of_what_matters() {
        let said = "hint: a\nremote: \nremote: main needs a review\nfatal: no\n";
        assert_eq!(gist(said), "remote: main needs a review; fatal: no");
        assert_eq!(gist(""), "Git gave no reason");
    }
}
