//! What people do: ask for a release, agree to it, reject it, stop everything, and review proposals.
//!
//! Every deed is written into the journal before it is done, so that nothing happens that nobody did. Whether somebody
//! may do it at all was asked before; here it is only asked whether it makes sense.

mod act;
mod ask;
mod proposals;

use thiserror::Error;
use weir_core::{
    Actor, CommitId, EnvironmentName, Freeze, Hold, Intent, Name, NamingError, PipelineKey, Promotion, Release,
    RequestError, Selector,
};
use weir_ports::{Clock, Journal, PipelineRecord, Record, RecordKey, Store, StoreError};

pub(crate) use act::{Act, write};
pub use ask::{Ask, Awaited};
pub use proposals::holds_on_turn;

use crate::{
    decide::save,
    world::{Known, World},
};

/// The one way for people to change something.
#[derive(Debug)]
pub struct People<'a, S, J, C> {
    /// What is known.
    pub world: &'a World,
    /// Where it is kept.
    pub store: &'a S,
    /// Where it is written down who did it.
    pub journal: &'a J,
    /// What time it is.
    pub clock: &'a C,
}

/// Who wants something, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Who.
    pub by: Actor,
    /// Why, in their words.
    pub why: Option<String>,
}

/// Why it is not done.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Denied {
    /// There is no such pipeline.
    #[error("there is no pipeline `{0}`")]
    NoPipeline(PipelineKey),
    /// There is no such environment, or a name means nothing.
    #[error(transparent)]
    Naming(#[from] NamingError),
    /// Nothing is promoted into the first environment.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// An environment that is only shown.
    #[error("`{0}` has no promotion strategy; add `promotion.strategy` to the pipeline")]
    NoStrategy(EnvironmentName),
    /// Nothing is on its way.
    #[error("nothing is on its way into `{0}`")]
    NothingUnderWay(EnvironmentName),
    /// Something else is on its way than what they looked at.
    #[error("`{release}` is not what is on its way into `{environment}`: that is `{now}`; look at it again")]
    Overtaken {
        /// The environment.
        environment: EnvironmentName,
        /// What they looked at.
        release: Release,
        /// What is on its way.
        now: Release,
    },
    /// It has arrived already.
    #[error("`{release}` has arrived in `{environment}` already; to go back, promote the release that shall be there")]
    Arrived {
        /// The environment.
        environment: EnvironmentName,
        /// What arrived.
        release: Release,
    },
    /// Nobody has to agree.
    #[error("`{0}` has no approval gate: nobody has to agree")]
    NoGate(EnvironmentName),
    /// Somebody else has to.
    #[error("an approval of `{by}` would not count for `{environment}`: {rule}")]
    NotAnApprover {
        /// Who.
        by: String,
        /// The environment.
        environment: EnvironmentName,
        /// Whose would.
        rule: String,
    },
    /// It was never seen to run.
    #[error("`{release}` cannot go to {environment}: it was never seen to run anywhere in the pipeline{}", last(.known))]
    NeverSeen {
        /// What they asked for.
        release: Release,
        /// Where.
        environment: EnvironmentName,
        /// What was, newest first.
        known: Vec<Release>,
    },
    /// It is too late.
    #[error("`{0}` is being merged; look at it again in a moment")]
    BeingMerged(Release),
    /// There is no such proposal.
    #[error("there is no proposal `{0}`")]
    NoProposal(String),
    /// The proposal is over.
    #[error("proposal `{proposal}` is {ended} already")]
    NotOpen {
        /// Which.
        proposal: String,
        /// How it ended.
        ended: &'static str,
    },
    /// The proposal was changed since they looked at it.
    #[error("proposal `{proposal}` is at `{now}` by now; look at it again")]
    Changed {
        /// Which.
        proposal: String,
        /// Where it is.
        now: CommitId,
    },
    /// Something holds it.
    #[error("it cannot be merged now: {}", sentences(.0))]
    Held(Vec<Hold>),
    /// There is no such freeze.
    #[error("there is no freeze `{0}`")]
    NoFreeze(Name),
    /// There is such a freeze already.
    #[error("there is a freeze `{0}` already; lift it first, or choose another name")]
    FreezeExists(Name),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn last(releases: &[Release]) -> String {
    let names: Vec<_> = releases.iter().take(5).map(|release| format!("`{release}`")).collect();
    if names.is_empty() { String::new() } else { format!("; the last that were are {}", names.join(", ")) }
}

fn sentences(holds: &[Hold]) -> String {
    holds.iter().map(|hold| hold.reason.to_string()).collect::<Vec<_>>().join("; ")
}

impl<S: Store, J: Journal, C: Clock> People<'_, S, J, C> {
    /// Stops a pipeline, or lets it go on.
    pub async fn suspend(&self, asked: &Asked, pipeline: &PipelineKey, suspended: bool) -> Result<(), Denied> {
        self.retry(|noted| async move {
            let key = RecordKey::Pipeline(pipeline.clone());
            let known = self.look(pipeline, |known| known.definition().map(|_| known.version(&key)))?;
            let at = known.ok_or_else(|| Denied::NoPipeline(pipeline.clone()))?;
            let verb = if suspended { "suspend" } else { "resume" };
            self.note(&noted, asked, Act::on(pipeline, verb, pipeline.to_string())).await?;
            let record = Record::Pipeline(pipeline.clone(), PipelineRecord { suspended });
            save(record, at, self.world, self.store).await?;
            Ok(())
        })
        .await
    }

    /// Sets a freeze.
    pub async fn freeze(&self, asked: &Asked, freeze: Freeze) -> Result<(), Denied> {
        let (key, freeze) = (&RecordKey::Freeze(freeze.name.clone()), &freeze);
        self.retry(|noted| async move {
            let name = &freeze.name;
            if self.store.get(key).await?.is_some() {
                return Err(Denied::FreezeExists(name.clone()));
            }
            let act = Act::on_all(&freeze.selector, "freeze", format!("freeze/{name}")).about(&freeze.reason);
            self.note(&noted, asked, act).await?;
            save(Record::Freeze(freeze.clone()), None, self.world, self.store).await?;
            Ok(())
        })
        .await
    }

    /// Lifts a freeze.
    pub async fn unfreeze(&self, asked: &Asked, name: &Name) -> Result<(), Denied> {
        let key = &RecordKey::Freeze(name.clone());
        self.retry(|noted| async move {
            let stored = self.store.get(key).await?.ok_or_else(|| Denied::NoFreeze(name.clone()))?;
            let selected = match &stored.record {
                Record::Freeze(freeze) => freeze.selector.clone(),
                _ => Selector::default(),
            };
            self.note(&noted, asked, Act::on_all(&selected, "unfreeze", format!("freeze/{name}"))).await?;
            self.store.remove(key, stored.version).await?;
            Ok(())
        })
        .await
    }

    fn look<T>(&self, pipeline: &PipelineKey, look: impl FnOnce(&Known) -> T) -> Result<T, Denied> {
        self.world.look(pipeline, look).ok_or_else(|| Denied::NoPipeline(pipeline.clone()))
    }
}

fn place(pipeline: &PipelineKey, environment: &EnvironmentName) -> String {
    format!("{pipeline}/{environment}")
}

/// What is on its way to the base branch at this moment cannot be called back. What was held up there can.
pub(super) fn not_merging(promotion: &Promotion) -> Result<(), Denied> {
    let merging = matches!(promotion.leg.intent, Some(Intent::Merge(_) | Intent::Push));
    if merging && promotion.leg.facts.problem.is_none() {
        return Err(Denied::BeingMerged(promotion.release.clone()));
    }
    Ok(())
}
