//! One process for each data folder.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::Path,
};

use jiff::Timestamp;

/// The name of the file that is locked.
const FILE: &str = "weir.lock";

/// The right to use a data folder, for as long as it lives. The system takes it back when the process dies, in whatever
/// way; the file that is left behind is no obstacle.
pub(super) struct Lock {
    _file: File,
}

/// Why there is no lock.
pub(super) enum LockError {
    /// Somebody else has it: who, as they wrote it.
    Held(String),
    /// It cannot be taken.
    Io(io::Error),
}

impl Lock {
    pub(super) fn take(folder: &Path) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(folder.join(FILE));
        let mut file = file.map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(holder(&mut file))),
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
        }
        sign(&mut file).map_err(LockError::Io)?;
        Ok(Self { _file: file })
    }
}

/// Writes down who has the lock, for those who come later.
fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    let since = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    writeln!(file, "process {}, since {since}", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.read_to_string(&mut text);
    let text = text.trim();
    if read.is_err() || text.is_empty() { "another process".to_owned() } else { text.to_owned() }
}
