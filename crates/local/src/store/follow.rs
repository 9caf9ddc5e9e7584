//! The stream that first lists and then follows.
//!
//! The watcher is registered before the list is read, so nothing is missed in between; the list knows its version, so
//! nothing that it held is told as news.

use std::{sync::Arc, time::Duration, vec};

use futures_core::Stream;
use futures_util::stream;
use rusqlite::Connection;
use tokio::sync::mpsc;
use weir_ports::{Notice, RecordVersion, Stored};

use super::{
    damage::Damage,
    number,
    readers::Readers,
    row::{self, RowKey},
    watchers::{Watcher, Watchers},
    writer::sentence,
};

/// How many records are handed over at once, and how many such portions may wait.
const PORTION: usize = 256;
const PORTIONS: usize = 4;

/// How long is waited before a list that failed is read again.
const PAUSE: Duration = Duration::from_secs(1);

/// What a stream needs of the store.
#[derive(Clone)]
pub(super) struct Sources {
    pub(super) readers: Arc<Readers>,
    pub(super) watchers: Arc<Watchers>,
    pub(super) damage: Arc<Damage>,
}

/// Every record, then [`Notice::Listed`], then what changes.
pub(super) fn follow(sources: Sources) -> impl Stream<Item = Notice> + Send + Unpin + 'static {
    Box::pin(stream::unfold(Follower { sources, stage: Stage::Start }, Follower::next))
}

struct Follower {
    sources: Sources,
    stage: Stage,
}

enum Stage {
    Start,
    Listing { registered: Registered, portions: mpsc::Receiver<Vec<Stored>>, portion: vec::IntoIter<Stored> },
    Following { registered: Registered },
}

/// A watcher that is forgotten with the stream it belongs to.
struct Registered {
    watcher: Arc<Watcher>,
    watchers: Arc<Watchers>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.watchers.unregister(&self.watcher);
    }
}

impl Follower {
    async fn next(mut self) -> Option<(Notice, Self)> {
        loop {
            self.stage = match self.stage {
                Stage::Start => begin(&self.sources),
                Stage::Listing { registered, mut portions, mut portion } => {
                    if let Some(stored) = portion.next() {
                        self.stage = Stage::Listing { registered, portions, portion };
                        return Some((Notice::Changed(stored), self));
                    }
                    let Some(portion) = portions.recv().await else {
                        self.stage = Stage::Following { registered };
                        return Some((Notice::Listed, self));
                    };
                    Stage::Listing { registered, portions, portion: portion.into_iter() }
                }
                Stage::Following { registered } => {
                    let notice = registered.watcher.next().await?;
                    self.stage = Stage::Following { registered };
                    return Some((notice, self));
                }
            }
        }
    }
}

fn begin(sources: &Sources) -> Stage {
    let watchers = Arc::clone(&sources.watchers);
    let watcher = watchers.register();
    let (send, portions) = mpsc::channel(PORTIONS);
    let (list_for, sources) = (Arc::clone(&watcher), sources.clone());
    tokio::task::spawn_blocking(move || list(&sources, &list_for, &send));
    Stage::Listing { registered: Registered { watcher, watchers }, portions, portion: Vec::new().into_iter() }
}

/// Reads all rows at one point of the order, and then makes records of them, as fast as they are taken.
fn list(sources: &Sources, watcher: &Watcher, send: &mpsc::Sender<Vec<Stored>>) {
    let rows = loop {
        match sources.readers.read_here(rows) {
            Ok((version, rows)) => {
                watcher.listed(version);
                sources.damage.listed(None);
                break rows;
            }
            Err(_) if send.is_closed() => return,
            Err(error) => {
                sources.damage.listed(Some(sentence(&error)));
                std::thread::sleep(PAUSE);
            }
        }
    };
    let mut rows = rows.into_iter();
    loop {
        let portion: Vec<_> = rows.by_ref().take(PORTION).collect();
        if portion.is_empty() {
            return;
        }
        let portion = portion.into_iter().filter_map(|row| row.read(&sources.damage)).collect();
        if send.blocking_send(portion).is_err() {
            return;
        }
    }
}

/// A row as it was read.
pub(super) struct Row {
    pub(super) key: RowKey,
    pub(super) version: RecordVersion,
    pub(super) json: String,
}

impl Row {
    /// The record, unless it is damaged, which is noted.
    pub(super) fn read(self, damage: &Damage) -> Option<Stored> {
        match row::record(&self.key, &self.json) {
            Ok(record) => Some(Stored { record, version: self.version }),
            Err(reason) => {
                damage.found(self.key, reason);
                None
            }
        }
    }

    pub(super) fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let key = RowKey {
            kind: row.get(0)?,
            namespace: row.get(1)?,
            pipeline: row.get(2)?,
            environment: row.get(3)?,
            name: row.get(4)?,
        };
        Ok(Self { key, version: RecordVersion(number(row.get(5)?)), json: row.get(6)? })
    }
}

/// The columns of [`Row::of`].
pub(super) const COLUMNS: &str = "kind, namespace, pipeline, environment, name, version, json";

fn rows(database: &mut Connection) -> rusqlite::Result<(RecordVersion, Vec<Row>)> {
    let transaction = database.transaction()?;
    let version = transaction.query_row("SELECT version FROM counter", (), |row| row.get(0))?;
    let live = format!("SELECT {COLUMNS} FROM records INDEXED BY live WHERE removed IS NULL");
    let rows = transaction.prepare_cached(&live)?.query_map((), Row::of)?.collect::<rusqlite::Result<_>>()?;
    Ok((RecordVersion(number(version)), rows))
}
