//! Moving what was committed from the log into the database, beside the thread that writes.
//!
//! SQLite would do it within a commit, and whoever waits for that commit would wait for the disk twice.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use rusqlite::Connection;

use super::{PATIENCE, writer::sentence};

/// How many changes are committed before they are moved.
const AFTER: usize = 500;

/// How many pages the log may have before it begins anew: under a load that never pauses it would grow for ever.
const LONGEST: i64 = 4096;

/// The thread that moves, and what it has to be told.
pub(super) struct Checkpoints {
    /// `None`: stopped.
    wake: Option<SyncSender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    changes: usize,
    /// The log is long, and all but its end was moved.
    is_long: Arc<AtomicBool>,
}

impl Checkpoints {
    /// Starts the thread, with a connection of its own.
    pub(super) fn start(file: &Path) -> io::Result<Self> {
        let database = connect(file).map_err(io::Error::other)?;
        let (wake, woken) = sync_channel(1);
        let is_long = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_long);
        let thread =
            thread::Builder::new().name("weir-checkpoint".to_owned()).spawn(move || run(&database, &woken, &told))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), changes: 0, is_long })
    }

    /// So many changes were committed through this connection.
    pub(super) fn committed(&mut self, changes: usize, database: &Connection) {
        self.changes += changes;
        if self.is_long.swap(false, Ordering::Relaxed) {
            begin_anew(database);
        } else if self.changes >= AFTER {
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

fn run(database: &Connection, woken: &Receiver<()>, is_long: &AtomicBool) {
    while woken.recv().is_ok() {
        let moved = checkpoint(database, "PASSIVE").and_then(|log| match log {
            // Once more: what was written meanwhile is little, and what is written during that is less.
            LONGEST.. => checkpoint(database, "PASSIVE"),
            log => Ok(log),
        });
        match moved {
            Ok(log) => is_long.store(log >= LONGEST, Ordering::Relaxed),
            // Nothing is lost, and the next time does it.
            Err(error) => complain(&error),
        }
    }
}

/// Moves the end of the log, so that the next change begins it anew. Only who writes can do that without keeping others
/// from writing: they would look again after a while, and again after a longer one. Nobody who reads is waited for,
/// either; if somebody does, the next time does it.
fn begin_anew(database: &Connection) {
    let begun = database.busy_timeout(Duration::ZERO).and_then(|()| checkpoint(database, "RESTART"));
    for error in [begun.err(), database.busy_timeout(PATIENCE).err()].into_iter().flatten() {
        complain(&error);
    }
}

fn complain(error: &rusqlite::Error) {
    tracing::warn!(reason = sentence(error), "the log of the store cannot be moved into its database");
}

/// How many pages the log has.
fn checkpoint(database: &Connection, mode: &str) -> rusqlite::Result<i64> {
    database.query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| row.get(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(database: &Connection, pages: usize) {
        database.execute("INSERT INTO deeds VALUES (?)", ["x".repeat(4096 * pages)]).unwrap();
    }

    #[test]
    fn a_log_begins_anew_unless_somebody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("weir.db");
        let database = connect(&file).unwrap();
        database.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())).unwrap();
        database.execute_batch("CREATE TABLE deeds (json TEXT)").unwrap();
        write(&database, 100);

        let reader = connect(&file).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM deeds").unwrap();
        write(&database, 1);
        begin_anew(&database);
        write(&database, 1);
        assert!(checkpoint(&database, "PASSIVE").unwrap() > 100, "who reads is not disturbed");

        reader.execute_batch("COMMIT").unwrap();
        begin_anew(&database);
        write(&database, 1);
        assert!(checkpoint(&database, "PASSIVE").unwrap() < 10);
    }
}
