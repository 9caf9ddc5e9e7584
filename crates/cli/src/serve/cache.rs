//! The folder for copies of repositories on Kubernetes: the one that is named, or a private one among temporary files.
//!
//! Anybody can write among temporary files. So the folder there is made for this user alone, and one that somebody else
//! made is not used. A process that finds the folder in use takes another: nothing in it has to survive. The system
//! takes back the lock of a process that dies.

use std::{
    fs::{self, DirBuilder, Permissions},
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use anyhow::{Context as _, Result, anyhow, bail};
use weir_git::{GitRepos, OpenError, Settings};

/// How many processes of one user find a folder without naming one.
const PROCESSES: u32 = 64;

/// For this user alone.
const PRIVATE: u32 = 0o700;

/// Opens the folder that is named, or a private one.
pub(super) fn open(named: Option<&Path>, settings: &Settings) -> Result<GitRepos> {
    match named {
        Some(folder) => {
            let opened = GitRepos::open(folder, settings.clone());
            opened.map_err(|error| anyhow!("{error}")).context("opening the folder that --data names failed")
        }
        None => open_in(&std::env::temp_dir(), settings),
    }
}

fn open_in(parent: &Path, settings: &Settings) -> Result<GitRepos> {
    let user = rustix::process::geteuid().as_raw();
    for number in 1..=PROCESSES {
        let folder = parent.join(format!("weir-repositories-{user}-{number}"));
        claim(&folder, user)?;
        match GitRepos::open(&folder, settings.clone()) {
            Ok(repos) => return Ok(repos),
            Err(OpenError::InUse { .. }) => {}
            Err(error) => return Err(error).context("name another folder with --data"),
        }
    }
    bail!("{PROCESSES} processes use folders in `{}` already; name another with --data", parent.display())
}

/// Makes the folder, or makes sure that it is this user's alone.
fn claim(folder: &Path, user: u32) -> Result<()> {
    let shown = folder.display();
    let failed = || format!("making the folder `{shown}` failed; name another with --data");
    match DirBuilder::new().mode(PRIVATE).create(folder) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(failed),
    }
    // Not where a link leads: that may be anywhere.
    let found = fs::symlink_metadata(folder).with_context(failed)?;
    if !found.is_dir() || found.uid() != user {
        bail!("`{shown}` is not a folder of this user, and is not used; name another with --data");
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(PRIVATE)).with_context(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_private_and_each_process_has_one_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let first = open_in(parent.path(), &Settings::default()).unwrap();
        let second = open_in(parent.path(), &Settings::default()).unwrap();
        let folders: Vec<_> = fs::read_dir(parent.path()).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(folders.len(), 2);
        assert!(folders.iter().all(|it| fs::metadata(it).unwrap().mode() & 0o777 == PRIVATE));
        drop((first, second));
        let _again = open_in(parent.path(), &Settings::default()).unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2, "one that is free is used again");
    }

    #[test]
    fn a_folder_that_others_may_read_is_closed_to_them() {
        let parent = tempfile::tempdir().unwrap();
        drop(open_in(parent.path(), &Settings::default()).unwrap());
        let folder = fs::read_dir(parent.path()).unwrap().next().unwrap().unwrap().path();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        drop(open_in(parent.path(), &Settings::default()).unwrap());
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, PRIVATE);
    }

    #[test]
    fn what_somebody_else_put_there_is_refused_with_what_to_do() {
        let parent = tempfile::tempdir().unwrap();
        let user = rustix::process::geteuid().as_raw();
        let elsewhere = tempfile::tempdir().unwrap();
        let link = parent.path().join(format!("weir-repositories-{user}-1"));
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        let Err(refused) = open_in(parent.path(), &Settings::default()) else { panic!("a link was followed") };
        assert!(refused.to_string().ends_with("is not used; name another with --data"), "{refused}");
        let other = parent.path().join("other");
        fs::create_dir(&other).unwrap();
        let refused = claim(&other, user + 1).unwrap_err();
        assert!(refused.to_string().contains("is not a folder of this user"), "{refused}");
    }
}
