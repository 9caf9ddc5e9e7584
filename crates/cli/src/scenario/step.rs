//! One step of a scenario: when, and what happens.

use anyhow::Result;
use serde::Deserialize;
use serde_saphyr::Spanned;
use weir_core::{
    Actor, Declared, EnvironmentName, Fact, Name, ObservationKey, Outcome, Rehearsal, Release, Report, Review,
    TargetKey, WorkloadKey, WorkloadState,
};

use super::when::When;
use crate::{
    document::Source,
    naming::{self, Account},
    state::{self, CheckList, Freeze},
};

/// A step: a time, and exactly one thing that happens.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Step {
    pub(super) at: Spanned<When>,
    deployed: Option<Seen>,
    deploying: Option<Seen>,
    failed: Option<Seen>,
    unreachable: Option<Lost>,
    reported: Option<Reported>,
    declared: Option<Declares>,
    merge: Option<Reviewed>,
    close: Option<Reviewed>,
    checks: Option<Checked>,
    review: Option<Looked>,
    approve: Option<Approve>,
    promote: Option<Promote>,
    freeze: Option<Freeze>,
    unfreeze: Option<Unfreeze>,
    suspend: Option<Nothing>,
    resume: Option<Nothing>,
}

/// What can happen in one step.
const WORDS: &str = "deployed, deploying, failed, unreachable, reported, declared, merge, close, checks, review, approve, \
                     promote, freeze, unfreeze, suspend, resume";

/// Which targets: without `cluster` and `namespace` all of the environment.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Seen {
    environment: Spanned<EnvironmentName>,
    cluster: Option<String>,
    namespace: Option<String>,
    release: Spanned<String>,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Lost {
    environment: Spanned<EnvironmentName>,
    cluster: Option<String>,
    namespace: Option<String>,
    error: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reported {
    environment: Spanned<EnvironmentName>,
    cluster: Option<String>,
    namespace: Option<String>,
    workload: Option<WorkloadKey>,
    revision: Option<naming::Reported>,
    failed: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Declares {
    environment: Spanned<EnvironmentName>,
    release: Option<Spanned<String>>,
    nothing: Option<String>,
    ambiguous: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reviewed {
    environment: Spanned<EnvironmentName>,
    by: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Checked {
    environment: Spanned<EnvironmentName>,
    #[serde(default)]
    pending: Vec<String>,
    #[serde(default)]
    failing: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Looked {
    environment: Spanned<EnvironmentName>,
    is: Review,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Approve {
    environment: Spanned<EnvironmentName>,
    by: Account,
    #[serde(default)]
    groups: Vec<String>,
    release: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Promote {
    environment: Spanned<EnvironmentName>,
    release: Spanned<String>,
    by: Account,
    #[serde(default)]
    groups: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Unfreeze {
    name: Spanned<Name>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What a step does: the fact, where, and a sentence about it.
pub(super) struct Happening {
    pub(super) environment: Option<EnvironmentName>,
    pub(super) fact: Fact,
    pub(super) sentence: String,
}

/// What facts are read against.
pub(super) struct Stage<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) rehearsal: &'a Rehearsal,
}

impl Step {
    /// There has to be exactly one thing that happens, and it has to make sense as far as it alone tells.
    pub(super) fn check(&self, source: &Source<'_>) -> Result<()> {
        let all = [
            self.deployed.is_some(),
            self.deploying.is_some(),
            self.failed.is_some(),
            self.unreachable.is_some(),
            self.reported.is_some(),
            self.declared.is_some(),
            self.merge.is_some(),
            self.close.is_some(),
            self.checks.is_some(),
            self.review.is_some(),
            self.approve.is_some(),
            self.promote.is_some(),
            self.freeze.is_some(),
            self.unfreeze.is_some(),
            self.suspend.is_some(),
            self.resume.is_some(),
        ];
        if all.into_iter().filter(|happens| *happens).count() != 1 {
            return Err(source.error(self.at.referenced, format_args!("write exactly one of: {WORDS}")));
        }
        self.freeze.as_ref().map_or(Ok(()), |freeze| freeze.check(source))
    }

    /// What happens.
    pub(super) fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        self.check(stage.source)?;
        let deployed = self.deployed.as_ref().map(|it| it.happening(stage, WorkloadState::Healthy));
        let deploying = self.deploying.as_ref().map(|it| it.happening(stage, WorkloadState::Progressing));
        let failed = self.failed.as_ref().map(|it| {
            let message = it.message.as_deref().unwrap_or("the deployment failed").into();
            it.happening(stage, WorkloadState::Failed { message })
        });
        let merge = self.merge.as_ref().map(|it| it.happening(stage, true));
        let close = self.close.as_ref().map(|it| it.happening(stage, false));
        let suspended = |to: bool, sentence: &str| {
            Ok(Happening { environment: None, fact: Fact::Suspended(to), sentence: sentence.to_owned() })
        };
        let all = [
            deployed,
            deploying,
            failed,
            merge,
            close,
            self.unreachable.as_ref().map(|it| it.happening(stage)),
            self.reported.as_ref().map(|it| it.happening(stage)),
            self.declared.as_ref().map(|it| it.happening(stage)),
            self.checks.as_ref().map(|it| it.happening(stage)),
            self.review.as_ref().map(|it| it.happening(stage)),
            self.approve.as_ref().map(|it| it.happening(stage)),
            self.promote.as_ref().map(|it| it.happening(stage)),
            self.freeze.as_ref().map(|it| Ok(frozen(it, stage))),
            self.unfreeze.as_ref().map(|it| it.happening(stage)),
            self.suspend.as_ref().map(|_| suspended(true, "the pipeline is suspended")),
            self.resume.as_ref().map(|_| suspended(false, "the pipeline is resumed")),
        ];
        let nothing = || Err(stage.source.error(self.at.referenced, "nothing happens"));
        all.into_iter().flatten().next().unwrap_or_else(nothing)
    }
}

impl Stage<'_> {
    fn environment(&self, name: &Spanned<EnvironmentName>) -> Result<EnvironmentName> {
        let found = self.rehearsal.pipeline.environment_named(&name.value);
        Ok(self.source.at(name.referenced, found)?.name.clone())
    }

    fn release(&self, written: &Spanned<String>) -> Result<Release> {
        state::release(self.source, &self.rehearsal.pipeline, written)
    }

    /// The target that is meant; `None`: all of them.
    fn target(
        &self,
        environment: &Spanned<EnvironmentName>,
        cluster: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<Option<TargetKey>> {
        if cluster.is_none() && namespace.is_none() {
            return Ok(None);
        }
        let find = || -> Result<TargetKey> {
            let definition = self.rehearsal.pipeline.environment_named(&environment.value)?;
            Ok(definition.target_named(cluster, namespace)?.clone())
        };
        self.source.at(environment.referenced, find()).map(Some)
    }
}

fn on(target: Option<&TargetKey>) -> String {
    target.map(|target| format!(" on {target}")).unwrap_or_default()
}

impl Seen {
    fn happening(&self, stage: &Stage<'_>, health: WorkloadState) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let target = stage.target(&self.environment, self.cluster.as_deref(), self.namespace.as_deref())?;
        let release = stage.release(&self.release)?;
        let what = match &health {
            WorkloadState::Healthy => format!("{release} is deployed{}", on(target.as_ref())),
            WorkloadState::Progressing => format!("{release} is being deployed{}", on(target.as_ref())),
            WorkloadState::Failed { message } => {
                format!("the deployment of {release} failed{}: {message}", on(target.as_ref()))
            }
        };
        let fact = Fact::Seen { environment: environment.clone(), target, release, state: health };
        Ok(Happening { environment: Some(environment), fact, sentence: what })
    }
}

impl Lost {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let target = stage.target(&self.environment, self.cluster.as_deref(), self.namespace.as_deref())?;
        let sentence = format!("cannot be read{}: {}", on(target.as_ref()), self.error);
        let fact = Fact::Lost { environment: environment.clone(), target, error: self.error.as_str().into() };
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

impl Reported {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let target = stage.target(&self.environment, self.cluster.as_deref(), self.namespace.as_deref())?;
        let workload = self.workload.clone().unwrap_or_else(|| stage.rehearsal.pipeline.workload());
        let place = self.environment.referenced;
        stage.source.at(place, stage.rehearsal.pipeline.check_workload(&workload))?;
        let (outcome, sentence) = match (&self.revision, &self.failed) {
            (Some(naming::Reported(revision)), None) => {
                let sentence = format!("{workload} reports {revision} as deployed{}", on(target.as_ref()));
                (Outcome::Succeeded(revision.clone()), sentence)
            }
            (None, Some(message)) => {
                let sentence = format!("{workload} reports a failure{}: {message}", on(target.as_ref()));
                (Outcome::Failed { message: message.as_str().into() }, sentence)
            }
            _ => return Err(stage.source.error(self.environment.referenced, "write one of `revision` and `failed`")),
        };
        let now = stage.rehearsal.now;
        let key = ObservationKey { environment: environment.clone(), target, workload };
        let fact = Fact::Reported(key, Report { at: now, received: now, outcome });
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

impl Declares {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let (declares, sentence) = match (&self.release, &self.nothing, &self.ambiguous) {
            (Some(release), None, None) => {
                let release = stage.release(release)?;
                let sentence = format!("somebody has the base branch declare {release}");
                (Declared::Releases(vec![release]), sentence)
            }
            (None, Some(looked_for), None) => {
                let sentence = format!("the base branch has no place to edit: looked for {looked_for}");
                (Declared::Nothing { looked_for: looked_for.as_str().into() }, sentence)
            }
            (None, None, Some(place)) => {
                let sentence = format!("the marker at {place} does not say which workload it is for");
                (Declared::Ambiguous { place: place.as_str().into() }, sentence)
            }
            _ => {
                let words = "write exactly one of `release`, `nothing` and `ambiguous`";
                return Err(stage.source.error(self.environment.referenced, words));
            }
        };
        let fact = Fact::Declared { environment: environment.clone(), declares };
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

impl Reviewed {
    fn happening(&self, stage: &Stage<'_>, merged: bool) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let by = self.by.as_deref().unwrap_or("somebody");
        let (fact, sentence) = if merged {
            (Fact::Merged { environment: environment.clone(), by: by.into() }, format!("{by} merges the proposal"))
        } else {
            (Fact::Closed { environment: environment.clone(), by: by.into() }, format!("{by} closes the proposal"))
        };
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

impl Checked {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let checks = CheckList { pending: self.pending.clone(), failing: self.failing.clone() }.to_core();
        let sentence = match &checks {
            weir_core::Checks::Passing => "the checks of the proposal have passed".to_owned(),
            weir_core::Checks::Pending(names) => format!("checks of the proposal run: {}", names.join(", ")),
            weir_core::Checks::Failing(names) => format!("checks of the proposal failed: {}", names.join(", ")),
        };
        let fact = Fact::Checked { environment: environment.clone(), checks };
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

impl Looked {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let sentence = match self.is {
            Review::NotRequired => "the proposal needs no review",
            Review::Required => "the proposal needs a review",
            Review::Approved => "a reviewer approves the proposal",
            Review::ChangesRequested => "a reviewer wants the proposal changed",
        };
        let fact = Fact::Reviewed { environment: environment.clone(), review: self.is };
        Ok(Happening { environment: Some(environment), fact, sentence: sentence.to_owned() })
    }
}

impl Approve {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let live = stage.rehearsal.promotion(&environment).filter(|promotion| promotion.phase.is_live());
        let release = match (&self.release, live) {
            (Some(release), _) => stage.release(release)?,
            (None, Some(live)) => live.release.clone(),
            (None, None) => {
                let words = format!("nothing is promoted into `{environment}`, so there is nothing to approve");
                return Err(stage.source.error(self.environment.referenced, words));
            }
        };
        let sentence = format!("{} approves {release}", self.by.0);
        let by = Actor { name: self.by.0.clone(), groups: self.groups.clone() };
        let fact = Fact::Approved { environment: environment.clone(), release, by };
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

impl Promote {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let environment = stage.environment(&self.environment)?;
        let release = stage.release(&self.release)?;
        let sentence = format!("{} asks for {release}", self.by.0);
        let by = Actor { name: self.by.0.clone(), groups: self.groups.clone() };
        let fact = Fact::Asked { environment: environment.clone(), release, by };
        Ok(Happening { environment: Some(environment), fact, sentence })
    }
}

fn frozen(freeze: &Freeze, stage: &Stage<'_>) -> Happening {
    let freeze = freeze.to_core(stage.rehearsal.now);
    let until = freeze.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let sentence = format!("{} sets freeze `{}`{until}: {}", freeze.by, freeze.name, freeze.reason);
    Happening { environment: freeze.selector.environment.clone(), fact: Fact::Frozen(freeze), sentence }
}

impl Unfreeze {
    fn happening(&self, stage: &Stage<'_>) -> Result<Happening> {
        let name = &self.name.value;
        if !stage.rehearsal.snapshot.freezes.iter().any(|freeze| freeze.name == *name) {
            return Err(stage.source.error(self.name.referenced, format_args!("there is no freeze `{name}`")));
        }
        let sentence = format!("freeze `{name}` is lifted");
        Ok(Happening { environment: None, fact: Fact::Lifted(name.clone()), sentence })
    }
}
