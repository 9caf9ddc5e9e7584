//! How the server behaves.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use weir_core::Actor;
use weir_engine::Definitions;

/// Writes a copy of everything that is kept to a file on the server's machine.
pub type Backup = Arc<dyn Fn(PathBuf) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// How the server behaves.
#[derive(Clone)]
pub struct Settings {
    /// How it is found out who asks.
    pub authentication: Authentication,
    /// What happens to events of environments that have no Secret to sign them with.
    pub unsigned: Unsigned,
    /// What it bears.
    pub limits: Limits,
    /// What `POST /api/v1/backup` does. `None`: there is no such thing here.
    pub backup: Option<Backup>,
    /// Where the definitions that people propose go. `None`: nowhere.
    pub definitions: Option<Definitions>,
}

impl Settings {
    /// The usual ones.
    pub fn new(authentication: Authentication) -> Self {
        Self { authentication, unsigned: Unsigned::Refuse, limits: Limits::default(), backup: None, definitions: None }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { authentication, unsigned, limits, backup, definitions } = self;
        f.debug_struct("Settings")
            .field("authentication", authentication)
            .field("unsigned", unsigned)
            .field("limits", limits)
            .field("backup", &backup.is_some())
            .field("definitions", definitions)
            .finish()
    }
}

/// How it is found out who asks.
#[derive(Debug, Clone)]
pub enum Authentication {
    /// Whoever reaches the listener is this person and may do everything. Only for a listener on loopback: requests that
    /// name another host, or that a page of another origin makes, are refused.
    Open {
        /// Who everybody is.
        actor: Actor,
        /// The port that people reach it by, which has to stand in `Host`.
        port: u16,
    },
    /// Everybody brings a token that the access port knows.
    Tokens,
}

/// What happens to events that nothing signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    /// They are refused.
    Refuse,
    /// They are believed, if they come over loopback and authentication is [`Open`](Authentication::Open). For
    /// demonstrations and tests on one machine: anybody on it can then tell what runs where.
    Accept,
}

/// What the server bears. Whatever is more is turned away at once, so that the rest is served.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How long a body may be, in bytes.
    pub body: usize,
    /// How many requests are served at a time, but for events.
    pub requests: usize,
    /// How many events are taken in at a time.
    pub events: usize,
    /// How many requests may wait for an outcome at a time. The others are answered without waiting.
    pub waits: usize,
    /// How many follow the event stream at a time.
    pub streams: usize,
    /// How many connections are open at a time. The others wait until one closes.
    pub connections: usize,
    /// How long a client may take to send a request's head, and how long an idle connection stays open.
    pub head_timeout: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a client may take to accept what is sent to it.
    pub write_timeout: Duration,
    /// How long a request may take altogether.
    pub request_timeout: Duration,
    /// How long one stream lasts. The client resumes it with another request, which is checked anew.
    pub stream_timeout: Duration,
    /// How often a stream without news gives a sign of life.
    pub keep_alive: Duration,
    /// How long requests may go on once the server shall stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            requests: 256,
            events: 1024,
            waits: 64,
            streams: 256,
            connections: 4096,
            head_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(75),
            stream_timeout: Duration::from_mins(15),
            keep_alive: Duration::from_secs(15),
            grace: Duration::from_secs(10),
        }
    }
}
