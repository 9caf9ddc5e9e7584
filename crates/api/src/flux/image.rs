//! The version that a container image tells.

use weir_core::{Revision, Version, Workload, WorkloadState};

use super::failed;

/// Puts the version of an image in the place of the one that Flux reports.
pub(super) fn replace(seen: &mut Workload, name: &str, images: &[String]) {
    let mut versions: Vec<Version> = Vec::new();
    for image in images.iter().filter_map(|image| Image::read(image)).filter(|image| image.is_named(name)) {
        let version = image.version();
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    let healthy = seen.state == WorkloadState::Healthy;
    match versions.as_slice() {
        [version] => seen.version = version.clone(),
        [] if images.is_empty() => {
            seen.version = Version::Nothing;
            if healthy {
                seen.state = WorkloadState::Progressing;
            }
        }
        [] => {
            seen.version = Version::Nothing;
            if healthy {
                *seen = failed(Version::Nothing, format!("runs no image `{name}`, but {}", images.join(", ")));
            }
        }
        several => {
            let several: Vec<_> = several.iter().map(shown).collect();
            *seen = failed(
                Version::Nothing,
                format!("runs image `{name}` in more than one version: {}", several.join(", ")),
            );
        }
    }
}

fn shown(version: &Version) -> String {
    match version {
        Version::Revision(revision) => revision.to_string(),
        Version::Branch(text) => text.to_string(),
        Version::Nothing => "none".to_owned(),
    }
}

struct Image<'a> {
    repository: &'a str,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

impl<'a> Image<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
        let path = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (repository, tag) = match rest[path..].find(':') {
            Some(colon) => (&rest[..path + colon], Some(&rest[path + colon + 1..])),
            None => (rest, None),
        };
        (!repository.is_empty()).then_some(Self { repository, tag, digest })
    }

    /// Whether it is the image of that name. The registry, and folders in it, may be left out of the name.
    fn is_named(&self, name: &str) -> bool {
        self.repository == name || self.repository.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'))
    }

    /// A tag is a version, except `latest`, which names nothing; then the digest is.
    fn version(&self) -> Version {
        let tag = self.tag.filter(|tag| *tag != "latest");
        match tag.or(self.digest).map(Revision::new) {
            Some(Ok(revision)) => Version::Revision(revision),
            _ => Version::Branch(format!("{}:latest", self.repository).into()),
        }
    }
}
