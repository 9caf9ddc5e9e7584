//! Reading, beside the thread that writes: a reader sees what was committed when it began.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;
use weir_ports::StoreError;

use super::{PATIENCE, writer::sentence};

/// How many read at the same time.
const READERS: usize = 4;

/// A few connections that read.
pub(super) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
    turns: Semaphore,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, idle: Mutex::default(), turns: Semaphore::new(READERS) }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Reads on a thread that may wait for the disk.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let unavailable = |reason: String| StoreError::Unavailable(reason);
        let _turn = self.turns.acquire().await.map_err(|error| unavailable(error.to_string()))?;
        let readers = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || readers.read_here(read)).await;
        done.map_err(|error| unavailable(error.to_string()))?.map_err(|error| unavailable(sentence(&error)))
    }

    /// Reads on this thread.
    pub(super) fn read_here<T>(
        &self,
        read: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut database = match idle {
            Some(database) => database,
            None => self.open()?,
        };
        let found = read(&mut database)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < READERS {
            idle.push(database);
        }
        Ok(found)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(&self.file, flags)?;
        database.busy_timeout(PATIENCE)?;
        Ok(database)
    }
}
