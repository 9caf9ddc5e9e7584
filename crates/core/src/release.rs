//! What is promoted: revisions, and the releases they make up.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::name::{Name, NameError, as_text};

/// A version that is promoted: a chart version, an image tag or digest, an OCI tag, a Git tag or a pinned commit.
///
/// It never carries a build suffix that Flux added; see [`Revision::from_flux`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Revision(Arc<str>);

impl Revision {
    /// Checks a version: one to 256 printable characters without white space.
    pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
        let text = text.as_ref();
        let fine = |c: char| !c.is_whitespace() && !c.is_control();
        if text.is_empty() || text.len() > 256 || !text.chars().all(fine) {
            return Err(NameError {
                kind: "revision",
                found: text.to_owned(),
                rule: "use 1 to 256 printable characters without spaces",
            });
        }
        Ok(Self(text.into()))
    }

    /// Reads a version as a Flux object or event reports it, without the build suffix that Flux itself added to it.
    pub fn from_flux(text: &str, suffix: FluxSuffix<'_>) -> Result<Self, NameError> {
        Self::new(suffix.strip(text))
    }

    /// The version as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The version as a semantic version, if it is one. A leading `v`, as Git tags have it, is fine.
    pub fn semver(&self) -> Option<semver::Version> {
        let text = self.0.strip_prefix('v').unwrap_or(&self.0);
        semver::Version::parse(text).ok()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl FromStr for Revision {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

as_text!(Revision);

/// What is known about a `+` suffix that Flux may have added to a chart version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FluxSuffix<'a> {
    /// The chart came from an OCI artifact with this digest: Flux replaced any build metadata by its first 12 digits.
    Digest(&'a str),
    /// The chart is rebuilt by Flux (values files, or one build per source revision): a suffix is Flux's.
    Rebuilt,
    /// Nothing is known, as with an event: a suffix is dropped if it has the form that Flux writes.
    Unknown,
    /// The version is the publisher's own, suffix and all.
    Publisher,
}

impl FluxSuffix<'_> {
    fn strip(self, text: &str) -> &str {
        let Some((version, suffix)) = text.split_once('+') else { return text };
        let ours = match self {
            FluxSuffix::Digest(digest) => {
                let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
                hex.get(..12) == Some(suffix)
            }
            FluxSuffix::Rebuilt | FluxSuffix::Unknown => is_flux_suffix(suffix),
            FluxSuffix::Publisher => false,
        };
        if ours { version } else { text }
    }
}

/// Twelve digits of a digest or commit, the generation of a `HelmChart`, or both with a dot between them.
fn is_flux_suffix(suffix: &str) -> bool {
    let is_hex = |text: &str| text.len() == 12 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    let is_generation = |text: &str| !text.is_empty() && text.len() < 10 && text.bytes().all(|c| c.is_ascii_digit());
    match suffix.split_once('.') {
        Some((hex, generation)) => is_hex(hex) && is_generation(generation),
        None => is_hex(suffix) || is_generation(suffix),
    }
}

/// The kinds of Flux object that deploy something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WorkloadKind {
    /// `helm.toolkit.fluxcd.io`
    HelmRelease,
    /// `kustomize.toolkit.fluxcd.io`
    Kustomization,
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HelmRelease => "HelmRelease",
            Self::Kustomization => "Kustomization",
        })
    }
}

/// A workload, by what it is called in every environment. Written `HelmRelease/podinfo`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkloadKey {
    /// Which kind of Flux object.
    pub kind: WorkloadKind,
    /// Its name.
    pub name: Name,
}

impl fmt::Display for WorkloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

impl fmt::Debug for WorkloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for WorkloadKey {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let kind = match text.split_once('/') {
            Some(("HelmRelease", name)) => Some((WorkloadKind::HelmRelease, name)),
            Some(("Kustomization", name)) => Some((WorkloadKind::Kustomization, name)),
            _ => None,
        };
        let (kind, name) = kind.ok_or_else(|| NameError {
            kind: "workload",
            found: text.to_owned(),
            rule: "write it as `HelmRelease/NAME` or `Kustomization/NAME`",
        })?;
        Ok(Self { kind, name: Name::new(name)? })
    }
}

as_text!(WorkloadKey);

/// The revisions that go together, one for each workload of a pipeline. Never empty.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    try_from = "std::collections::BTreeMap<WorkloadKey, Revision>",
    into = "std::collections::BTreeMap<WorkloadKey, Revision>"
)]
pub struct Release(Arc<[(WorkloadKey, Revision)]>);

/// A release must hold at least one workload, and none twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a release needs at least one workload with a revision, and each workload once")]
pub struct ReleaseError;

impl Release {
    /// A release of exactly one workload, as every pipeline with an `appRef` has it.
    pub fn of(workload: WorkloadKey, revision: Revision) -> Self {
        Self(Arc::new([(workload, revision)]))
    }

    /// A release of several workloads.
    pub fn new(members: impl IntoIterator<Item = (WorkloadKey, Revision)>) -> Result<Self, ReleaseError> {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort();
        let twice = members.windows(2).any(|pair| pair[0].0 == pair[1].0);
        if members.is_empty() || twice { Err(ReleaseError) } else { Ok(Self(members.into())) }
    }

    /// Its workloads and their revisions, in order of their names.
    pub fn members(&self) -> &[(WorkloadKey, Revision)] {
        &self.0
    }

    /// The revision of a workload.
    pub fn revision(&self, workload: &WorkloadKey) -> Option<&Revision> {
        self.0.iter().find(|(member, _)| member == workload).map(|(_, revision)| revision)
    }

    /// Whether everything in `other` is also in this release. An environment may run more than is promoted into it.
    pub fn covers(&self, other: &Release) -> bool {
        self == other || other.0.iter().all(|(workload, revision)| self.revision(workload) == Some(revision))
    }

    /// The one revision, if there is only one.
    pub fn single(&self) -> Option<&Revision> {
        match &*self.0 {
            [(_, revision)] => Some(revision),
            _ => None,
        }
    }
}

impl PartialEq for Release {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for Release {}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(revision) = self.single() {
            return write!(f, "{revision}");
        }
        for (position, (workload, revision)) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{} {revision}", workload.name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(workload, revision)| (workload, revision))).finish()
    }
}

impl TryFrom<std::collections::BTreeMap<WorkloadKey, Revision>> for Release {
    type Error = ReleaseError;
    fn try_from(members: std::collections::BTreeMap<WorkloadKey, Revision>) -> Result<Self, ReleaseError> {
        Self::new(members)
    }
}

impl From<Release> for std::collections::BTreeMap<WorkloadKey, Revision> {
    fn from(release: Release) -> Self {
        release.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, suffix: FluxSuffix<'_>) -> String {
        Revision::from_flux(text, suffix).unwrap().into()
    }

    #[test]
    fn a_suffix_that_flux_added_is_dropped() {
        assert_eq!(read("6.6.1+0cc9a8446c95", FluxSuffix::Digest("sha256:0cc9a8446c95ab12")), "6.6.1");
        assert_eq!(read("6.5.0+3", FluxSuffix::Rebuilt), "6.5.0");
        assert_eq!(read("6.5.0+0cc9a8446c95.3", FluxSuffix::Rebuilt), "6.5.0");
        assert_eq!(read("6.6.1+0cc9a8446c95", FluxSuffix::Unknown), "6.6.1");
    }

    #[test]
    fn a_suffix_of_the_publisher_is_kept() {
        assert_eq!(read("6.6.1+0cc9a8446c95", FluxSuffix::Digest("sha256:ffffffffffff")), "6.6.1+0cc9a8446c95");
        assert_eq!(read("1.0.0+build.7", FluxSuffix::Unknown), "1.0.0+build.7");
        assert_eq!(read("1.0.0+7", FluxSuffix::Publisher), "1.0.0+7");
    }

    #[test]
    fn a_release_covers_what_is_part_of_it() {
        let (a, b) = ("HelmRelease/a".parse().unwrap(), "HelmRelease/b".parse().unwrap());
        let (one, two) = (Revision::new("1").unwrap(), Revision::new("2").unwrap());
        let small = Release::of(WorkloadKey::clone(&a), one.clone());
        let large = Release::new([(b, two), (a, one)]).unwrap();
        assert!(large.covers(&small) && !small.covers(&large));
        assert_eq!(large.to_string(), "a 1, b 2");
        assert!(Release::new([]).is_err());
    }

    #[test]
    fn a_revision_is_never_empty_and_has_no_spaces() {
        assert!(Revision::new("").is_err() && Revision::new("a b").is_err() && Revision::new("a\nb").is_err());
    }
}
