//! Who may do what, from a file of tokens.
//!
//! A token is 32 bytes of chance behind `weir_`, shown once, when it is made. The file keeps its SHA-256 only, so whoever
//! reads the file cannot use it. The hash needs no salt and no slow function: nobody can guess 32 bytes of chance.

mod entry;
mod file;

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;
use weir_core::{Actor, Namespace};
use weir_ports::{Access, AccessError, Scope, Verb};

pub use entry::{Grant, Role, TokenEntry};

use entry::Hash;

use crate::stamp::Stamp;

/// How often it is checked whether the file changed, at most.
const INTERVAL: Duration = Duration::from_secs(1);

/// What every token begins with, so that one that was left somewhere is known for what it is.
const PREFIX: &str = "weir_";

/// The tokens of a file, followed as it changes. A file that breaks leaves those in force that were in it last.
pub struct Tokens {
    file: PathBuf,
    state: Arc<Mutex<State>>,
}

struct State {
    looked: Instant,
    stamp: Option<Stamp>,
    table: Arc<Table>,
    problem: Option<String>,
}

/// The tokens, found by hash and by name.
#[derive(Default)]
struct Table {
    by_hash: HashMap<Hash, Arc<TokenEntry>>,
    by_name: HashMap<String, Arc<TokenEntry>>,
}

/// Why tokens cannot be used or made.
#[derive(Debug, Error)]
pub enum TokensError {
    /// The file cannot be read or written.
    #[error("using the file of tokens `{}` failed", file.display())]
    Io {
        /// Which file.
        file: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// Something in it is wrong: where, and what.
    #[error("{0}")]
    Wrong(String),
    /// The system gave no chance.
    #[error("making a token failed: the system gives no random bytes")]
    Random(#[source] getrandom::Error),
}

impl Tokens {
    /// Reads a file of tokens.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, TokensError> {
        let file = file.into();
        let stamp = stamp(&file);
        let table = Arc::new(Table::read(&file)?);
        let state = State { looked: Instant::now(), stamp, table, problem: None };
        Ok(Self { file, state: Arc::new(Mutex::new(state)) })
    }

    /// Makes a token, and what the file shall say about it. The token is in no other place.
    pub fn create(
        name: impl Into<String>,
        roles: Vec<Grant>,
        groups: Vec<String>,
        expires: Option<Timestamp>,
    ) -> Result<(SecretString, TokenEntry), TokensError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(TokensError::Random)?;
        let token = SecretString::from(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)));
        let hash = Hash::of(token.expose_secret());
        Ok((token, TokenEntry { name: name.into(), hash, roles, groups, expires }))
    }

    /// Adds a token to a file, which is made if it is missing, for this user alone. What is in it stays as it is.
    pub fn append(file: &Path, entry: &TokenEntry) -> Result<(), TokensError> {
        file::append(file, entry)
    }

    /// The tokens that are in force.
    async fn table(&self) -> Result<Arc<Table>, AccessError> {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.looked.elapsed() < INTERVAL {
                return Ok(Arc::clone(&state.table));
            }
            state.looked = Instant::now();
        }
        let (file, state) = (self.file.clone(), Arc::clone(&self.state));
        let looked = tokio::task::spawn_blocking(move || look(&file, &state)).await;
        looked.map_err(|error| AccessError(error.to_string()))
    }
}

/// Reads the file if it is another than before.
fn look(file: &Path, state: &Mutex<State>) -> Arc<Table> {
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let stamp = stamp(file);
    if stamp.is_some() && stamp == lock().stamp {
        return Arc::clone(&lock().table);
    }
    let read = Table::read(file);
    let mut state = lock();
    state.stamp = stamp;
    match read {
        Ok(table) => (state.table, state.problem) = (Arc::new(table), None),
        Err(error) => {
            let reason = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            let problem = format!("{error}{reason}; the tokens that were read last stay in force");
            tracing::warn!(problem, "the tokens cannot be read");
            state.problem = Some(problem);
        }
    }
    Arc::clone(&state.table)
}

fn stamp(file: &Path) -> Option<Stamp> {
    std::fs::metadata(file).ok().map(|metadata| Stamp::of(&metadata))
}

impl Table {
    fn read(file: &Path) -> Result<Self, TokensError> {
        let text = std::fs::read_to_string(file).map_err(|source| TokensError::Io { file: file.to_owned(), source })?;
        let mut table = Self::default();
        for entry in file::entries(file, &text)? {
            let entry = Arc::new(entry);
            table.by_hash.insert(entry.hash.clone(), Arc::clone(&entry));
            table.by_name.insert(entry.name.clone(), entry);
        }
        Ok(table)
    }

    /// Their token, if it is still valid.
    fn of(&self, who: &Actor) -> Option<Arc<TokenEntry>> {
        self.by_name.get(&who.name).filter(|entry| entry.is_valid(Timestamp::now())).cloned()
    }
}

impl Access for Tokens {
    /// Looked up by the hash of the whole token. How long that takes may tell something about the hash of what was
    /// tried, but nobody can choose a text by its hash, so it brings nobody closer to a token.
    async fn identify(&self, token: &SecretString) -> Result<Option<Actor>, AccessError> {
        let table = self.table().await?;
        let entry = table.by_hash.get(&Hash::of(token.expose_secret()));
        let valid = entry.filter(|entry| entry.is_valid(Timestamp::now()));
        Ok(valid.map(|entry| Actor { name: entry.name.clone(), groups: entry.groups.clone() }))
    }

    async fn may(&self, who: &Actor, what: Verb, scope: Scope<'_>) -> Result<bool, AccessError> {
        let entry = self.table().await?.of(who);
        Ok(entry.is_some_and(|entry| entry.roles.iter().any(|grant| grant.allows(what, scope.namespace()))))
    }

    async fn homes(&self, who: &Actor) -> Result<BTreeSet<Namespace>, AccessError> {
        let entry = self.table().await?.of(who);
        Ok(entry.iter().flat_map(|entry| &entry.roles).filter_map(|grant| grant.namespace.clone()).collect())
    }

    fn right(&self, what: Verb) -> String {
        let role = match what {
            Verb::View => "a token with any role",
            Verb::Promote | Verb::Rollback | Verb::Pause | Verb::Define => "a token with the role `operator`",
            Verb::Approve => "a token with the role `approver`",
        };
        role.to_owned()
    }

    fn problem(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).problem.clone()
    }
}
