use crate::program::weir;

#[test]
fn the_version_is_told_to_people_and_to_programs() {
    let ran = weir(&["version"]);
    assert!(ran.code == 0 && ran.stdout.starts_with("weir 0."), "{}", ran.shown());
    assert_eq!(weir(&["version", "-o", "json"]).json()["version"], env!("CARGO_PKG_VERSION"));
    assert!(weir(&["version", "-o", "yaml"]).stdout.starts_with("version: "));
}

#[test]
fn a_command_line_that_is_not_understood_ends_with_2() {
    assert_eq!(weir(&["frobnicate"]).code, 2);
    assert_eq!(weir(&["plan"]).code, 2);
    assert_eq!(weir(&["version", "-o", "xml"]).code, 2);
}

#[test]
fn a_time_without_a_zone_is_not_understood() {
    let ran = weir(&["plan", "-f", "a", "--state", "b", "--at", "2026-11-13T14:30:00"]);
    assert!(ran.code == 2 && ran.stderr.contains("is not a time with a zone"), "{}", ran.shown());
}

#[test]
fn help_goes_to_stdout_and_ends_with_0() {
    let ran = weir(&["--help"]);
    assert!(ran.code == 0 && ran.stdout.contains("Example") && ran.stderr.is_empty(), "{}", ran.shown());
}
