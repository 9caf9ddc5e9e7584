//! Whether a file is still the one that was read.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

/// What changes when a file is written or replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    number: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            number: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
