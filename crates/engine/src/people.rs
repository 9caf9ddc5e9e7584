//! What people do: ask for a release, agree to it, reject it, stop everything, and review proposals.
//!
//! Every deed is written into the journal before it is done, so that nothing happens that nobody did. Whether somebody
//! may do it at all was asked before; here it is only asked whether it makes sense.

mod act;
mod proposals;

use std::sync::Arc;

use jiff::Timestamp;
use thiserror::Error;
use weir_core::{
    Actor, Approval, CommitId, EnvironmentName, Freeze, Gate, Hold, Intent, Name, NamingError, Phase, Pipeline,
    PipelineKey, Promotion, PromotionKey, Rejection, Release, RequestError, Selector, request,
};
use weir_ports::{Clock, Journal, PipelineRecord, Record, RecordKey, Store, StoreError};

pub(crate) use act::{Act, write};

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
    /// Asks for a release in an environment. `version` is as people write it.
    pub async fn promote(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        version: &str,
    ) -> Result<Promotion, Denied> {
        self.retry(|noted| async move {
            let promotion = self.look(pipeline, |known| {
                let defined = known.pipeline().environment_named(environment)?;
                let release = release(known, defined, version)?;
                let request = request(known.pipeline(), known.snapshot(), environment, release, asked.by.clone())?;
                if defined.promotion.is_none() {
                    return Err(Denied::NoStrategy(environment.clone()));
                }
                was_seen(known, environment, &request.release)?;
                Ok(request)
            })??;
            let act = Act::on(pipeline, "promote", place(pipeline, environment)).about(version);
            self.note(&noted, asked, act).await?;
            let record = Record::Promotion(Box::new(promotion.clone()));
            save(record, None, self.world, self.store).await?;
            Ok(promotion)
        })
        .await
    }

    /// Agrees to a release. Without `version`, to the one that is on its way.
    pub async fn approve(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        version: Option<&str>,
    ) -> Result<Promotion, Denied> {
        self.on_live(asked, "approve", pipeline, environment, |known, promotion, at| {
            let defined = known.pipeline().environment_named(environment)?;
            let release = match version {
                Some(version) => release(known, defined, version)?,
                None => promotion.release.clone(),
            };
            may_approve(&defined.gates, promotion, &asked.by, environment)?;
            let given = |approval: &Approval| approval.by.name == asked.by.name && approval.release == release;
            promotion.approvals.retain(|approval| !given(approval));
            promotion.approvals.push(Approval { by: asked.by.clone(), release: release.clone(), at });
            Ok(release)
        })
        .await
    }

    /// Says that what is on its way shall not go on.
    pub async fn reject(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
    ) -> Result<Promotion, Denied> {
        self.on_live(asked, "reject", pipeline, environment, |_, promotion, at| {
            not_merging(promotion)?;
            let why = asked.why.as_deref().map(Arc::from);
            promotion.rejection = Some(Rejection { by: asked.by.clone(), at, why });
            Ok(promotion.release.clone())
        })
        .await
    }

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

    /// Changes the promotion that is on its way. `change` says which release it was about.
    async fn on_live(
        &self,
        asked: &Asked,
        verb: &str,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        change: impl Fn(&Known, &mut Promotion, Timestamp) -> Result<Release, Denied> + Send + Sync,
    ) -> Result<Promotion, Denied> {
        let change = &change;
        self.retry(|noted| async move {
            let at = self.clock.now();
            let (promotion, about, version) = self.look(pipeline, |known| {
                known.pipeline().environment_named(environment)?;
                let mut promotion =
                    known.newest(environment).cloned().ok_or_else(|| Denied::NothingUnderWay(environment.clone()))?;
                under_way(&promotion)?;
                let about = change(known, &mut promotion, at)?;
                let version = known.version(&RecordKey::Promotion(promotion.key.clone()));
                Ok::<_, Denied>((promotion, about, version))
            })??;
            let act = Act::on(pipeline, verb, place(pipeline, environment)).about(about);
            self.note(&noted, asked, act).await?;
            save(Record::Promotion(Box::new(promotion.clone())), version, self.world, self.store).await?;
            Ok(promotion)
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

/// What a person asks for has to have run somewhere in the pipeline, as far as that is remembered.
fn was_seen(known: &Known, environment: &EnvironmentName, release: &Release) -> Result<(), Denied> {
    let records = known.snapshot().environments.values();
    let mut seen: Vec<_> = records.flat_map(|record| &record.order).collect();
    if seen.iter().any(|first| release.covers(&first.release)) {
        return Ok(());
    }
    seen.sort_by_key(|first| std::cmp::Reverse(first.at));
    let mut known: Vec<Release> = Vec::new();
    for first in seen {
        if !known.contains(&first.release) {
            known.push(first.release.clone());
        }
    }
    Err(Denied::NeverSeen { release: release.clone(), environment: environment.clone(), known })
}

/// What is on its way to the base branch at this moment cannot be called back. What was held up there can.
pub(super) fn not_merging(promotion: &Promotion) -> Result<(), Denied> {
    let merging = matches!(promotion.leg.intent, Some(Intent::Merge(_) | Intent::Push));
    if merging && promotion.leg.facts.problem.is_none() {
        return Err(Denied::BeingMerged(promotion.release.clone()));
    }
    Ok(())
}

fn under_way(promotion: &Promotion) -> Result<(), Denied> {
    let PromotionKey { environment, .. } = promotion.key.clone();
    match promotion.phase {
        phase if phase.is_live() => Ok(()),
        Phase::Delivered | Phase::Succeeded | Phase::Failed => {
            Err(Denied::Arrived { environment, release: promotion.release.clone() })
        }
        _ => Err(Denied::NothingUnderWay(environment)),
    }
}

/// The release that a version means. Where several workloads go together, a bare version means the newest release that
/// was seen with it.
fn release(known: &Known, into: &weir_core::Environment, version: &str) -> Result<Release, Denied> {
    let pipeline: &Pipeline = known.pipeline();
    let named = pipeline.release_named(version)?;
    let Some(revision) = named.single() else { return Ok(named) };
    let place = pipeline.environments().iter().position(|it| it.name == into.name).unwrap_or_default();
    let near = pipeline.environments().get(place.saturating_sub(1)..=place).unwrap_or_default();
    let seen = near.iter().filter_map(|it| known.snapshot().environments.get(&it.name));
    let seen = seen.flat_map(|record| record.order.iter().rev());
    let meant = seen.map(|first| &first.release).find(|it| it.members().iter().any(|(_, known)| known == revision));
    Ok(meant.cloned().unwrap_or(named))
}

fn may_approve(gates: &[Gate], promotion: &Promotion, by: &Actor, environment: &EnvironmentName) -> Result<(), Denied> {
    let mut gates = gates.iter().filter_map(|gate| match gate {
        Gate::Approval(approval) => Some(approval),
        _ => None,
    });
    let first = gates.next().ok_or_else(|| Denied::NoGate(environment.clone()))?;
    let author = promotion.requested_by.as_ref().is_some_and(|asked| asked.name == by.name);
    let counts = |gate: &weir_core::ApprovalGate| gate.from.include(by) && (gate.allow_author || !author);
    if counts(first) || gates.any(counts) {
        return Ok(());
    }
    let rule = if first.from.include(by) {
        "whoever asked for it cannot be the one who agrees".to_owned()
    } else {
        format!("it takes {}", first.from)
    };
    Err(Denied::NotAnApprover { by: by.name.clone(), environment: environment.clone(), rule })
}
