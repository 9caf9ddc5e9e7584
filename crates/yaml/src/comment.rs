//! Which comments are markers.

use std::collections::BTreeMap;

use crate::marker::{KEY, Marker, MarkerError};

/// Reads a comment, given from its `#` on. `None` if it is not meant as a marker.
///
/// A comment on a line of its own that holds more than a marker is prose or a commented-out line, and is left alone. A
/// comment after a value that mentions the marker's key must be a marker: reading over a misspelt one would mean to
/// skip a value in silence.
pub(crate) fn marker(comment: &str, own_line: bool) -> Option<Result<Marker, MarkerError>> {
    if !comment.contains(KEY) {
        return None;
    }
    let body = comment.trim_start_matches('#').trim();
    if own_line && !opens_like_a_marker(body) {
        return None;
    }
    let mut words: BTreeMap<String, String> = match serde_json::from_str(body) {
        Ok(words) => words,
        Err(error) => return Some(Err(MarkerError::Json { reason: error.to_string() })),
    };
    let marker: Result<Marker, _> = words.remove(KEY)?.parse();
    Some(marker.map(|marker| Marker { workload: words.remove("workload"), ..marker }))
}

fn opens_like_a_marker(body: &str) -> bool {
    body.starts_with('{') || body.trim_start_matches(['"', '\'']).starts_with(KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_number_signs_may_lead() {
        for comment in
            ["#{\"$promotion\": \"a:b:c\"}", "### {\"$promotion\":\"a:b:c\"} ", "#\t{\"$promotion\": \"a:b:c\"}"]
        {
            assert_eq!(marker(comment, false).unwrap().unwrap().to_string(), "a:b:c");
        }
    }

    #[test]
    fn other_string_keys_are_tolerated_and_the_workload_is_read() {
        let comment = r#"# {"$promotion": "a:b:c", "workload": "HelmRelease/a", "note": "hands off"}"#;
        assert_eq!(marker(comment, false).unwrap().unwrap().workload.as_deref(), Some("HelmRelease/a"));
    }

    #[test]
    fn a_comment_that_does_not_mention_the_key_is_no_marker() {
        for comment in ["# {\"$imagepolicy\": \"a:b\"}", "# promotion", "#", "# {broken"] {
            assert_eq!(marker(comment, false), None);
        }
    }

    #[test]
    fn an_object_that_only_mentions_the_key_in_a_value_is_no_marker() {
        assert_eq!(marker(r#"# {"note": "no $promotion here"}"#, false), None);
    }

    #[test]
    fn a_broken_marker_is_an_error() {
        for comment in [
            r#"# {"$promotion": "a:b:c""#,
            r#"# {"$promotion": 1}"#,
            r#"# {"$promotion": "a:b:c", "n": 1}"#,
            r#"# "$promotion": "a:b:c""#,
            "# $promotion: a:b:c",
            "# {'$promotion': 'a:b:c'}",
        ] {
            for own_line in [true, false] {
                assert!(matches!(marker(comment, own_line), Some(Err(MarkerError::Json { .. }))), "{comment}");
            }
        }
    }

    #[test]
    fn prose_and_commented_out_lines_are_no_markers() {
        for comment in [r#"# tag: 1.0 # {"$promotion": "a:b:c"}"#, "# the $promotion marker says where"] {
            assert_eq!(marker(comment, true), None);
        }
    }

    #[test]
    fn words_around_a_marker_after_a_value_are_an_error() {
        assert!(matches!(marker(r#"# keep {"$promotion": "a:b:c"}"#, false), Some(Err(_))));
    }
}
