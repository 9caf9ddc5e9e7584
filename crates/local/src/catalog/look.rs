//! Which files there are, and whether they changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use walkdir::WalkDir;

use crate::stamp::Stamp;

/// What one look at a folder saw.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) files: BTreeMap<PathBuf, Stamp>,
    /// What could not be looked at, and why. Nothing is known about what is below.
    pub(super) failures: BTreeMap<PathBuf, String>,
}

/// Looks for manifests. Whatever begins with a dot is left out: `.git`, what editors leave behind, and the folders that
/// Kubernetes swaps in a volume, whose files are seen through the links beside them. Links are followed; a file that can
/// be reached in several ways is seen once.
pub(super) fn look(folder: &Path) -> Look {
    let mut seen = Look::default();
    let mut known = BTreeSet::new();
    let walk = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    let is_visible = |entry: &walkdir::DirEntry| entry.depth() == 0 || !is_hidden(entry.file_name());
    for entry in walk.filter_entry(is_visible) {
        let found = entry.and_then(|entry| {
            if entry.file_type().is_dir() || !is_manifest(entry.path()) {
                return Ok(None);
            }
            entry.metadata().map(|metadata| Some((entry.into_path(), metadata)))
        });
        match found {
            Ok(Some((path, metadata))) if metadata.is_file() => {
                if known.insert((metadata.dev(), metadata.ino())) {
                    seen.files.insert(path, Stamp::of(&metadata));
                }
            }
            Ok(_) => {}
            Err(error) => seen.failed(folder, &error),
        }
    }
    seen
}

impl Look {
    /// A link that leads back to where it is, or nowhere, holds nothing. Anything else may hold something.
    fn failed(&mut self, folder: &Path, error: &walkdir::Error) {
        let path = error.path().unwrap_or(folder);
        let is_missing = error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
        if error.loop_ancestor().is_some() || is_missing && path != folder {
            return;
        }
        let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
        let words = format!("{}: cannot be read: {reason}; what was read last stays in force", path.display());
        self.failures.insert(path.to_owned(), words);
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_manifest(path: &Path) -> bool {
    let end = path.extension().and_then(OsStr::to_str);
    matches!(end, Some("yaml" | "yml" | "json"))
}
