//! What texts look like: the same rules as those of the core's types, as regular expressions and in words.

/// A Go duration, as Flux writes it.
pub(crate) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";
/// As [`weir_core::EnvironmentName`].
pub(crate) const ENVIRONMENT: &str = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$";
/// As [`weir_core::Name`]. Short, because the API server reckons what a rule may cost by the length of its expression.
pub(crate) const NAME: &str = r"^\b[a-z0-9.-]+\b$";
/// As [`weir_core::Namespace`].
pub(crate) const NAMESPACE: &str = r"^\b[a-z0-9-]+\b$";
/// As [`weir_core::RepoUrl`].
pub(crate) const REPOSITORY: &str = r"^(https?://\S+|ssh://\S+|file://\S+|[^-/:\s][^/:\s]*:/?[^/\s]\S*)$";
/// As [`weir_core::CommitId`].
pub(crate) const COMMIT: &str = r"^([0-9a-f]{40}|[0-9a-f]{64})$";
/// As [`weir_core::When`].
pub(crate) const WHEN: &str = "^(any|all|[1-9][0-9]*|([1-9][0-9]?|100)%)$";
/// As [`weir_core::WorkloadRef`].
pub(crate) const WORKLOAD: &str = "^(HelmRelease|Kustomization)/.+$";
/// A container image without its tag.
pub(crate) const IMAGE: &str = r"^[^\s:@]+(:[0-9]+/[^\s:@]+)?$";
/// Anything without spaces.
pub(crate) const WORD: &str = r"^\S+$";

/// What a pattern means to somebody who does not read regular expressions for a living.
pub(crate) fn in_words(pattern: &str) -> Option<&'static str> {
    let words = match pattern {
        DURATION => "a duration such as `30m` or `1h30m`",
        ENVIRONMENT => "letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
        NAME => "lowercase letters, digits, `-` and `.`, with a letter or digit at both ends",
        NAMESPACE => "lowercase letters, digits and `-`, with a letter or digit at both ends",
        REPOSITORY => "`https://…`, `http://…`, `ssh://…`, `file://…` or `user@host:path`",
        COMMIT => "a full commit id: 40 or 64 lowercase hexadecimal digits",
        WHEN => "`any`, `all`, a count from 1, or a percentage from `1%` to `100%`",
        WORKLOAD => "`HelmRelease/NAME` or `Kustomization/NAME`",
        IMAGE => "an image without tag and digest, such as `ghcr.io/stefanprodan/podinfo`",
        WORD => "anything without spaces",
        _ => return None,
    };
    Some(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;
    use weir_core::{CommitId, EnvironmentName, Name, Namespace, When};

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Regex::new(pattern).unwrap().is_match(text)
    }

    proptest! {
        #[test]
        fn a_name_that_the_schema_takes_is_one_that_the_core_takes(text in "[aZ0._/: -]{0,6}") {
            prop_assert_eq!(matches(NAME, &text), Name::new(&text).is_ok());
            prop_assert_eq!(matches(NAMESPACE, &text), Namespace::new(&text).is_ok());
            prop_assert_eq!(matches(ENVIRONMENT, &text), EnvironmentName::new(&text).is_ok());
        }

        #[test]
        fn a_when_that_the_schema_takes_is_one_that_the_core_takes(text in "(any|all|[0-9]{0,4}%?|[a-z%-]{0,3})") {
            // `007` is a count to the core; nobody writes it, and the schema does not take it.
            prop_assume!(!text.starts_with('0'));
            prop_assert_eq!(matches(WHEN, &text), text.parse::<When>().is_ok());
        }

        #[test]
        fn a_duration_that_the_schema_takes_can_be_read(text in "([0-9]{1,3}([.][0-9]{1,2})?(ms|s|m|h|d|)){0,3}") {
            prop_assert_eq!(matches(DURATION, &text), crate::parse_duration(&text).is_ok());
        }
    }

    #[test]
    fn a_commit_is_a_full_one() {
        for text in ["a".repeat(40), "0".repeat(64), "a".repeat(41), "A".repeat(40), String::new()] {
            assert_eq!(matches(COMMIT, &text), CommitId::new(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_address_that_the_core_refuses_is_refused_by_the_schema() {
        for bad in ["", "https://", "/tmp/x", "--upload-pack=x:y", "ftp://example.org/a", "a b:c"] {
            assert!(!matches(REPOSITORY, bad), "{bad}");
        }
        for good in ["https://example.org/a", "git@example.org:a/b.git", "ssh://git@example.org/a", "file:///tmp/a"] {
            assert!(matches(REPOSITORY, good), "{good}");
        }
    }
}
