//! Records and journal in one SQLite file.
//!
//! One thread writes, and commits whatever waits at the same time as one (`writer`); reading happens beside it
//! (`readers`), and so does what would have to wait for the disk once more (`checkpoints`). Whoever follows is told from
//! memory what was committed (`watchers`, `follow`). Records are kept as the JSON of their Kubernetes kinds (`row`); what
//! cannot be read any more is reported (`damage`).

mod backup;
mod checkpoints;
mod damage;
mod follow;
mod lock;
mod past;
mod readers;
mod row;
mod schema;
mod watchers;
mod writer;

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use futures_core::Stream;
use rusqlite::{Connection, OptionalExtension, params};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use weir_core::{PlainProposal, Promotion, PromotionKey};
use weir_ports::{
    Deed, DeedQuery, HistoryQuery, Journal, Noted, Notice, Record, RecordKey, RecordVersion, Store, StoreError, Stored,
};

pub use backup::BackupError;
pub use damage::StoreProblem;

use checkpoints::Checkpoints;
use follow::{COLUMNS, Row, Sources};
use lock::{Lock, LockError};
use readers::Readers;
use row::{Content, RowKey};
use schema::{MIGRATIONS, SchemaError};
use writer::{NotedDeed, Operation, Work, Writer, Written};

/// The database in the data folder.
const FILE: &str = "weir.db";

/// How long another program that holds the database is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many changes may wait for the writer before those who ask have to wait too.
const QUEUE: usize = 1024;

/// The records and the journal of one machine, in a data folder.
pub struct LocalStore {
    sources: Sources,
    /// `None`: closed.
    operations: Option<mpsc::Sender<Operation>>,
    writer: Option<thread::JoinHandle<()>>,
}

/// Why a data folder cannot be used.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It cannot be written to.
    #[error("opening the data folder `{}` failed; make it a folder that Weir may write to", folder.display())]
    Io {
        /// Which folder.
        folder: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Another process uses it.
    #[error(
        "the data folder `{}` is in use by {holder}; stop that, or give each process a folder of its own",
        folder.display()
    )]
    InUse {
        /// Which folder.
        folder: PathBuf,
        /// Who uses it, and since when.
        holder: String,
    },
    /// A newer Weir wrote it.
    #[error(
        "`{}` has version {found}, and this Weir knows no version after {known}; run the newer Weir that wrote it, or \
         restore a backup from before",
        file.display()
    )]
    Newer {
        /// Which database.
        file: PathBuf,
        /// The version that it has.
        found: usize,
        /// The newest version that is known.
        known: usize,
    },
    /// SQLite cannot use the file.
    #[error("opening `{}` failed; if it is damaged, restore a backup", file.display())]
    Database {
        /// Which database.
        file: PathBuf,
        /// What went wrong.
        source: rusqlite::Error,
    },
}

impl LocalStore {
    /// Keeps everything in this folder, which no other process may use at the same time. Makes it if it is missing, for
    /// this user alone.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { folder: folder.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let lock = Lock::take(folder).map_err(|error| match error {
            LockError::Held(holder) => OpenError::InUse { folder: folder.to_owned(), holder },
            LockError::Io(source) => failed(source),
        })?;
        let file = folder.join(FILE);
        let refused = |source| OpenError::Database { file: file.clone(), source };
        let mut database = connect(&file).map_err(refused)?;
        schema::migrate(&mut database, MIGRATIONS).map_err(|error| match error {
            SchemaError::Newer(found) => OpenError::Newer { file: file.clone(), found, known: MIGRATIONS.len() },
            SchemaError::Database(source) => refused(source),
        })?;
        let sources =
            Sources { readers: Arc::new(Readers::new(file.clone())), watchers: Arc::default(), damage: Arc::default() };
        let (operations, incoming) = mpsc::channel(QUEUE);
        let (watchers, damage) = (Arc::clone(&sources.watchers), Arc::clone(&sources.damage));
        let checkpoints = Checkpoints::start(&file).map_err(failed)?;
        let writer = Writer::new(database, watchers, damage, checkpoints, lock).map_err(refused)?;
        let writer = writer.start(incoming).map_err(failed)?;
        Ok(Self { sources, operations: Some(operations), writer: Some(writer) })
    }

    /// What was found that cannot be read, up to now. Everything else is not affected.
    pub fn problems(&self) -> Vec<StoreProblem> {
        self.sources.damage.problems()
    }

    /// Copies everything, as it is at one moment, into a new file; meanwhile it can be used. The copy is a `weir.db` for
    /// another data folder.
    pub async fn backup(&self, file: &Path) -> Result<(), BackupError> {
        let (database, to) = (self.sources.readers.file().to_owned(), file.to_owned());
        let copied = tokio::task::spawn_blocking(move || backup::backup(&database, &to)).await;
        let failed = |error| BackupError::Io { file: file.to_owned(), source: io::Error::other(error) };
        copied.unwrap_or_else(|error| Err(failed(error)))
    }

    /// Writes what was accepted, and gives the folder back. Dropping does the same, and blocks the thread meanwhile.
    pub async fn close(mut self) {
        self.operations = None;
        if let Some(writer) = self.writer.take() {
            tokio::task::spawn_blocking(move || writer.join().ok()).await.ok();
        }
    }

    async fn write(&self, work: Work) -> writer::Answer {
        let stopped = || StoreError::Unavailable("it was closed".to_owned());
        let (answer, asked) = oneshot::channel();
        let operations = self.operations.as_ref().ok_or_else(stopped)?;
        operations.send(Operation { work, answer }).await.map_err(|_| stopped())?;
        asked.await.map_err(|_| stopped())?
    }
}

impl Drop for LocalStore {
    fn drop(&mut self) {
        self.operations = None;
        if let Some(writer) = self.writer.take() {
            writer.join().ok();
        }
    }
}

impl Store for LocalStore {
    async fn get(&self, key: &RecordKey) -> Result<Option<Stored>, StoreError> {
        let row_key = RowKey::of(key);
        let Some(row) = self.sources.readers.read(move |database| find(database, &row_key)).await? else {
            return Ok(None);
        };
        let damaged = || StoreError::Unavailable(format!("{key} is kept, but cannot be read any more"));
        row.read(&self.sources.damage).map(Some).ok_or_else(damaged)
    }

    async fn freezes(&self) -> Result<Vec<Stored>, StoreError> {
        let damage = &self.sources.damage;
        let rows = self.sources.readers.read(|database| freezes(database)).await?;
        Ok(rows.into_iter().filter_map(|row| row.read(damage)).collect())
    }

    async fn create(&self, record: Record) -> Result<RecordVersion, StoreError> {
        let written = written(record).map_err(StoreError::Unavailable)?;
        self.write(Work::Create(written)).await
    }

    async fn replace(&self, record: Record, at: RecordVersion) -> Result<RecordVersion, StoreError> {
        let written = written(record).map_err(StoreError::Unavailable)?;
        self.write(Work::Replace(written, at)).await
    }

    async fn remove(&self, key: &RecordKey, at: RecordVersion) -> Result<(), StoreError> {
        self.write(Work::Remove(key.clone(), at)).await.map(|_| ())
    }

    fn watch(&self) -> impl Stream<Item = Notice> + Send + Unpin + 'static {
        follow::follow(self.sources.clone())
    }
}

impl Journal for LocalStore {
    async fn note(&self, deed: &Deed) -> Result<(), StoreError> {
        let deed = NotedDeed {
            namespace: deed.home().map(ToString::to_string),
            pipeline: deed.pipeline.as_ref().map(|key| key.name.to_string()),
            person: deed.by.name.clone(),
            json: serde_json::to_string(deed).map_err(|error| StoreError::Unavailable(error.to_string()))?,
        };
        self.write(Work::Note(deed)).await.map(|_| ())
    }

    async fn deeds(&self, query: &DeedQuery) -> Result<Vec<Noted>, StoreError> {
        let (query, damage) = (query.clone(), Arc::clone(&self.sources.damage));
        self.sources.readers.read(move |database| past::deeds(database, &query, &damage)).await
    }

    async fn promotions(&self, query: &HistoryQuery) -> Result<Vec<Promotion>, StoreError> {
        let (query, damage) = (query.clone(), Arc::clone(&self.sources.damage));
        self.sources.readers.read(move |database| past::promotions(database, &query, &damage)).await
    }

    async fn proposal(&self, key: &PromotionKey) -> Result<Option<PlainProposal>, StoreError> {
        let (key, damage) = (key.clone(), Arc::clone(&self.sources.damage));
        self.sources.readers.read(move |database| past::proposal(database, &key, &damage)).await
    }
}

/// The connection that writes.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(file)?;
    database.busy_timeout(PATIENCE)?;
    database.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))?;
    database.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")?;
    database.set_prepared_statement_cache_capacity(32);
    Ok(database)
}

fn find(database: &Connection, key: &RowKey) -> rusqlite::Result<Option<Row>> {
    let one = format!(
        "SELECT {COLUMNS} FROM records
         WHERE kind = ? AND namespace = ? AND pipeline = ? AND environment = ? AND name = ? AND removed IS NULL"
    );
    let RowKey { kind, namespace, pipeline, environment, name } = key;
    let mut statement = database.prepare_cached(&one)?;
    statement.query_row(params![kind, namespace, pipeline, environment, name], Row::of).optional()
}

fn freezes(database: &Connection) -> rusqlite::Result<Vec<Row>> {
    let all = format!("SELECT {COLUMNS} FROM records WHERE kind = 'Freeze' AND removed IS NULL");
    database.prepare_cached(&all)?.query_map((), Row::of)?.collect()
}

/// A record in the form in which it is kept, made on the thread of whoever asks.
fn written(record: Record) -> Result<Written, String> {
    let key = record.key();
    let unreadable = |reason: String| format!("{key} cannot be kept: {reason}");
    let content = Content::of(&record).map_err(|error| unreadable(error.to_string()))?;
    // A proposal is kept without the credentials of its repository. Those who follow get what is kept.
    let record = match record {
        Record::Proposal(_) => row::record(&RowKey::of(&key), &content.json).map_err(unreadable)?,
        record => record,
    };
    Ok(Written { record, content })
}

/// SQLite counts with a sign. Versions and numbers of deeds begin at one, so that no bit is lost.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(signed: i64) -> u64 {
    u64::try_from(signed).unwrap_or_default()
}
