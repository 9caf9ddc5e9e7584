//! What the revision of a Flux source says: a tag and a digest are versions, a commit on a branch is none.

use serde_json::Value;
use weir_core::{Revision, Version};

/// What a source follows, as its `spec.ref` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// A branch.
    Branch,
    /// A tag, or the newest of a range.
    Tag,
    /// A commit.
    Commit,
    /// A digest.
    Digest,
    /// A Git reference by its full name.
    Reference,
}

/// A Flux source, as far as it tells what its revision means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Source<'a> {
    /// Its kind, such as `GitRepository`.
    pub kind: Option<&'a str>,
    /// What it follows. `None`: not known, so that a tag is one only if it is a semantic version.
    pub follows: Option<Follows>,
    /// The revision of its artifact.
    pub revision: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// Reads a source object. Of several settings, the one that Flux prefers counts.
    pub fn of(object: &'a Value) -> Self {
        let kind = object.get("kind").and_then(Value::as_str);
        let set = |field: &str| object.pointer(&format!("/spec/ref/{field}")).is_some();
        let git = [
            ("commit", Follows::Commit),
            ("name", Follows::Reference),
            ("semver", Follows::Tag),
            ("tag", Follows::Tag),
            ("branch", Follows::Branch),
        ];
        let oci = [("digest", Follows::Digest), ("semver", Follows::Tag), ("tag", Follows::Tag)];
        let first = |list: &[(&str, Follows)]| list.iter().find(|(field, _)| set(field)).map(|(_, follows)| *follows);
        let follows = match kind {
            Some("GitRepository") => Some(first(&git).unwrap_or(Follows::Branch)),
            Some("OCIRepository") => Some(first(&oci).unwrap_or(Follows::Tag)),
            _ => None,
        };
        Self { kind, follows, revision: object.pointer("/status/artifact/revision").and_then(Value::as_str) }
    }

    /// The version that its revision stands for. With `commits_count`, a commit on a branch is one too.
    pub(super) fn version(&self, commits_count: bool) -> Version {
        let Some(text) = self.revision else { return Version::Nothing };
        let moves = |name: &str, exact: &str| {
            if commits_count { revision(exact) } else { Version::Branch(name.into()) }
        };
        let (name, digest) = parts(text);
        let (algorithm, hex) = digest.split_once(':').unwrap_or(("", digest));
        let git = self.kind == Some("GitRepository") || matches!(algorithm, "sha1" | "");
        match (self.kind, name) {
            // What these hold is not chosen by a reference that a promotion could change.
            (Some("Bucket" | "ExternalArtifact"), name) => moves(name.unwrap_or("its source"), digest),
            (_, Some(name)) if git => match self.follows {
                Some(Follows::Commit) => revision(hex),
                Some(Follows::Tag) => revision(name),
                Some(Follows::Branch) => moves(name, hex),
                Some(Follows::Reference | Follows::Digest) | None => match name.strip_prefix("refs/tags/") {
                    Some(tag) => revision(tag),
                    None if self.follows.is_none() && is_semver(name) => revision(name),
                    None => moves(name.strip_prefix("refs/heads/").unwrap_or(name), hex),
                },
            },
            (_, None) if git => revision(hex),
            // `latest` names nothing: the digest behind it does.
            (_, None | Some("latest")) => revision(digest),
            (_, Some(tag)) => revision(tag),
        }
    }
}

/// The name and the digest of a revision: `main@sha1:…`, `sha1:…`, or as Flux wrote them before 2.0, `main/…`.
fn parts(text: &str) -> (Option<&str>, &str) {
    if let Some((name, digest)) = text.rsplit_once('@') {
        return (Some(name), digest);
    }
    let is_commit = |hex: &str| hex.len() == 40 && hex.bytes().all(|c| c.is_ascii_hexdigit());
    match text.rsplit_once('/') {
        Some((name, hex)) if is_commit(hex) => (Some(name), hex),
        _ => (None, text),
    }
}

fn is_semver(name: &str) -> bool {
    Revision::new(name).is_ok_and(|revision| revision.semver().is_some())
}

fn revision(text: &str) -> Version {
    Revision::new(text).map_or(Version::Nothing, Version::Revision)
}
