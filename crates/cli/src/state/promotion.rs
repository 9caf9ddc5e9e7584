//! A promotion in a state, as a person writes it down.

use anyhow::{Result, anyhow};
use jiff::Timestamp;
use serde::Deserialize;
use serde_saphyr::Spanned;
use weir_core::{
    Actor, Approval, Checks, CommitId, EnvironmentName, Phase, Pipeline, PromotionKey, ProposalState, Release, Review,
    Turn,
};

use super::{release, world::made_up_commit};
use crate::{
    document::Source,
    naming::Account,
    time::{self, Time},
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Promotion {
    environment: Spanned<EnvironmentName>,
    release: Spanned<String>,
    ordinal: Option<Ordinal>,
    phase: Option<Phase>,
    since: Option<Time>,
    requested_by: Option<String>,
    soaked: Option<Time>,
    #[serde(default)]
    approvals: Vec<Agreement>,
    proposal: Option<Proposal>,
}

/// The turn of a promotion.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Ordinal(u64);

impl Ordinal {
    /// The largest number that every reader of JSON understands.
    const MAX: u64 = 1 << 53;

    fn new(ordinal: u64) -> Option<Self> {
        (1..=Self::MAX).contains(&ordinal).then_some(Self(ordinal))
    }
}

impl TryFrom<String> for Ordinal {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        let ordinal = text.parse().ok().and_then(Self::new);
        ordinal.ok_or_else(|| anyhow!("`{text}` is not an ordinal: write a whole number from 1 to {}", Self::MAX))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Agreement {
    by: Account,
    #[serde(default)]
    groups: Vec<String>,
    at: Option<Time>,
    release: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Proposal {
    id: String,
    url: Option<String>,
    #[serde(default)]
    state: Standing,
    by: Option<String>,
    at: Option<Time>,
    head: Option<CommitId>,
    release: Option<Spanned<String>>,
    #[serde(default)]
    checks: CheckList,
    #[serde(default)]
    review: Review,
    #[serde(default)]
    conflict: bool,
    changed_by: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Standing {
    #[default]
    Open,
    Merged,
    Closed,
}

/// The checks that have not passed. None: all have.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CheckList {
    #[serde(default)]
    pub(crate) pending: Vec<String>,
    #[serde(default)]
    pub(crate) failing: Vec<String>,
}

impl CheckList {
    /// What the checks say together: one that fails says more than one that is pending.
    pub(crate) fn to_core(&self) -> Checks {
        let names = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        match (self.failing.is_empty(), self.pending.is_empty()) {
            (false, _) => Checks::Failing(names(&self.failing)),
            (true, false) => Checks::Pending(names(&self.pending)),
            (true, true) => Checks::Passing,
        }
    }
}

impl Promotion {
    /// The record that the core decides on.
    pub(super) fn to_core(
        &self,
        source: &Source<'_>,
        pipeline: &Pipeline,
        earlier: &[weir_core::Promotion],
        now: Timestamp,
    ) -> Result<weir_core::Promotion> {
        let place = self.environment.referenced;
        let environment = &source.at(place, pipeline.environment_named(&self.environment.value))?.name;
        let from = source.at(place, before(pipeline, environment))?;
        let what = release(source, pipeline, &self.release)?;
        let mine = earlier.iter().filter(|promotion| promotion.key.environment == *environment);
        let highest = mine.map(|promotion| promotion.key.ordinal).max().unwrap_or(0);
        let next =
            || Ordinal::new(highest.saturating_add(1)).ok_or_else(|| anyhow!("no ordinal is left after {highest}"));
        let Ordinal(ordinal) = source.at(place, self.ordinal.map_or_else(next, Ok))?;
        if ordinal <= highest {
            let words = format!("ordinal {ordinal} into `{environment}` comes after {highest}: list them in order");
            return Err(source.error(place, words));
        }
        let key = PromotionKey { pipeline: pipeline.key.clone(), environment: environment.clone(), ordinal };
        let asked = self.requested_by.as_ref().map(Actor::named);
        let mut promotion = weir_core::Promotion::new(key, from, what.clone(), asked);
        promotion.soaked = self.soaked.map(Into::into);
        if let Some(phase) = self.phase {
            promotion.phase = phase;
            promotion.history.push(Turn { phase, at: time::or(self.since, now), note: None });
        }
        for approval in &self.approvals {
            let release = optional(source, pipeline, approval.release.as_ref())?.unwrap_or_else(|| what.clone());
            let by = Actor { name: approval.by.0.clone(), groups: approval.groups.clone() };
            promotion.approvals.push(Approval { by, release, at: time::or(approval.at, now) });
        }
        if let Some(proposal) = &self.proposal {
            promotion.leg.facts.proposal = Some(proposal.to_core(source, pipeline, &what, now)?);
        }
        Ok(promotion)
    }
}

impl Proposal {
    fn to_core(
        &self,
        source: &Source<'_>,
        pipeline: &Pipeline,
        what: &Release,
        now: Timestamp,
    ) -> Result<weir_core::Proposal> {
        let by = self.by.as_deref().map(Into::into);
        let state = match self.state {
            Standing::Open => ProposalState::Open,
            Standing::Merged => ProposalState::Merged { at: time::or(self.at, now), by },
            Standing::Closed => ProposalState::Closed { by },
        };
        let release = optional(source, pipeline, self.release.as_ref())?.unwrap_or_else(|| what.clone());
        Ok(weir_core::Proposal {
            id: self.id.as_str().into(),
            url: self.url.as_deref().map(Into::into),
            state,
            head: self.head.clone().map_or_else(made_up_commit, Ok)?,
            release: Some(release),
            checks: self.checks.to_core(),
            review: self.review,
            merge_asked_by: None,
            conflict: self.conflict,
            changed_by: self.changed_by.as_deref().map(Into::into),
        })
    }
}

fn optional(source: &Source<'_>, pipeline: &Pipeline, written: Option<&Spanned<String>>) -> Result<Option<Release>> {
    written.map(|written| release(source, pipeline, written)).transpose()
}

/// The environment that a release comes from.
fn before(pipeline: &Pipeline, environment: &EnvironmentName) -> Result<EnvironmentName> {
    let mut pairs = pipeline.environments().windows(2);
    let pair = pairs.find(|pair| pair[1].name == *environment);
    let pair = pair.ok_or_else(|| anyhow!("`{environment}` is the first environment: nothing is promoted into it"))?;
    Ok(pair[0].name.clone())
}
