//! Who somebody is, and what they may do.

use std::{collections::BTreeSet, fmt, future::ready};

use secrecy::SecretString;
use thiserror::Error;
use weir_core::{Actor, Name, Namespace, PipelineKey};

/// Who may do what.
pub trait Access: Send + Sync {
    /// Whose token this is. `None`: nobody's.
    fn identify(&self, token: &SecretString) -> impl Future<Output = Result<Option<Actor>, AccessError>> + Send;

    /// Whether they may do this there.
    fn may(&self, who: &Actor, what: Verb, scope: Scope<'_>) -> impl Future<Output = Result<bool, AccessError>> + Send;

    /// The namespaces that they were given rights in, where that is written down by who they are. There may be more.
    fn homes(&self, _who: &Actor) -> impl Future<Output = Result<BTreeSet<Namespace>, AccessError>> + Send {
        ready(Ok(BTreeSet::new()))
    }

    /// What somebody needs who shall be allowed this, in the words of those who give it.
    fn right(&self, what: Verb) -> String;

    /// What is wrong with what it is decided by. What was right last stays in force.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Look at it.
    View,
    /// Ask for a release that is newer than what runs; merge and close proposals.
    Promote,
    /// Ask for a release that is not known to be newer than what runs.
    Rollback,
    /// Suspend and resume, freeze and lift.
    Pause,
    /// Approve and reject releases, review proposals.
    Approve,
    /// Propose the definition of a pipeline.
    Define,
}

/// What a right is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Everything that there is.
    All,
    /// Everything in a namespace.
    Namespace(&'a Namespace),
    /// One pipeline, and what belongs to it.
    Pipeline(&'a PipelineKey),
}

impl<'a> Scope<'a> {
    /// The namespace that it is in. `None`: it is in all.
    pub fn namespace(self) -> Option<&'a Namespace> {
        match self {
            Self::All => None,
            Self::Namespace(namespace) => Some(namespace),
            Self::Pipeline(key) => Some(&key.namespace),
        }
    }

    /// The pipeline that it is about. `None`: about all that are there.
    pub fn pipeline(self) -> Option<&'a Name> {
        match self {
            Self::Pipeline(key) => Some(&key.name),
            Self::All | Self::Namespace(_) => None,
        }
    }
}

impl<'a> From<&'a Namespace> for Scope<'a> {
    fn from(namespace: &'a Namespace) -> Self {
        Self::Namespace(namespace)
    }
}

impl<'a> From<&'a PipelineKey> for Scope<'a> {
    fn from(key: &'a PipelineKey) -> Self {
        Self::Pipeline(key)
    }
}

impl fmt::Display for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => write!(f, "in all namespaces"),
            Self::Namespace(namespace) => write!(f, "in namespace `{namespace}`"),
            Self::Pipeline(key) => write!(f, "on pipeline `{key}`"),
        }
    }
}

/// Why it cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("checking who this is failed: {0}")]
pub struct AccessError(pub String);
