//! The past: who did what, and what became of promotions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use weir_core::{Actor, EnvironmentName, Namespace, PipelineKey, PlainProposal, Promotion, PromotionKey};

use crate::store::StoreError;

/// What happened, for people who ask later. Never read by a decision.
pub trait Journal: Send + Sync {
    /// Writes down that somebody does something. Durable when it returns.
    fn note(&self, deed: &Deed) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What people did, newest first.
    fn deeds(&self, query: &DeedQuery) -> impl Future<Output = Result<Vec<Noted>, StoreError>> + Send;

    /// The promotions of a pipeline, newest first, with those that are no longer among the records.
    fn promotions(&self, query: &HistoryQuery) -> impl Future<Output = Result<Vec<Promotion>, StoreError>> + Send;

    /// The proposal that a promotion opened, though it is no longer among the records.
    fn proposal(&self, key: &PromotionKey) -> impl Future<Output = Result<Option<PlainProposal>, StoreError>> + Send;
}

/// What somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deed {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Actor,
    /// What, as a verb: `promote`, `approve`, `reject`, `suspend`, `resume`, `freeze`, `unfreeze`, `merge`, …
    pub verb: String,
    /// To what: `default/podinfo/prod`, `freeze/friday`.
    pub object: String,
    /// The namespace, if it is about one, or about something in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The pipeline, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineKey>,
    /// The details: a release, a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Deed {
    /// The namespace that it is about: whoever may look at that may know of it. `None`: all of them.
    pub fn home(&self) -> Option<&Namespace> {
        self.namespace.as_ref().or(self.pipeline.as_ref().map(|pipeline| &pipeline.namespace))
    }
}

/// A deed and its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Its number. Later ones are higher.
    pub number: u64,
    /// What was done.
    #[serde(flatten)]
    pub deed: Deed,
}

/// Which deeds. What is left out selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeedQuery {
    /// Only those about this namespace, or about something in it.
    pub namespace: Option<Namespace>,
    /// Only those about this pipeline.
    pub pipeline: Option<PipelineKey>,
    /// Only those by this person.
    pub by: Option<String>,
    /// Only those before this number.
    pub before: Option<u64>,
    /// How many at most.
    pub limit: usize,
}

/// Which promotions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Of which pipeline. `None`: of all.
    pub pipeline: Option<PipelineKey>,
    /// Only those of this namespace.
    pub namespace: Option<Namespace>,
    /// Only those into this environment.
    pub environment: Option<EnvironmentName>,
    /// Only those in one of these phases. Empty: in any.
    pub phases: Vec<weir_core::Phase>,
    /// How many to leave out, from the newest.
    pub skip: usize,
    /// How many at most.
    pub limit: usize,
}
