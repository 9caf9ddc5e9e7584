//! The parts of an image reference: `registry:5000/team/app:1.0@sha256:…`.
//!
//! A scalar need not be a whole reference: charts keep tag, name and digest apart. What has no `/`, `:` or `@` is one
//! part standing alone, and is replaced whole.

use crate::marker::Part;

/// A reference, taken apart. The name holds the registry and, if there is one, its scheme.
struct Reference<'t> {
    name: &'t str,
    tag: Option<&'t str>,
    digest: Option<&'t str>,
}

impl<'t> Reference<'t> {
    fn read(text: &'t str) -> Option<Self> {
        if is_digest(text) || !text.contains(['/', ':', '@']) {
            return None;
        }
        let (image, digest) = text.split_once('@').map_or((text, None), |(image, digest)| (image, Some(digest)));
        let last_segment = image.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match image[last_segment..].split_once(':') {
            Some((segment, tag)) => (&image[..last_segment + segment.len()], Some(tag)),
            None => (image, None),
        };
        Some(Self { name, tag, digest })
    }

    fn written(&self) -> String {
        let tag = self.tag.map(|tag| format!(":{tag}")).unwrap_or_default();
        let digest = self.digest.map(|digest| format!("@{digest}")).unwrap_or_default();
        format!("{}{tag}{digest}", self.name)
    }
}

/// Sets the tag. A digest that stood beside the old tag becomes the given one, or goes: it names the old image, and a
/// cluster would go on to run that. `None` if a digest stands alone there.
pub(crate) fn with_tag(current: &str, tag: &str, digest: Option<&str>) -> Option<String> {
    if is_digest(current) {
        return None;
    }
    Some(match Reference::read(current) {
        Some(old) => Reference { tag: Some(tag), digest: old.digest.and(digest), ..old }.written(),
        None => tag.to_owned(),
    })
}

/// Sets the name. Tag and digest stay: an image that is copied to another registry keeps both. `None` if a digest
/// stands alone there.
pub(crate) fn with_name(current: &str, name: &str) -> Option<String> {
    if is_digest(current) {
        return None;
    }
    Some(match Reference::read(current) {
        Some(old) => Reference { name, ..old }.written(),
        None => name.to_owned(),
    })
}

/// Sets the digest, and adds it to a reference that had none.
pub(crate) fn with_digest(current: &str, digest: &str) -> String {
    match Reference::read(current) {
        Some(old) => Reference { digest: Some(digest), ..old }.written(),
        None => digest.to_owned(),
    }
}

/// The part of a value, if it is there.
pub(crate) fn part(value: &str, part: Part) -> Option<&str> {
    match (part, Reference::read(value)) {
        (Part::Whole, _) => Some(value),
        (Part::Tag, Some(reference)) => reference.tag,
        (Part::Name, Some(reference)) => Some(reference.name),
        (Part::Digest, Some(reference)) => reference.digest,
        (Part::Tag | Part::Name, None) => (!value.is_empty() && !is_digest(value)).then_some(value),
        (Part::Digest, None) => is_digest(value).then_some(value),
    }
}

pub(crate) fn is_tag(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text.len() <= 128
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

pub(crate) fn is_name(text: &str) -> bool {
    let allowed = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte));
    let alone = Reference::read(text).is_none_or(|reference| reference.tag.is_none() && !reference.name.ends_with('/'));
    !text.is_empty() && allowed && alone && !is_digest(text)
}

pub(crate) fn is_digest(text: &str) -> bool {
    let Some((algorithm, hash)) = text.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hash.len() == length && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(digit: char) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    #[test]
    fn the_port_of_a_registry_is_no_tag() {
        assert_eq!(with_tag("registry:5000/app", "2.0", None).unwrap(), "registry:5000/app:2.0");
        assert_eq!(with_tag("registry:5000/app:1.0", "2.0", None).unwrap(), "registry:5000/app:2.0");
    }

    #[test]
    fn a_tag_alone_is_replaced_whole() {
        assert_eq!(with_tag("1.0", "2.0", None).unwrap(), "2.0");
        assert_eq!(with_tag("", "2.0", None).unwrap(), "2.0");
    }

    #[test]
    fn a_new_tag_drops_the_old_digest() {
        let current = format!("app:1.0@{}", digest('a'));
        assert_eq!(with_tag(&current, "2.0", None).unwrap(), "app:2.0");
    }

    #[test]
    fn a_new_tag_takes_its_own_digest_along_where_one_stood() {
        let current = format!("app:1.0@{}", digest('a'));
        assert_eq!(with_tag(&current, "2.0", Some(&digest('b'))).unwrap(), format!("app:2.0@{}", digest('b')));
        assert_eq!(with_tag("app:1.0", "2.0", Some(&digest('b'))).unwrap(), "app:2.0");
    }

    #[test]
    fn a_digest_has_neither_tag_nor_name() {
        assert_eq!(with_tag(&digest('a'), "2.0", None), None);
        assert_eq!(with_name(&digest('a'), "app"), None);
    }

    #[test]
    fn a_new_name_keeps_tag_and_digest() {
        let current = format!("dev.example.org/app:1.0@{}", digest('a'));
        assert_eq!(
            with_name(&current, "prod.example.org:5000/app").unwrap(),
            format!("prod.example.org:5000/app:1.0@{}", digest('a'))
        );
    }

    #[test]
    fn a_digest_is_set_alone_or_behind_the_name() {
        assert_eq!(with_digest(&digest('a'), &digest('b')), digest('b'));
        assert_eq!(with_digest("", &digest('b')), digest('b'));
        assert_eq!(with_digest(&format!("app@{}", digest('a')), &digest('b')), format!("app@{}", digest('b')));
        assert_eq!(with_digest("app:1.0", &digest('b')), format!("app:1.0@{}", digest('b')));
    }

    #[test]
    fn a_commit_used_as_tag_is_no_digest() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(part(&format!("app:{commit}"), Part::Tag), Some(commit));
    }

    #[test]
    fn the_scheme_of_an_oci_address_belongs_to_the_name() {
        assert_eq!(part("oci://example.org/app:1.0", Part::Name), Some("oci://example.org/app"));
        assert_eq!(part("oci://example.org/app", Part::Tag), None);
    }

    #[test]
    fn names_tags_and_digests_are_told_apart() {
        assert!(is_name("ghcr.io/a/b") && is_name("registry:5000/a") && is_name("oci://ghcr.io/a"));
        assert!(!is_name("a:1.0") && !is_name("a b") && !is_name("") && !is_name("a/") && !is_name("a@b"));
        assert!(is_tag("1.0") && is_tag("_x") && !is_tag("1.0+build") && !is_tag("-x") && !is_tag(&"x".repeat(129)));
        assert!(is_digest(&digest('0')) && !is_digest("sha256:0") && !is_digest(&digest('A')));
    }
}
