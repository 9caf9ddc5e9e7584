//! Events that forges post: whether they are really from there, and what they are about.
//!
//! [`hear`] is pure: it looks at the headers, at the very bytes of the body and at the key, and knows nothing else. The
//! address that an event was posted to is not signed, so an event is only a reason to look again.

use aws_lc_rs::hmac;
use reqwest::header::{HeaderMap, HeaderName};
use serde::Deserialize;
use thiserror::Error;
use weir_core::{BranchName, ForgeKind};

/// The headers that may carry a signature, the best known first. All of them are of SHA-256.
const SIGNATURES: [&str; 4] = ["x-forgejo-signature", "x-gitea-signature", "x-hub-signature-256", "x-gogs-signature"];
const EVENTS: [&str; 3] = ["x-forgejo-event", "x-gitea-event", "x-gogs-event"];

/// What a forge posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// What happened.
    pub what: Happened,
    /// On which branch: the one that is proposed, or that was pushed to. `None`: the event does not tell.
    pub branch: Option<BranchName>,
}

/// What happened on a forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// A pull request was opened, changed, merged, closed or reopened.
    PullRequest,
    /// Somebody reviewed one.
    Review,
    /// Somebody commented on one.
    Comment,
    /// A check said something about a commit.
    Check,
    /// A branch moved.
    Push,
    /// Nothing that is of interest here.
    Other,
}

/// Why an event is not believed. Holds neither the signature nor the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refused {
    /// It is not signed.
    #[error("the event has no signature; set a secret where the forge is told to post it")]
    Unsigned,
    /// It is signed in a way that nobody here can check.
    #[error("the signature has to be the HMAC of the body with SHA-256, in hexadecimal digits, and there once")]
    Form,
    /// Somebody else has signed it.
    #[error("the signature is wrong; check that the forge's secret is the `hmac-key` of the Secret, to the last byte")]
    Wrong,
    /// Nobody here knows how that kind of forge signs.
    #[error("events of {0:?} are not understood here")]
    Unsupported(ForgeKind),
    /// It is signed as it should be, and makes no sense.
    #[error("the body is no event: {0}")]
    Unreadable(&'static str),
}

/// Tells what an event is about, if it was signed with the key.
pub fn hear(kind: ForgeKind, headers: &HeaderMap, body: &[u8], key: &[u8]) -> Result<Heard, Refused> {
    if kind != ForgeKind::Gitea {
        return Err(Refused::Unsupported(kind));
    }
    verify(headers, body, key)?;
    let event = one(headers, &EVENTS)?.ok_or(Refused::Unreadable("no header says which event it is"))?;
    let what = match event {
        "pull_request" => Happened::PullRequest,
        "pull_request_approved" | "pull_request_rejected" | "pull_request_comment" => Happened::Review,
        "issue_comment" => Happened::Comment,
        "status" | "workflow_run" | "workflow_job" => Happened::Check,
        "push" => Happened::Push,
        _ => Happened::Other,
    };
    let event: Event = serde_json::from_slice(body).map_err(|_| Refused::Unreadable("it has to be a JSON object"))?;
    Ok(Heard { what, branch: event.branch() })
}

fn verify(headers: &HeaderMap, body: &[u8], key: &[u8]) -> Result<(), Refused> {
    let text = one(headers, &SIGNATURES)?.ok_or(Refused::Unsigned)?;
    let digits = text.strip_prefix("sha256=").unwrap_or(text);
    let tag = bytes(digits).ok_or(Refused::Form)?;
    // Whoever has an empty key has none.
    if key.is_empty() {
        return Err(Refused::Wrong);
    }
    // Compares in constant time, and takes no tag that is cut short.
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), body, &tag).map_err(|_| Refused::Wrong)
}

/// The first of these headers that is there and not empty. One that is there twice is ambiguous.
fn one<'h>(headers: &'h HeaderMap, names: &[&'static str]) -> Result<Option<&'h str>, Refused> {
    for name in names.iter().copied().map(HeaderName::from_static) {
        let mut all = headers.get_all(name).iter();
        if let Some(first) = all.next() {
            let first = first.to_str().ok().filter(|_| all.next().is_none()).ok_or(Refused::Form)?;
            if !first.is_empty() {
                return Ok(Some(first));
            }
        }
    }
    Ok(None)
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}

/// What events have in common.
#[derive(Debug, Deserialize)]
struct Event {
    /// Where a push went.
    #[serde(rename = "ref")]
    to: Option<String>,
    pull_request: Option<PullRequest>,
}

#[derive(Debug, Deserialize)]
struct PullRequest {
    head: Option<Head>,
}

#[derive(Debug, Deserialize)]
struct Head {
    label: Option<String>,
}

impl Event {
    fn branch(self) -> Option<BranchName> {
        let proposed = self.pull_request.and_then(|it| it.head).and_then(|head| head.label);
        let pushed = self.to.and_then(|to| to.strip_prefix("refs/heads/").map(str::to_owned));
        proposed.or(pushed).and_then(|name| BranchName::new(name).ok())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const BODY: &[u8] = br#"{"action":"closed","pull_request":{"head":{"label":"promote"}}}"#;

    fn signature(key: &[u8], body: &[u8]) -> String {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), body);
        tag.as_ref().iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn signed(event: &str, body: &[u8]) -> Result<Heard, Refused> {
        let headers = headers(&[("x-gitea-event", event), ("x-gitea-signature", &signature(b"key", body))]);
        hear(ForgeKind::Gitea, &headers, body, b"key")
    }

    #[test]
    fn an_event_says_what_happened_and_on_which_branch() {
        let branch = Some("promote".parse().unwrap());
        let heard = |what| Ok(Heard { what, branch: branch.clone() });
        assert_eq!(signed("pull_request", BODY), heard(Happened::PullRequest));
        assert_eq!(signed("pull_request_approved", BODY), heard(Happened::Review));
        assert_eq!(signed("issue_comment", br#"{"issue":{}}"#), Ok(Heard { what: Happened::Comment, branch: None }));
        assert_eq!(signed("push", br#"{"ref":"refs/heads/promote"}"#), heard(Happened::Push));
        assert_eq!(signed("push", br#"{"ref":"refs/tags/x"}"#), Ok(Heard { what: Happened::Push, branch: None }));
        assert_eq!(signed("status", b"{}"), Ok(Heard { what: Happened::Check, branch: None }));
        assert_eq!(signed("fork", b"{}"), Ok(Heard { what: Happened::Other, branch: None }));
    }

    #[test]
    fn every_header_that_gitea_and_forgejo_sign_with_is_known() {
        let plain = signature(b"key", BODY);
        let prefixed = format!("sha256={plain}");
        let all = [
            ("x-forgejo-signature", &plain),
            ("x-gitea-signature", &plain),
            ("x-gogs-signature", &plain),
            ("x-hub-signature-256", &prefixed),
        ];
        for (name, value) in all {
            let headers = headers(&[("x-forgejo-event", "pull_request"), (name, value)]);
            assert!(hear(ForgeKind::Gitea, &headers, BODY, b"key").is_ok(), "{name}");
        }
    }

    #[test]
    fn what_is_not_signed_as_it_should_be_is_not_believed() {
        let right = signature(b"key", BODY);
        let check = |value: &str| {
            let headers = headers(&[("x-gitea-event", "push"), ("x-gitea-signature", value)]);
            hear(ForgeKind::Gitea, &headers, BODY, b"key").map(drop)
        };
        assert_eq!(check(&right), Ok(()));
        assert_eq!(check(&signature(b"other", BODY)), Err(Refused::Wrong));
        assert_eq!(check(&signature(b"key", b"other")), Err(Refused::Wrong));
        assert_eq!(check(&right[..62]), Err(Refused::Wrong));
        assert_eq!(check(&right[..63]), Err(Refused::Form));
        assert_eq!(check("sha1=00zz"), Err(Refused::Form));
        assert_eq!(check(""), Err(Refused::Unsigned));
        assert_eq!(hear(ForgeKind::Gitea, &HeaderMap::new(), BODY, b"key"), Err(Refused::Unsigned));
        let twice = headers(&[("x-gitea-signature", &right), ("x-gitea-signature", &right)]);
        assert_eq!(hear(ForgeKind::Gitea, &twice, BODY, b"key"), Err(Refused::Form));
        let empty = headers(&[("x-gitea-event", "push"), ("x-gitea-signature", &signature(b"", BODY))]);
        assert_eq!(hear(ForgeKind::Gitea, &empty, BODY, b""), Err(Refused::Wrong));
    }

    #[test]
    fn nothing_is_read_before_the_signature_is_checked() {
        assert_eq!(signed("push", b"no event"), Err(Refused::Unreadable("it has to be a JSON object")));
        let headers = headers(&[("x-gitea-event", "push"), ("x-gitea-signature", "00")]);
        assert_eq!(hear(ForgeKind::Gitea, &headers, b"no event", b"key"), Err(Refused::Wrong));
        assert_eq!(hear(ForgeKind::GitHub, &headers, BODY, b"key"), Err(Refused::Unsupported(ForgeKind::GitHub)));
    }
}
