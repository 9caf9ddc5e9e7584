//! The records that must survive: one at a time, each with a version.

use std::fmt;

use futures_core::Stream;
use thiserror::Error;
use weir_core::{
    EnvironmentName, EnvironmentRecord, Freeze, Name, Observation, ObservationKey, PipelineKey, PlainProposal,
    Promotion, PromotionKey,
};

/// Where records are kept. There is no transaction across records, so that Kubernetes can serve the same port.
///
/// A call that returned `Ok` has happened, durably. One that was dropped, or that returned
/// [`Unavailable`](StoreError::Unavailable), may have happened.
pub trait Store: Send + Sync {
    /// The record as it is now.
    fn get(&self, key: &RecordKey) -> impl Future<Output = Result<Option<Stored>, StoreError>> + Send;

    /// The freezes as they are now. A watch tells them, too, but a moment later.
    fn freezes(&self) -> impl Future<Output = Result<Vec<Stored>, StoreError>> + Send;

    /// Keeps a new record. That there is one already is [`StoreError::Exists`]: whoever creates it first has it.
    fn create(&self, record: Record) -> impl Future<Output = Result<RecordVersion, StoreError>> + Send;

    /// Replaces a record, if it is still the one that was read. Otherwise it is [`StoreError::Moved`].
    fn replace(
        &self,
        record: Record,
        at: RecordVersion,
    ) -> impl Future<Output = Result<RecordVersion, StoreError>> + Send;

    /// Removes a record, if it is still the one that was read. One that is gone already is a success.
    fn remove(&self, key: &RecordKey, at: RecordVersion) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Every record that there is, then [`Notice::Listed`], then whatever changes, in order for each record.
    ///
    /// A change may be told twice, and one of several changes of a record may be left out, but never the last.
    fn watch(&self) -> impl Stream<Item = Notice> + Send + Unpin + 'static;
}

/// A record of the store.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// What people said about a pipeline beside its definition.
    Pipeline(PipelineKey, PipelineRecord),
    /// The memory of an environment.
    Environment(PipelineKey, EnvironmentName, Box<EnvironmentRecord>),
    /// A promotion.
    Promotion(Box<Promotion>),
    /// What was reported about a workload.
    Observation(PipelineKey, ObservationKey, Box<Observation>),
    /// A stop.
    Freeze(Freeze),
    /// A proposal that Weir keeps itself.
    Proposal(Box<PlainProposal>),
}

/// What people said about a pipeline beside its definition, which may be a file that Weir only reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PipelineRecord {
    /// Nothing is written to Git while it is suspended.
    pub suspended: bool,
}

/// Which record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKey {
    /// What people said about a pipeline.
    Pipeline(PipelineKey),
    /// The memory of an environment.
    Environment(PipelineKey, EnvironmentName),
    /// A promotion.
    Promotion(PromotionKey),
    /// What was reported about a workload.
    Observation(PipelineKey, ObservationKey),
    /// A stop.
    Freeze(Name),
    /// A proposal, by the promotion that opened it.
    Proposal(PromotionKey),
}

/// Which state of a record. Later states of one record have higher numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordVersion(pub u64);

/// A record as it was at some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// Which state of it this is.
    pub version: RecordVersion,
}

/// What a watch tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A record is like this now.
    Changed(Stored),
    /// A record is gone since this version of the store.
    Removed(RecordKey, RecordVersion),
    /// Every record that there was has been told.
    Listed,
}

/// Why a record could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// There is one already.
    #[error("{0} exists already")]
    Exists(RecordKey),
    /// It is no longer what was read, or gone.
    #[error("{0} was changed by somebody else in the meantime")]
    Moved(RecordKey),
    /// The store cannot be used at the moment.
    #[error("the store cannot be used: {0}")]
    Unavailable(String),
}

impl Record {
    /// Which record it is.
    pub fn key(&self) -> RecordKey {
        match self {
            Self::Pipeline(pipeline, _) => RecordKey::Pipeline(pipeline.clone()),
            Self::Environment(pipeline, environment, _) => {
                RecordKey::Environment(pipeline.clone(), environment.clone())
            }
            Self::Promotion(promotion) => RecordKey::Promotion(promotion.key.clone()),
            Self::Observation(pipeline, key, _) => RecordKey::Observation(pipeline.clone(), key.clone()),
            Self::Freeze(freeze) => RecordKey::Freeze(freeze.name.clone()),
            Self::Proposal(proposal) => RecordKey::Proposal(proposal.key.clone()),
        }
    }
}

impl RecordKey {
    /// The pipeline that the record belongs to. A freeze may concern any.
    pub fn pipeline(&self) -> Option<&PipelineKey> {
        match self {
            Self::Pipeline(pipeline) | Self::Environment(pipeline, _) | Self::Observation(pipeline, _) => {
                Some(pipeline)
            }
            Self::Promotion(key) | Self::Proposal(key) => Some(&key.pipeline),
            Self::Freeze(_) => None,
        }
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipeline(pipeline) => write!(f, "pipeline `{pipeline}`"),
            Self::Environment(pipeline, environment) => write!(f, "environment `{environment}` of `{pipeline}`"),
            Self::Promotion(key) => write!(f, "promotion `{key}`"),
            Self::Observation(pipeline, key) => {
                write!(f, "what was reported about `{}` in `{}` of `{pipeline}`", key.workload, key.environment)
            }
            Self::Freeze(name) => write!(f, "freeze `{name}`"),
            Self::Proposal(key) => write!(f, "proposal `{key}`"),
        }
    }
}
