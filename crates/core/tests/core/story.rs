//! The smallest world that shows a rule.

use jiff::{SignedDuration, Timestamp};
use weir_core::{
    Actor, Application, ApprovalGate, Approvers, Carried, Declared, Environment, EnvironmentName, Fact, ForgeKind,
    Freeze, Gate, Hold, Intent, Merge, Observation, ObservationKey, Outcome, Period, Phase, Pipeline, Plan, Policy,
    Promotion, PullRequest, Rehearsal, Release, RepoUrl, Report, Repository, Selector, Strategy, TargetKey, When,
    Window, WorkloadState, plan,
};

/// A pipeline and what happens to it. Every verb is something that happens; every noun is something to look at.
#[derive(Clone)]
pub(crate) struct Story {
    pub(crate) world: Rehearsal,
}

pub(crate) fn environment(name: &str) -> EnvironmentName {
    name.parse().unwrap()
}

/// A release of the story's application; `a=1 b=2` is a release of two workloads.
pub(crate) fn release(text: &str) -> Release {
    let member = |text: &str| {
        let (name, revision) = text.split_once('=').unwrap_or(("app", text));
        (format!("HelmRelease/{name}").parse().unwrap(), revision.parse().unwrap())
    };
    Release::new(text.split_whitespace().map(member)).unwrap()
}

pub(crate) fn pull_request() -> Strategy {
    Strategy::PullRequest(PullRequest { forge: ForgeKind::Git, repository: repository() })
}

pub(crate) fn repository() -> Repository {
    Repository {
        url: RepoUrl::new("https://example.org/config.git").unwrap(),
        base: "main".parse().unwrap(),
        secret: None,
    }
}

pub(crate) fn target(name: &str) -> TargetKey {
    format!("fleet/{name}/app").parse().unwrap()
}

pub(crate) fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

pub(crate) fn approval(count: u32) -> ApprovalGate {
    ApprovalGate { count, from: Approvers::default(), allow_author: false, expires_after: None }
}

/// Environments from text: `dev, qa(eu us), prod`. Each is its own only target if no others are named.
pub(crate) fn environments(text: &str) -> Vec<Environment> {
    let parse = |part: &str| {
        let (name, targets) = part.split_once('(').unwrap_or((part, part));
        let name = name.trim();
        let targets = targets.trim_end_matches(')').split_whitespace().map(target).collect();
        Environment { name: environment(name), targets, promotion: Some(Policy::with(pull_request())), gates: vec![] }
    };
    text.split(',').map(str::trim).map(parse).collect()
}

impl Story {
    pub(crate) fn of(text: &str) -> Self {
        let application = Application::Workload("HelmRelease/app".parse().unwrap());
        Self::with(Pipeline::new("default/app".parse().unwrap(), application, environments(text)).unwrap())
    }

    /// A pipeline of labelled workloads.
    pub(crate) fn labelled(text: &str) -> Self {
        Self::with(Pipeline::new("default/app".parse().unwrap(), Application::Labelled, environments(text)).unwrap())
    }

    fn with(pipeline: Pipeline) -> Self {
        let now: Timestamp = "2026-11-13T12:00:00Z".parse().unwrap();
        Self { world: Rehearsal::new(pipeline, weir_core::Snapshot::default(), now) }
    }
}

/// How the pipeline is defined.
impl Story {
    pub(crate) fn define(mut self, name: &str, change: impl FnOnce(&mut Environment)) -> Self {
        self.redefine(name, change);
        self
    }

    pub(crate) fn redefine(&mut self, name: &str, change: impl FnOnce(&mut Environment)) {
        let mut environments = self.world.pipeline.environments().to_vec();
        change(environments.iter_mut().find(|known| known.name.as_str() == name).unwrap());
        self.rearrange(environments);
    }

    pub(crate) fn rearrange(&mut self, environments: Vec<Environment>) {
        let old = &self.world.pipeline;
        let mut pipeline = Pipeline::new(old.key.clone(), old.application.clone(), environments).unwrap();
        pipeline.suspended = old.suspended;
        pipeline.deleted = old.deleted;
        self.world.pipeline = pipeline;
    }

    pub(crate) fn gate(self, name: &str, gate: Gate) -> Self {
        self.define(name, |environment| environment.gates.push(gate))
    }

    pub(crate) fn soak(self, name: &str, duration: SignedDuration) -> Self {
        self.gate(name, Gate::Soak(duration))
    }

    pub(crate) fn approval(self, name: &str, count: u32) -> Self {
        self.gate(name, Gate::Approval(approval(count)))
    }

    /// Weekdays from nine to five in Berlin.
    pub(crate) fn office_hours(self, name: &str) -> Self {
        let office = Period::new("0 9 * * MON-FRI", SignedDuration::from_hours(8), "Europe/Berlin").unwrap();
        self.gate(name, Gate::Window(Window::new(vec![office], vec![])))
    }

    pub(crate) fn policy(self, name: &str, change: impl FnOnce(&mut Policy)) -> Self {
        self.define(name, |environment| change(environment.promotion.as_mut().unwrap()))
    }

    pub(crate) fn when(self, name: &str, when: When) -> Self {
        self.policy(name, |policy| policy.when = when)
    }

    pub(crate) fn merges_itself(self, name: &str) -> Self {
        self.policy(name, |policy| policy.merge = Merge::Auto)
    }

    pub(crate) fn pushes(self, name: &str) -> Self {
        self.policy(name, |policy| policy.strategy = Strategy::Push(repository()))
    }
}

/// What happens.
impl Story {
    pub(crate) fn happens(&mut self, fact: Fact) -> &mut Self {
        self.world.happen(fact).unwrap();
        self
    }

    fn seen(&mut self, name: &str, only: Option<&str>, version: &str, state: WorkloadState) -> &mut Self {
        let (environment, target) = (environment(name), only.map(target));
        self.happens(Fact::Seen { environment, target, release: release(version), state })
    }

    /// Every target of the environment runs it, settled and healthy.
    pub(crate) fn runs(&mut self, name: &str, version: &str) -> &mut Self {
        self.seen(name, None, version, WorkloadState::Healthy)
    }

    pub(crate) fn runs_on(&mut self, name: &str, target: &str, version: &str) -> &mut Self {
        self.seen(name, Some(target), version, WorkloadState::Healthy)
    }

    pub(crate) fn rolls_out(&mut self, name: &str, version: &str) -> &mut Self {
        self.seen(name, None, version, WorkloadState::Progressing)
    }

    pub(crate) fn fails(&mut self, name: &str, version: &str) -> &mut Self {
        self.seen(name, None, version, WorkloadState::Failed { message: "crash loop".into() })
    }

    pub(crate) fn fails_on(&mut self, name: &str, target: &str, version: &str) -> &mut Self {
        self.seen(name, Some(target), version, WorkloadState::Failed { message: "crash loop".into() })
    }

    pub(crate) fn loses(&mut self, name: &str, target: Option<&str>) -> &mut Self {
        let (environment, target) = (environment(name), target.map(self::target));
        self.happens(Fact::Lost { environment, target, error: "connection refused".into() })
    }

    pub(crate) fn reports(&mut self, name: &str, target: Option<&str>, at: &str, outcome: Outcome) -> &mut Self {
        let key = ObservationKey {
            environment: environment(name),
            target: target.map(self::target),
            workload: "HelmRelease/app".parse().unwrap(),
        };
        let report = Report { at: at.parse().unwrap(), received: self.world.now, outcome };
        self.happens(Fact::Reported(key, report))
    }

    pub(crate) fn merges(&mut self, name: &str) -> &mut Self {
        self.happens(Fact::Merged { environment: environment(name), by: "ada".into() }).settles()
    }

    pub(crate) fn closes(&mut self, name: &str) -> &mut Self {
        self.happens(Fact::Closed { environment: environment(name), by: "ada".into() }).settles()
    }

    /// Somebody changes the base branch by hand.
    pub(crate) fn git_declares(&mut self, name: &str, version: &str) -> &mut Self {
        let declares = Declared::Releases(vec![release(version)]);
        self.happens(Fact::Declared { environment: environment(name), declares })
    }

    pub(crate) fn asks(&mut self, who: &str, name: &str, version: &str) -> &mut Self {
        let (environment, by) = (environment(name), Actor::named(who));
        self.happens(Fact::Asked { environment, release: release(version), by }).settles()
    }

    pub(crate) fn approves(&mut self, who: &str, name: &str, version: &str) -> &mut Self {
        let (environment, by) = (environment(name), Actor::named(who));
        self.happens(Fact::Approved { environment, release: release(version), by }).settles()
    }

    pub(crate) fn freezes(&mut self, selector: Selector, until: Option<Timestamp>) -> &mut Self {
        let (from, name) = (self.world.now, "incident".parse().unwrap());
        let freeze = Freeze { name, selector, reason: "database is down".into(), by: "grace".into(), from, until };
        self.happens(Fact::Frozen(freeze)).settles()
    }

    pub(crate) fn lifts(&mut self) -> &mut Self {
        self.happens(Fact::Lifted("incident".parse().unwrap())).settles()
    }

    pub(crate) fn waits(&mut self, duration: SignedDuration) -> &mut Self {
        self.world.now = self.world.now.checked_add(duration).unwrap();
        self.settles()
    }

    /// Flux deploys what the base branch declares.
    pub(crate) fn deploys(&mut self, name: &str) -> &mut Self {
        self.world.deploy(&environment(name)).unwrap();
        self.settles()
    }

    /// Weir decides and carries until nothing moves.
    pub(crate) fn settles(&mut self) -> &mut Self {
        self.settling();
        self
    }

    pub(crate) fn settling(&mut self) -> Vec<Carried> {
        let carried = self.world.settle();
        assert!(self.plan().writes.is_empty(), "settled, and yet: {:#?}", self.plan().writes);
        carried
    }

    /// From an open proposal to a release that runs everywhere.
    pub(crate) fn goes_through(&mut self, name: &str) -> &mut Self {
        self.merges(name).deploys(name)
    }
}

/// What is there to see.
impl Story {
    pub(crate) fn plan(&self) -> Plan {
        plan(&self.world.pipeline, &self.world.snapshot, self.world.now)
    }

    pub(crate) fn holds(&self, name: &str) -> Vec<Hold> {
        let plan = self.plan();
        plan.environments.into_iter().find(|known| known.name.as_str() == name).unwrap().holds
    }

    /// The names of what holds the environment, most binding first.
    pub(crate) fn held(&self, name: &str) -> Vec<&'static str> {
        self.holds(name).iter().map(|hold| hold.reason.name()).collect()
    }

    pub(crate) fn promotion(&self, name: &str) -> &Promotion {
        self.world.promotion(&environment(name)).unwrap_or_else(|| panic!("nothing is promoted into {name}"))
    }

    pub(crate) fn promoted(&self, name: &str) -> Option<String> {
        self.world.promotion(&environment(name)).map(|promotion| promotion.release.to_string())
    }

    pub(crate) fn phase(&self, name: &str) -> Phase {
        self.promotion(name).phase
    }

    /// The phases of all promotions into an environment, first to last.
    pub(crate) fn phases(&self, name: &str) -> Vec<(String, Phase)> {
        let mut all: Vec<_> =
            self.world.snapshot.promotions.iter().filter(|p| p.key.environment.as_str() == name).collect();
        all.sort_by_key(|promotion| promotion.key.ordinal);
        all.into_iter().map(|promotion| (promotion.release.to_string(), promotion.phase)).collect()
    }

    pub(crate) fn intent(&self, name: &str) -> Option<&Intent> {
        self.promotion(name).leg.intent.as_ref()
    }

    pub(crate) fn next_check(&self) -> Option<Timestamp> {
        self.plan().next_check
    }

    pub(crate) fn after(&self, duration: SignedDuration) -> Timestamp {
        self.world.now.checked_add(duration).unwrap()
    }

    pub(crate) fn observation(&self, name: &str, target: Option<&str>) -> &Observation {
        let key = (environment(name), target.map(self::target));
        self.world.snapshot.observations[&key].values().next().unwrap()
    }
}
