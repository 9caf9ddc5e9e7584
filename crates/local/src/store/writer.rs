//! The one thread that writes.
//!
//! It takes whatever waits and commits it as one transaction, because the disk takes as long for one change as for many.
//! Each change has its own answer, given after the commit: that somebody else was faster harms nobody but the one who
//! was slower. If the commit fails, nothing of it has happened, everybody in it is told so, and the thread goes on.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};
use weir_ports::{Record, RecordKey, RecordVersion, StoreError, Stored};

use super::{
    checkpoints::Checkpoints,
    damage::Damage,
    lock::Lock,
    number,
    row::{Content, RowKey},
    signed,
    watchers::{Change, Event, Watchers},
};

/// How many changes are committed at once at most.
const BATCH: usize = 512;

/// So many at once are a crowd: they come from many who do not wait for each other.
const CROWD: usize = 4;

/// While there is a crowd, a commit waits until this long after the one before, and takes more with it: each has its price,
/// also for those who follow. Whoever comes alone never waits.
const BREATH: Duration = Duration::from_millis(2);

/// A change that somebody waits for.
pub(super) struct Operation {
    pub(super) work: Work,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// The version that the change made.
pub(super) type Answer = Result<RecordVersion, StoreError>;

/// What is to be done.
pub(super) enum Work {
    Create(Written),
    Replace(Written, RecordVersion),
    Remove(RecordKey, RecordVersion),
    Note(NotedDeed),
}

/// A record in the form in which it is kept.
pub(super) struct Written {
    pub(super) record: Record,
    pub(super) content: Content,
}

/// A deed in the form in which it is kept.
pub(super) struct NotedDeed {
    pub(super) namespace: Option<String>,
    pub(super) pipeline: Option<String>,
    pub(super) person: String,
    pub(super) json: String,
}

/// The thread's belongings.
pub(super) struct Writer {
    database: Connection,
    version: u64,
    watchers: Arc<Watchers>,
    damage: Arc<Damage>,
    checkpoints: Checkpoints,
    /// Given back when the last change is written.
    _lock: Lock,
}

impl Writer {
    pub(super) fn new(
        database: Connection,
        watchers: Arc<Watchers>,
        damage: Arc<Damage>,
        checkpoints: Checkpoints,
        lock: Lock,
    ) -> rusqlite::Result<Self> {
        let version = database.query_row("SELECT version FROM counter", (), |row| row.get(0))?;
        Ok(Self { database, version: number(version), watchers, damage, checkpoints, _lock: lock })
    }

    /// Writes until nobody can ask any more.
    pub(super) fn start(self, incoming: mpsc::Receiver<Operation>) -> std::io::Result<thread::JoinHandle<()>> {
        thread::Builder::new().name("weir-store".to_owned()).spawn(move || self.run(incoming))
    }

    fn run(mut self, mut incoming: mpsc::Receiver<Operation>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut crowded = None;
        while incoming.blocking_recv_many(&mut batch, BATCH) > 0 {
            if let Some(wait) = crowded.and_then(|since: Instant| BREATH.checked_sub(since.elapsed())) {
                thread::sleep(wait);
                let more = std::iter::from_fn(|| incoming.try_recv().ok());
                batch.extend(more.take(BATCH - batch.len()));
            }
            let is_crowd = batch.len() >= CROWD;
            self.commit(&mut batch);
            crowded = is_crowd.then(Instant::now);
        }
        self.watchers.close();
        self.checkpoints.stop();
        // Only saves the next start the work: without it, the log is read then.
        self.database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).ok();
    }

    fn commit(&mut self, batch: &mut Vec<Operation>) {
        let mut answers = Vec::with_capacity(batch.len());
        let mut done = Vec::with_capacity(batch.len());
        let committed = self.transaction(batch, &mut done);
        let mut events = Vec::with_capacity(batch.len());
        let failed = committed.err().map(|error| StoreError::Unavailable(sentence(&error)));
        if failed.is_some() && !self.database.is_autocommit() {
            self.database.execute_batch("ROLLBACK").ok();
        }
        let mut done = done.into_iter();
        for Operation { work, answer } in batch.drain(..) {
            let outcome = match (&failed, done.next()) {
                (None, Some(outcome)) => outcome,
                (Some(failed), _) => Err(failed.clone()),
                (None, None) => Err(StoreError::Unavailable("the change was not made".to_owned())),
            };
            if let Ok(version) = outcome {
                events.extend(self.event(work, version));
            }
            answers.push((answer, outcome));
        }
        self.watchers.publish(&events);
        let count = answers.len();
        for (answer, outcome) in answers {
            // Whoever asked may have gone; the change stands.
            answer.send(outcome).ok();
        }
        self.checkpoints.committed(count, &self.database);
    }

    fn transaction(&mut self, batch: &[Operation], done: &mut Vec<Answer>) -> rusqlite::Result<()> {
        self.database.execute_batch("BEGIN IMMEDIATE")?;
        let before = self.version;
        for operation in batch {
            match self.apply(&operation.work) {
                Ok(outcome) => done.push(outcome),
                // A statement that fails alone changes nothing, so the others need not suffer for it. Some failures end
                // the whole transaction.
                Err(error) if self.database.is_autocommit() => return Err(error),
                Err(error) => done.push(Err(StoreError::Unavailable(sentence(&error)))),
            }
        }
        if self.version > before {
            let mut statement = self.database.prepare_cached("UPDATE counter SET version = ?")?;
            statement.execute([signed(self.version)])?;
        }
        self.database.execute_batch("COMMIT")
    }

    /// Each change is one statement, so that it happens whole or not at all.
    fn apply(&mut self, work: &Work) -> rusqlite::Result<Answer> {
        let next = self.version + 1;
        let changed = match work {
            Work::Create(Written { record, content }) => {
                let key = RowKey::of(&record.key());
                let mut statement = self.database.prepare_cached(
                    "INSERT INTO records (kind, namespace, pipeline, environment, name, phase, version, json)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                )?;
                let RowKey { kind, namespace, pipeline, environment, name } = key;
                let Content { phase, json } = content;
                statement.execute(params![kind, namespace, pipeline, environment, name, phase, signed(next), json])?
            }
            Work::Replace(Written { record, content }, at) => {
                let key = RowKey::of(&record.key());
                let mut statement = self.database.prepare_cached(
                    "UPDATE records SET phase = ?, version = ?, json = ?
                     WHERE kind = ? AND namespace = ? AND pipeline = ? AND environment = ? AND name = ?
                     AND removed IS NULL AND version = ?",
                )?;
                let RowKey { kind, namespace, pipeline, environment, name } = key;
                let Content { phase, json } = content;
                let (next, at) = (signed(next), signed(at.0));
                statement.execute(params![phase, next, json, kind, namespace, pipeline, environment, name, at])?
            }
            Work::Remove(key, at) => return self.remove(key, *at),
            Work::Note(NotedDeed { namespace, pipeline, person, json }) => {
                let mut statement = self
                    .database
                    .prepare_cached("INSERT INTO deeds (namespace, pipeline, person, json) VALUES (?, ?, ?, ?)")?;
                statement.execute(params![namespace, pipeline, person, json])?;
                return Ok(Ok(RecordVersion(self.version)));
            }
        };
        if changed > 0 {
            self.version = next;
            return Ok(Ok(RecordVersion(next)));
        }
        Ok(Err(match work {
            Work::Create(written) => StoreError::Exists(written.record.key()),
            Work::Replace(written, _) => StoreError::Moved(written.record.key()),
            Work::Remove(key, _) => StoreError::Moved(key.clone()),
            Work::Note(_) => StoreError::Unavailable("the journal did not take the deed".to_owned()),
        }))
    }

    /// A promotion and its proposal leave the records and stay in the past; anything else is deleted.
    fn remove(&mut self, key: &RecordKey, at: RecordVersion) -> rusqlite::Result<Answer> {
        let next = self.version + 1;
        let RowKey { kind, namespace, pipeline, environment, name } = RowKey::of(key);
        let removal = if let RecordKey::Promotion(_) | RecordKey::Proposal(_) = key {
            "UPDATE records SET removed = ?1
             WHERE kind = ?2 AND namespace = ?3 AND pipeline = ?4 AND environment = ?5 AND name = ?6
             AND removed IS NULL AND version = ?7"
        } else {
            "DELETE FROM records
             WHERE kind = ?2 AND namespace = ?3 AND pipeline = ?4 AND environment = ?5 AND name = ?6
             AND removed IS NULL AND version = ?7 AND ?1 > 0"
        };
        let mut statement = self.database.prepare_cached(removal)?;
        let (removed, at) = (signed(next), signed(at.0));
        if statement.execute(params![removed, kind, namespace, pipeline, environment, name, at])? > 0 {
            self.version = next;
            return Ok(Ok(RecordVersion(next)));
        }
        let mut statement = self.database.prepare_cached(
            "SELECT count(*) FROM records
             WHERE kind = ? AND namespace = ? AND pipeline = ? AND environment = ? AND name = ? AND removed IS NULL",
        )?;
        let count: i64 =
            statement.query_row(params![kind, namespace, pipeline, environment, name], |row| row.get(0))?;
        // Gone already. Nobody has to be told, which is what version zero says.
        Ok(if count == 0 { Ok(RecordVersion(0)) } else { Err(StoreError::Moved(key.clone())) })
    }

    /// What the watchers hear of a change that is on the disk.
    fn event(&self, work: Work, version: RecordVersion) -> Option<Event> {
        let stored = |written: Written| Arc::new(Stored { record: written.record, version });
        let (key, change) = match work {
            Work::Create(written) => (written.record.key(), Change::Created(stored(written))),
            Work::Replace(written, _) => (written.record.key(), Change::Replaced(stored(written))),
            Work::Remove(key, _) if version.0 > 0 => (key, Change::Removed),
            Work::Remove(..) | Work::Note(_) => return None,
        };
        self.damage.mended(&RowKey::of(&key));
        Some(Event { key, version, change })
    }
}

/// What went wrong, and what to do where that is known.
pub(super) fn sentence(error: &rusqlite::Error) -> String {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full; free space on the disk of the data folder".to_owned(),
        Some(ErrorCode::ReadOnly) => format!("{error}; allow Weir to write to the data folder"),
        Some(ErrorCode::SystemIoFailure) => format!("{error}; check the disk of the data folder"),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!("{error}; restore `weir.db` from a backup")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("{error}; another program holds `weir.db`: close it")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use weir_ports::PipelineRecord;

    use super::*;
    use crate::store::schema::{MIGRATIONS, migrate};

    fn note(length: usize) -> (Operation, oneshot::Receiver<Answer>) {
        let (answer, asked) = oneshot::channel();
        let deed = NotedDeed { namespace: None, pipeline: None, person: "anna".into(), json: "x".repeat(length) };
        (Operation { work: Work::Note(deed), answer }, asked)
    }

    fn create(name: &str) -> (Operation, oneshot::Receiver<Answer>) {
        let (answer, asked) = oneshot::channel();
        let record = Record::Pipeline(format!("default/{name}").parse().unwrap(), PipelineRecord::default());
        let content = Content::of(&record).unwrap();
        (Operation { work: Work::Create(Written { record, content }), answer }, asked)
    }

    #[test]
    fn a_full_disk_is_told_to_those_who_wait_and_the_next_are_served() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Connection::open(folder.path().join("weir.db")).unwrap();
        migrate(&mut database, MIGRATIONS).unwrap();
        database.execute_batch("PRAGMA max_page_count = 40").unwrap();
        let lock = Lock::take(folder.path()).ok().unwrap();
        let checkpoints = Checkpoints::start(&folder.path().join("weir.db")).unwrap();
        let mut writer = Writer::new(database, Arc::default(), Arc::default(), checkpoints, lock).unwrap();

        let (first, first_asked) = create("a");
        let (large, large_asked) = note(4_000_000);
        writer.commit(&mut vec![first, large]);
        let told = large_asked.blocking_recv().unwrap().unwrap_err().to_string();
        assert_eq!(told, "the store cannot be used: the disk is full; free space on the disk of the data folder");

        let first_is_there = first_asked.blocking_recv().unwrap().is_ok();
        let (again, again_asked) = create("a");
        let (second, second_asked) = create("b");
        writer.commit(&mut vec![again, second]);
        assert_eq!(again_asked.blocking_recv().unwrap().is_err(), first_is_there, "what was answered is what is kept");
        assert!(second_asked.blocking_recv().unwrap().is_ok());
    }
}
