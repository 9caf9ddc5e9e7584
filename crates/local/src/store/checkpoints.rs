//! Moving what was committed from the log into the database, beside the thread that writes.
//!
//! SQLite would do it within a commit, and whoever waits for that commit would wait for the disk twice.

use std::{
    io,
    path::Path,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use rusqlite::Connection;

use super::{PATIENCE, writer::sentence};

/// How many changes are committed before they are moved.
const AFTER: usize = 500;

/// How many pages the log may have before writers wait for its end to be moved, so that it begins anew: under a load that
/// never pauses, the log would grow for ever.
const LONGEST: i64 = 4096;

/// The thread that moves, and what it has to be told.
pub(super) struct Checkpoints {
    /// `None`: stopped.
    wake: Option<SyncSender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    changes: usize,
}

impl Checkpoints {
    /// Starts the thread, with a connection of its own.
    pub(super) fn start(file: &Path) -> io::Result<Self> {
        let database = connect(file).map_err(io::Error::other)?;
        let (wake, woken) = sync_channel(1);
        let thread = thread::Builder::new().name("weir-checkpoint".to_owned()).spawn(move || run(&database, &woken))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), changes: 0 })
    }

    /// So many changes were committed.
    pub(super) fn committed(&mut self, changes: usize) {
        self.changes += changes;
        if self.changes >= AFTER {
            self.changes = 0;
            // If it is at work already, it looks again when it is done.
            self.wake.as_ref().and_then(|wake| wake.try_send(()).ok());
        }
    }

    /// Waits until it is done.
    pub(super) fn stop(&mut self) {
        self.wake = None;
        self.thread.take().and_then(|thread| thread.join().ok());
    }
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(file)?;
    database.busy_timeout(PATIENCE)?;
    database.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")?;
    Ok(database)
}

fn run(database: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        let moved = checkpoint(database, "PASSIVE").and_then(|log| match log {
            LONGEST.. => checkpoint(database, "RESTART"),
            log => Ok(log),
        });
        if let Err(error) = moved {
            // Nothing is lost, and the next time does it.
            tracing::warn!(reason = sentence(&error), "the log of the store cannot be moved into its database");
        }
    }
}

/// How many pages the log has.
fn checkpoint(database: &Connection, mode: &str) -> rusqlite::Result<i64> {
    database.query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| row.get(1))
}
