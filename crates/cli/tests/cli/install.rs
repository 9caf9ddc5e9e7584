//! `weir install`, where there is no cluster to install on.

use assert_cmd::Command;

use crate::program::folder;

const KUBECONFIG: &str = "apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: me, user: {}}]
";

fn install(arguments: &[&str]) -> String {
    let folder = folder(&[("kubeconfig", KUBECONFIG)]);
    let mut command = Command::cargo_bin("weir").unwrap();
    let command = command.arg("install").args(arguments).env("KUBECONFIG", folder.path().join("kubeconfig"));
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_context_that_the_kubeconfig_does_not_have_is_named() {
    let told = install(&["--context", "nope"]);
    let words = "the kubeconfig has no context `nope`; `kubectl config get-contexts` lists those that it has";
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_cluster_that_does_not_answer_is_told_in_one_sentence() {
    let told = install(&[]);
    assert!(told.contains("failed: the API server cannot be reached: "), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}
