use std::fs;

use insta::assert_snapshot;

use crate::program::{Ran, folder, weir_in};

const MARKED: &str = "version: 6.1.0 # {\"$promotion\": \"default:podinfo:prod\"}\n";

fn set(place: &tempfile::TempDir, more: &[&str]) -> Ran {
    let base = ["set-version", "--marker", "default:podinfo:prod", "--to", "6.2.0"];
    weir_in(place.path(), &[&base, more].concat(), "")
}

fn text(place: &tempfile::TempDir, file: &str) -> String {
    fs::read_to_string(place.path().join(file)).unwrap()
}

#[test]
fn every_marked_value_below_a_folder_is_set_and_nothing_else() {
    let other = "version: 6.1.0 # {\"$promotion\": \"default:podinfo:qa\"}\n";
    let done = "version: 6.2.0 # {\"$promotion\": \"default:podinfo:prod\"}\n";
    let place =
        folder(&[("a.yaml", MARKED), ("b/c.yml", MARKED), ("d.yaml", other), ("e.yaml", done), ("f.txt", MARKED)]);
    assert_snapshot!(set(&place, &["."]).shown());
    assert_eq!((text(&place, "a.yaml").as_str(), text(&place, "b/c.yml").as_str()), (done, done));
    assert_eq!((text(&place, "d.yaml").as_str(), text(&place, "f.txt").as_str()), (other, MARKED));
}

#[test]
fn a_dry_run_prints_a_diff_and_changes_nothing() {
    let place = folder(&[("a.yaml", &format!("kind: A\r\n{}", MARKED.replace('\n', "\r\n")))]);
    let before = text(&place, "a.yaml");
    let ran = set(&place, &["--dry-run", "a.yaml"]);
    assert_snapshot!(ran.shown().replace('\r', "␍"));
    assert_eq!(text(&place, "a.yaml"), before);
}

#[test]
fn colours_are_for_those_who_want_them() {
    let place = folder(&[("a.yaml", MARKED)]);
    let run = |name: &str| {
        let mut command = assert_cmd::Command::cargo_bin("weir").unwrap();
        let arguments = ["set-version", "--marker", "default:podinfo:prod", "--to", "6.2.0", "--dry-run", "a.yaml"];
        let output = command.current_dir(place.path()).env(name, "1").args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("CLICOLOR_FORCE").contains("\u{1b}[32m+version: 6.2.0"));
    assert!(!run("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn line_ends_stay_as_they_were() {
    let place = folder(&[("a.yaml", &format!("# a\r\n{}", MARKED.replace('\n', "\r\n")))]);
    assert_eq!(set(&place, &["a.yaml"]).code, 0);
    assert_eq!(text(&place, "a.yaml"), "# a\r\nversion: 6.2.0 # {\"$promotion\": \"default:podinfo:prod\"}\r\n");
}

#[cfg(unix)]
#[test]
fn permissions_stay_as_they_were() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = folder(&[("a.yaml", MARKED)]);
    let path = place.path().join("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(set(&place, &["a.yaml"]).code, 0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn an_error_in_one_file_leaves_all_as_they_were() {
    let list = "version: [] # {\"$promotion\": \"default:podinfo:prod\"}\n";
    let place = folder(&[("a.yaml", MARKED), ("b.yaml", list)]);
    let ran = set(&place, &["."]);
    assert_eq!((ran.code, text(&place, "a.yaml").as_str()), (1, MARKED));
    assert!(ran.stderr.contains("nothing was changed\n./b.yaml:1:10: "), "{}", ran.shown());
}

#[test]
fn a_file_that_is_not_yaml_blocks_only_those_whose_markers_it_mentions() {
    let broken = |marker: &str| format!("a: [\nversion: 6.1.0 # {{\"$promotion\": \"{marker}\"}}\n");
    let place = folder(&[("a.yaml", MARKED), ("b.yaml", &broken("default:other:prod"))]);
    let ran = set(&place, &["."]);
    assert!(ran.code == 0 && ran.stderr.starts_with("warning: ./b.yaml:"), "{}", ran.shown());
    assert!(text(&place, "a.yaml").contains("6.2.0"));
    let place = folder(&[("a.yaml", MARKED), ("b.yaml", &broken("default:podinfo:prod:tag"))]);
    let ran = set(&place, &["."]);
    assert_eq!((ran.code, text(&place, "a.yaml").as_str()), (1, MARKED));
    assert!(ran.stderr.contains("nothing was changed\n./b.yaml:"), "{}", ran.shown());
}

#[test]
fn a_file_that_is_not_utf_8_blocks_only_those_whose_markers_it_mentions() {
    for (marker, code) in [("default:other:prod", 0), ("default:podinfo:prod", 1)] {
        let place = folder(&[("a.yaml", MARKED)]);
        let latin = [b"a: \xfc # {\"$promotion\": \"".as_slice(), marker.as_bytes(), b"\"}\n"].concat();
        fs::write(place.path().join("b.yaml"), latin).unwrap();
        let ran = set(&place, &["."]);
        assert!(ran.code == code && ran.stderr.contains("./b.yaml: the file is not UTF-8"), "{}", ran.shown());
        assert_eq!(text(&place, "a.yaml") == MARKED, code == 1);
    }
}

#[test]
fn a_file_is_called_a_template_only_if_it_looks_like_one() {
    let told = |text: &str| set(&folder(&[("a.yaml", &format!("{text}\n{MARKED}"))]), &["."]).stderr;
    assert!(!told("a: [").contains("template"), "{}", told("a: ["));
    assert!(told("{{ if a }}: [").contains("template"), "{}", told("{{ if a }}: ["));
}

#[test]
fn only_what_weir_takes_for_a_version_is_written() {
    let place = folder(&[("a.yaml", MARKED)]);
    for wrong in [" ", "", "a b", &"1".repeat(257)] {
        let run = ["set-version", "--marker", "default:podinfo:prod", "--to", wrong, "a.yaml"];
        let ran = weir_in(place.path(), &run, "");
        assert!(ran.code == 1 && ran.stderr.contains("`--to` is not a version"), "{}", ran.shown());
    }
    assert_eq!(text(&place, "a.yaml"), MARKED);
}

#[test]
fn a_marker_that_is_nowhere_is_an_error_that_says_what_was_looked_for() {
    let place = folder(&[("a.yaml", "a: b\n"), ("b.yaml", "a: b\n")]);
    let ran = set(&place, &["--workload", "HelmRelease/podinfo", "."]);
    let words = "error: nothing to set: looked for markers `default:podinfo:prod` for workload `HelmRelease/podinfo` \
                 in 2 files\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, words));
}

#[cfg(unix)]
#[test]
fn links_and_the_folder_of_git_are_not_followed() {
    let outside = folder(&[("a.yaml", MARKED)]);
    let place = folder(&[("b.yaml", MARKED), (".git/c.yaml", MARKED)]);
    std::os::unix::fs::symlink(outside.path(), place.path().join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("a.yaml"), place.path().join("a.yaml")).unwrap();
    assert!(set(&place, &["."]).stderr.contains("1 value set"));
    assert_eq!((text(&outside, "a.yaml").as_str(), text(&place, ".git/c.yaml").as_str()), (MARKED, MARKED));
    let ran = set(&place, &["a.yaml"]);
    assert!(ran.code == 1 && ran.stderr.contains("`a.yaml` is a link"), "{}", ran.shown());
}

#[test]
fn name_and_digest_of_an_image_are_written_where_markers_hold_them() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let image = "image: example.org/app:1 # {\"$promotion\": \"default:podinfo:prod:tag\"}\n\
                 name: example.org/app # {\"$promotion\": \"default:podinfo:prod:name\"}\n\
                 digest: sha256:0 # {\"$promotion\": \"default:podinfo:prod:digest\"}\n";
    let place = folder(&[("a.yaml", image)]);
    let ran = set(&place, &["a.yaml"]);
    assert!(ran.code == 1 && ran.stderr.contains("the release has no name"), "{}", ran.shown());
    let ran = set(&place, &["--name", "example.org/new", "--digest", &digest, "a.yaml"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(text(&place, "a.yaml").contains("name: example.org/new #"), "{}", text(&place, "a.yaml"));
}

#[test]
fn a_value_is_set_by_its_path_in_one_document_of_one_file() {
    let two = "kind: A\nmetadata: {name: x}\nversion: 1.0.0\n---\nkind: B\nmetadata: {name: x}\nversion: 1.0.0\n";
    let place = folder(&[("a.yaml", two)]);
    let by_path = |more: &[&str]| {
        let base = ["set-version", "--path", "version", "--to", "2.0.0"];
        weir_in(place.path(), &[&base, more].concat(), "")
    };
    assert_eq!(by_path(&["a.yaml"]).code, 1);
    assert!(by_path(&["--kind", "C", "a.yaml"]).stderr.contains("no document of the file is the one looked for"));
    assert!(by_path(&["."]).stderr.contains("name exactly one file"));
    assert_eq!(by_path(&["--kind", "B", "--resource-name", "x", "a.yaml"]).code, 0);
    let (first, second) = two.split_once("---").unwrap();
    assert_eq!(text(&place, "a.yaml"), format!("{first}---{}", second.replace("1.0.0", "2.0.0")));
}

#[test]
fn what_is_asked_for_has_to_make_sense() {
    let place = folder(&[("a.yaml", MARKED)]);
    let run = |arguments: &[&str]| weir_in(place.path(), arguments, "");
    assert_eq!(run(&["set-version", "--to", "1", "a.yaml"]).code, 2);
    assert_eq!(run(&["set-version", "--marker", "a:b", "--to", "1", "a.yaml"]).code, 2);
    assert_eq!(run(&["set-version", "--marker", "a:b:c", "--path", "a", "--to", "1", "a.yaml"]).code, 2);
    let ran = run(&["set-version", "--marker", "a:b:c:tag", "--to", "1", "a.yaml"]);
    assert!(ran.code == 1 && ran.stderr.contains("names a part"), "{}", ran.shown());
    let ran = run(&["set-version", "--marker", "a:b:c", "--to", "1", "nowhere"]);
    assert!(ran.code == 1 && ran.stderr.contains("reading `nowhere` failed"), "{}", ran.shown());
}
