//! What the `git` program gets to see.

use std::fs;

use tempfile::TempDir;
use weir_git::Settings;
use weir_ports::RepoError;

use crate::world::{World, write_script};

/// Everything that a call may see; `sh`, which stands in for Git here, adds the last three.
const MAY_SEE: &[&str] = &[
    "GIT_ATTR_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_DIR",
    "GIT_SSH_VARIANT",
    "GIT_TERMINAL_PROMPT",
    "HOME",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "USER",
    "OLDPWD",
    "PWD",
    "_",
];

#[tokio::test]
async fn a_call_sees_of_the_environment_only_what_it_needs() {
    let folder = TempDir::new().unwrap();
    let (program, seen) = (folder.path().join("git"), folder.path().join("seen"));
    write_script(&program, &format!("env >> '{}'\nexec git \"$@\"", seen.display()));
    let world = World::with(Settings { program, ..Settings::default() });
    world.marked().await.unwrap();
    let seen = fs::read_to_string(seen).unwrap();
    let names = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let settings = |name: &str| name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_");
    let proxy = |name: &str| name.to_lowercase().ends_with("_proxy");
    let others: Vec<&str> = names.filter(|name| !MAY_SEE.contains(name) && !settings(name) && !proxy(name)).collect();
    assert_eq!(others, [""; 0]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let world = World::with(Settings { program: "no-such-git".into(), ..Settings::default() });
    let error = world.marked().await.unwrap_err();
    assert!(matches!(&error, RepoError::Other { reason, .. } if reason.contains("`no-such-git`")), "{error}");
}
