//! Who somebody is, and what they may do.

use std::{collections::BTreeSet, future::ready};

use secrecy::SecretString;
use thiserror::Error;
use weir_core::{Actor, Namespace};

/// Who may do what.
pub trait Access: Send + Sync {
    /// Whose token this is. `None`: nobody's.
    fn identify(&self, token: &SecretString) -> impl Future<Output = Result<Option<Actor>, AccessError>> + Send;

    /// Whether they may do this with what is in the namespace. `None`: with what is in all of them.
    fn may(
        &self,
        who: &Actor,
        what: Verb,
        namespace: Option<&Namespace>,
    ) -> impl Future<Output = Result<bool, AccessError>> + Send;

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
    /// Ask for a release, merge and close proposals, suspend, resume, freeze.
    Operate,
    /// Approve and reject releases, review proposals.
    Approve,
    /// Propose the definition of a pipeline.
    Define,
}

/// Why it cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("checking who this is failed: {0}")]
pub struct AccessError(pub String);
