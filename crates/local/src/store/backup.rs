//! A copy of everything, while it is used.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use tempfile::NamedTempFile;
use thiserror::Error;

use super::PATIENCE;

/// Why there is no backup.
#[derive(Debug, Error)]
pub enum BackupError {
    /// There is a file already.
    #[error("backing up to `{}` was refused: the file exists; give another name, or move it away", file.display())]
    Exists {
        /// Which file.
        file: PathBuf,
    },
    /// It cannot be written.
    #[error("backing up to `{}` failed; give a file in a folder that exists and that Weir may write to", file.display())]
    Io {
        /// Which file.
        file: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The database cannot be copied.
    #[error("backing up to `{}` failed; check that the disk has room", file.display())]
    Database {
        /// Which file.
        file: PathBuf,
        /// What went wrong.
        source: rusqlite::Error,
    },
}

/// Copies the database as it is at one moment. The file has its name only when it is complete and on the disk.
pub(super) fn backup(database: &Path, file: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::Io { file: file.to_owned(), source };
    let refused = |source| BackupError::Database { file: file.to_owned(), source };
    let taken = || BackupError::Exists { file: file.to_owned() };
    if file.symlink_metadata().is_ok() {
        return Err(taken());
    }
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let copy = NamedTempFile::with_prefix_in(".weir-backup-", folder).map_err(failed)?;
    let source = Connection::open(database).map_err(refused)?;
    source.busy_timeout(PATIENCE).map_err(refused)?;
    let Some(name) = copy.path().to_str() else {
        return Err(failed(io::Error::other("its name is no text")));
    };
    source.execute("VACUUM INTO ?", [name]).map_err(refused)?;
    copy.as_file().sync_all().map_err(failed)?;
    copy.persist_noclobber(file).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => taken(),
        _ => failed(error.error),
    })?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}
