//! What people want of the promotion into an environment: as it would be written down, and what would come of it.

use std::sync::Arc;

use jiff::Timestamp;
use weir_core::{
    Actor, Approval, Environment, EnvironmentName, Gate, Phase, Pipeline, PipelineKey, Plan, Preview, Promotion,
    PromotionKey, Reason, Rejection, Release, preview, request,
};
use weir_ports::{Clock, Journal, Record, RecordKey, RecordVersion, Store};

use super::{Act, Asked, Denied, People, not_merging, place};
use crate::{decide::save, world::Known};

/// What somebody wants of the promotion into an environment. Versions are as people write them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// That a release goes there.
    Promote {
        /// Which.
        version: String,
    },
    /// To agree to a release.
    Approve {
        /// Which. `None`: the one that is on its way.
        version: Option<String>,
    },
    /// That what is on its way shall not go on.
    Reject {
        /// What that has to be. `None`: whatever it is.
        version: Option<String>,
    },
}

/// What is wanted, as it would be written down.
struct Wanted {
    promotion: Promotion,
    /// The state of the record that it was made from. `None`: it is a new one.
    at: Option<RecordVersion>,
    /// The release that they mean.
    about: Release,
    /// As they said it.
    said: String,
}

impl<S: Store, J: Journal, C: Clock> People<'_, S, J, C> {
    /// Asks for a release, agrees to it, or rejects it.
    pub async fn ask(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        what: &Ask,
    ) -> Result<Promotion, Denied> {
        self.retry(|noted| async move {
            let now = self.clock.now();
            let Wanted { promotion, at, said, .. } =
                self.look(pipeline, |known| what.wanted(known, environment, asked, now))??;
            let act = Act::on(pipeline, what.verb(), place(pipeline, environment)).about(said);
            self.note(&noted, asked, act).await?;
            save(Record::Promotion(Box::new(promotion.clone())), at, self.world, self.store).await?;
            Ok(promotion)
        })
        .await
    }

    /// What would come of it. Nothing is written down.
    pub fn preview(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        what: &Ask,
    ) -> Result<Preview, Denied> {
        let now = self.clock.now();
        self.look(pipeline, |known| {
            let wanted = what.wanted(known, environment, asked, now)?;
            let gone = || Denied::NoPipeline(pipeline.clone());
            preview(known.pipeline(), known.snapshot(), &wanted.promotion, wanted.about, now).ok_or_else(gone)
        })?
    }
}

/// A release that waits for people to agree, as it is for one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// Which.
    pub release: Release,
    /// Whether their approval would count.
    pub counts: bool,
    /// Whether they agreed already, and that still counts.
    pub given: bool,
}

impl Awaited {
    /// What goes on before an environment as soon as people agree: the newest, which takes the turn then; or the promotion
    /// whose turn it is, if that goes first whatever people say. `plan` is that of the pipeline.
    pub fn before(known: &Known, environment: &Environment, plan: &Plan, by: &Actor) -> Option<Self> {
        let live = known.newest(&environment.name).filter(|promotion| promotion.phase.is_live())?;
        let live = plan.promotion(&live.key, known.snapshot()).unwrap_or(live);
        let decided = plan.environments.iter().find(|it| it.name == environment.name)?;
        let behind = decided.next.iter().any(|hold| matches!(hold.reason, Reason::Behind { .. }));
        let next = decided.next.iter().filter(|_| !behind);
        let (release, given) = next.chain(&live.holds).find_map(|hold| match &hold.reason {
            Reason::AwaitingApproval { release, given, .. } => Some((release.clone(), given.contains(&by.name))),
            _ => None,
        })?;
        let counts = may_approve(&environment.gates, live, by, &environment.name).is_ok();
        Some(Self { release, counts, given })
    }
}

impl Ask {
    fn verb(&self) -> &'static str {
        match self {
            Self::Promote { .. } => "promote",
            Self::Approve { .. } => "approve",
            Self::Reject { .. } => "reject",
        }
    }

    fn wanted(
        &self,
        known: &Known,
        environment: &EnvironmentName,
        asked: &Asked,
        now: Timestamp,
    ) -> Result<Wanted, Denied> {
        if known.definition().is_none() {
            return Err(Denied::NoPipeline(known.pipeline().key.clone()));
        }
        let defined = known.pipeline().environment_named(environment)?;
        match self {
            Self::Promote { version } => {
                let promotion = requested(known, defined, version, &asked.by)?;
                let about = promotion.release.clone();
                Ok(Wanted { promotion, at: None, about, said: version.clone() })
            }
            Self::Approve { version } => changed(known, environment, |promotion| {
                let release = match version {
                    Some(version) => release(known, defined, version)?,
                    None => promotion.release.clone(),
                };
                if release != promotion.release {
                    was_seen(known, environment, &release)?;
                }
                may_approve(&defined.gates, promotion, &asked.by, environment)?;
                let given = |approval: &Approval| approval.by.name == asked.by.name && approval.release == release;
                promotion.approvals.retain(|approval| !given(approval));
                promotion.approvals.push(Approval { by: asked.by.clone(), release: release.clone(), at: now });
                Ok(release)
            }),
            Self::Reject { version } => changed(known, environment, |promotion| {
                if let Some(version) = version {
                    still(promotion, &release(known, defined, version)?)?;
                }
                not_merging(promotion)?;
                let why = asked.why.as_deref().map(Arc::from);
                promotion.rejection = Some(Rejection { by: asked.by.clone(), at: now, why });
                Ok(promotion.release.clone())
            }),
        }
    }
}

/// The promotion that asks for a release.
fn requested(known: &Known, into: &Environment, version: &str, by: &Actor) -> Result<Promotion, Denied> {
    let release = release(known, into, version)?;
    let promotion = request(known.pipeline(), known.snapshot(), &into.name, release, by.clone())?;
    if into.promotion.is_none() {
        return Err(Denied::NoStrategy(into.name.clone()));
    }
    was_seen(known, &into.name, &promotion.release)?;
    Ok(promotion)
}

/// The promotion that is on its way, changed. `change` says which release it was about.
fn changed(
    known: &Known,
    environment: &EnvironmentName,
    change: impl FnOnce(&mut Promotion) -> Result<Release, Denied>,
) -> Result<Wanted, Denied> {
    let newest = known.newest(environment).cloned();
    let mut promotion = newest.ok_or_else(|| Denied::NothingUnderWay(environment.clone()))?;
    under_way(&promotion)?;
    let about = change(&mut promotion)?;
    let at = known.version(&RecordKey::Promotion(promotion.key.clone()));
    Ok(Wanted { promotion, at, said: about.to_string(), about })
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

/// What somebody looked at has to be what is on its way.
fn still(promotion: &Promotion, seen: &Release) -> Result<(), Denied> {
    if promotion.release == *seen {
        return Ok(());
    }
    let (release, now) = (seen.clone(), promotion.release.clone());
    Err(Denied::Overtaken { environment: promotion.key.environment.clone(), release, now })
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
