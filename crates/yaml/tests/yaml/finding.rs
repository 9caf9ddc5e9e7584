//! Reading what a file declares.

use weir_yaml::{Part, markers};

#[test]
fn the_markers_of_a_file_are_listed_with_their_values() {
    let text = "a: \"1.0\" # {\"$promotion\": \"apps:podinfo:prod\", \"workload\": \"HelmRelease/a\"}\n\
                # {\"$promotion\": \"apps:other:dev:tag\"}\n\
                image: ghcr.io/x/y:2.0\n";
    let found = markers(text).unwrap();
    let told: Vec<_> =
        found.iter().map(|one| (one.marker.to_string(), one.value.as_str(), one.place.line, one.declared())).collect();
    assert_eq!(
        told,
        [
            ("apps:podinfo:prod".to_owned(), "1.0", 1, Some("1.0")),
            ("apps:other:dev:tag".to_owned(), "ghcr.io/x/y:2.0", 3, Some("2.0")),
        ]
    );
    assert_eq!(found[0].marker.workload.as_deref(), Some("HelmRelease/a"));
    assert_eq!(found[1].marker.part, Part::Tag);
}

#[test]
fn one_value_may_have_several_markers() {
    let text = "# {\"$promotion\": \"a:b:c\"}\n# {\"$promotion\": \"d:e:f\"}\nv: 1 # {\"$promotion\": \"g:h:i\"}\n";
    let told: Vec<_> = markers(text).unwrap().into_iter().map(|one| (one.marker.to_string(), one.value)).collect();
    assert_eq!(told, ["a:b:c", "d:e:f", "g:h:i"].map(|marker| (marker.to_owned(), "1".to_owned())));
}

#[test]
fn a_marker_in_a_string_is_text() {
    let text = "a: |\n  x: 1 # {\"$promotion\": \"a:b:c\"}\nb: '# {\"$promotion\": \"a:b:c\"}'\n";
    assert_eq!(markers(text).unwrap(), []);
}

#[test]
fn prose_and_commented_out_values_are_no_markers() {
    let text = "# the $promotion marker is below\n# v: 1 # {\"$promotion\": \"a:b:c\"}\nv: 2\n";
    assert_eq!(markers(text).unwrap(), []);
}

#[test]
fn a_part_that_is_not_there_is_not_declared() {
    let text = "image: ghcr.io/x/y # {\"$promotion\": \"a:b:c:tag\"}\n";
    assert_eq!(markers(text).unwrap()[0].declared(), None);
}
