use std::process::{Command, Stdio};

use crate::program::{root, weir};

#[test]
fn every_shell_gets_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = weir(&["completion", shell]);
        assert!(ran.code == 0 && ran.stdout.contains("set-version"), "{shell}");
    }
    assert_eq!(weir(&["completion", "cmd"]).code, 2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("weir"))
        .current_dir(root())
        .args(["export", "crds"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}
