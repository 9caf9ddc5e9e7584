//! Worlds that nobody thought of: a pipeline of any shape, and anything that can happen to it, in any order.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use proptest::{
    prelude::{Just, any},
    prop_oneof,
    strategy::Strategy as Generate,
};
use weir_core::{
    Actor, Application, ApprovalGate, Approvers, Checks, Concurrency, Declared, Environment, EnvironmentName, Fact,
    Freeze, Gate, Merge, ObservationKey, Outcome, Period, Pipeline, Plan, Policy, Problem, ProblemWith, Rehearsal,
    Release, Report, Review, Selector, Snapshot, Strategy, When, Window, WorkloadState, apply, plan,
};

use crate::story::{environment, pull_request, release, repository, target};

const VERSIONS: [&str; 6] = ["1.0.0", "1.1.0", "2.0.0", "2.0.0+build.7", "abc", "def"];
const PEOPLE: [&str; 3] = ["ada", "grace", "mary"];

/// Something that happens. Numbers are taken modulo what there is, so every history makes sense.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Seen {
        environment: usize,
        target: Option<usize>,
        version: usize,
        state: u8,
    },
    Lost {
        environment: usize,
        target: Option<usize>,
    },
    Reported {
        environment: usize,
        target: Option<usize>,
        version: usize,
        minute: u8,
        good: bool,
    },
    Declared {
        environment: usize,
        version: Option<usize>,
    },
    Merged {
        environment: usize,
    },
    Closed {
        environment: usize,
    },
    Checked {
        environment: usize,
        checks: u8,
    },
    Reviewed {
        environment: usize,
        review: u8,
    },
    Committed {
        environment: usize,
    },
    Conflicted {
        environment: usize,
    },
    Troubled {
        environment: usize,
        with: Option<u8>,
    },
    Asked {
        environment: usize,
        version: usize,
        who: usize,
    },
    Approved {
        environment: usize,
        version: usize,
        who: usize,
    },
    Frozen {
        name: u8,
        environment: Option<usize>,
        version: Option<usize>,
        begins: u8,
        minutes: Option<u8>,
    },
    Lifted {
        name: u8,
    },
    Suspended(bool),
    Waited {
        minutes: u16,
    },
    /// The process decided, and died after so many of its writes.
    Decided {
        writes: usize,
    },
    Carried,
    Deployed {
        environment: usize,
    },
    Swapped,
    Deleted,
}

/// A world, and what really was healthy in it.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) rehearsal: Rehearsal,
    pub(crate) healthy: BTreeSet<(EnvironmentName, Release)>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#?}", self.rehearsal)
    }
}

fn gate() -> impl Generate<Value = Gate> {
    let approval = (1..3u32, any::<bool>(), proptest::option::of(1..200i64), any::<bool>()).prop_map(
        |(count, allow_author, expires, grace_only)| {
            let users = if grace_only && count == 1 { ["grace".to_owned()].into() } else { BTreeSet::new() };
            let from = Approvers { users, ..Approvers::default() };
            let expires_after = expires.map(SignedDuration::from_mins);
            Gate::Approval(ApprovalGate { count, from, allow_author, expires_after })
        },
    );
    let window = (0..4usize, any::<bool>()).prop_map(|(which, deny)| {
        let schedule = ["0 9 * * MON-FRI", "*/30 * * * *", "0 0 1 * *", "15 3 * * SUN"][which];
        let period =
            Period::new(schedule, SignedDuration::from_mins(20 + 100 * i64::from(deny)), "Europe/Berlin").unwrap();
        let (allow, deny) = if deny { (vec![], vec![period]) } else { (vec![period], vec![]) };
        Gate::Window(Window::new(allow, deny))
    });
    prop_oneof![approval, window, (1..300i64).prop_map(|minutes| Gate::Soak(SignedDuration::from_mins(minutes)))]
}

fn policy() -> impl Generate<Value = Policy> {
    let strategy = prop_oneof![
        4 => Just(pull_request()),
        1 => Just(Strategy::Push(repository())),
        1 => Just(Strategy::Notification),
    ];
    let when = prop_oneof![Just(When::Any), Just(When::All), Just(When::Count(2)), Just(When::Percent(50))];
    (strategy, when, any::<bool>(), any::<bool>(), 1..200i64).prop_map(|(strategy, when, auto, latest, timeout)| {
        Policy {
            strategy,
            when,
            merge: if auto { Merge::Auto } else { Merge::People },
            concurrency: if latest { Concurrency::Latest } else { Concurrency::Finish },
            deploy_timeout: SignedDuration::from_mins(timeout),
        }
    })
}

fn pipeline() -> impl Generate<Value = Pipeline> {
    let environment = (0..10usize, proptest::option::weighted(0.9, policy()), proptest::collection::vec(gate(), 0..3));
    proptest::collection::vec(environment, 1..5).prop_map(|parts| {
        let environments = parts.into_iter().enumerate().map(|(index, (targets, promotion, gates))| {
            let count = [1, 1, 1, 1, 2, 2, 2, 3, 3, 0][targets];
            let targets = (0..count).map(|target| self::target(&format!("e{index}t{target}"))).collect();
            Environment { name: environment_of(index), targets, promotion, gates }
        });
        let application = Application::Workload("HelmRelease/app".parse().unwrap());
        Pipeline::new("default/app".parse().unwrap(), application, environments.collect()).unwrap()
    })
}

fn environment_of(index: usize) -> EnvironmentName {
    environment(["dev", "qa", "staging", "prod"][index])
}

fn event() -> impl Generate<Value = Event> {
    let (e, v, p) = (0..4usize, 0..VERSIONS.len(), 0..PEOPLE.len());
    let t = || proptest::option::weighted(0.4, 0..3usize);
    prop_oneof![
        12 => (e.clone(), t(), v.clone(), prop_oneof![5 => Just(0u8), 1 => Just(1), 1 => Just(2)])
            .prop_map(|(environment, target, version, state)| Event::Seen { environment, target, version, state }),
        1 => (e.clone(), t()).prop_map(|(environment, target)| Event::Lost { environment, target }),
        2 => (e.clone(), t(), v.clone(), any::<u8>(), any::<bool>()).prop_map(|(environment, target, version, minute, good)| {
            Event::Reported { environment, target, version, minute, good }
        }),
        2 => (e.clone(), proptest::option::weighted(0.8, v.clone()))
            .prop_map(|(environment, version)| Event::Declared { environment, version }),
        4 => e.clone().prop_map(|environment| Event::Merged { environment }),
        1 => e.clone().prop_map(|environment| Event::Closed { environment }),
        1 => (e.clone(), 0..3u8).prop_map(|(environment, checks)| Event::Checked { environment, checks }),
        1 => (e.clone(), 0..4u8).prop_map(|(environment, review)| Event::Reviewed { environment, review }),
        1 => e.clone().prop_map(|environment| Event::Committed { environment }),
        1 => e.clone().prop_map(|environment| Event::Conflicted { environment }),
        1 => (e.clone(), proptest::option::of(0..3u8)).prop_map(|(environment, with)| Event::Troubled { environment, with }),
        2 => (e.clone(), v.clone(), p.clone())
            .prop_map(|(environment, version, who)| Event::Asked { environment, version, who }),
        6 => (e.clone(), v.clone(), p).prop_map(|(environment, version, who)| Event::Approved { environment, version, who }),
        2 => (0..2u8, proptest::option::of(e.clone()), proptest::option::weighted(0.3, v), 0..30u8, proptest::option::of(any::<u8>()))
            .prop_map(|(name, environment, version, begins, minutes)| Event::Frozen { name, environment, version, begins, minutes }),
        2 => (0..2u8).prop_map(|name| Event::Lifted { name }),
        1 => any::<bool>().prop_map(Event::Suspended),
        6 => prop_oneof![1..30u16, 30..2000u16].prop_map(|minutes| Event::Waited { minutes }),
        8 => prop_oneof![4 => Just(usize::MAX), 1 => 0..3usize].prop_map(|writes| Event::Decided { writes }),
        8 => Just(Event::Carried),
        4 => e.prop_map(|environment| Event::Deployed { environment }),
        1 => Just(Event::Swapped),
        1 => Just(Event::Deleted),
    ]
}

/// A pipeline, and a history.
pub(crate) fn history() -> impl Generate<Value = (Pipeline, Vec<Event>)> {
    (pipeline(), proptest::collection::vec(event(), 1..40))
}

impl World {
    pub(crate) fn new(pipeline: Pipeline) -> Self {
        let now: Timestamp = "2026-11-13T12:00:00Z".parse().unwrap();
        Self { rehearsal: Rehearsal::new(pipeline, Snapshot::default(), now), healthy: BTreeSet::new() }
    }

    pub(crate) fn plan(&self) -> Plan {
        plan(&self.rehearsal.pipeline, &self.rehearsal.snapshot, self.rehearsal.now)
    }

    /// The world after everything that is decided now is written down.
    pub(crate) fn decided(&self) -> Self {
        let mut world = self.clone();
        world.rehearsal.decide();
        world
    }

    fn environment(&self, index: usize) -> &Environment {
        let all = self.rehearsal.pipeline.environments();
        &all[index % all.len()]
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each thing that can happen")]
    pub(crate) fn happens(&mut self, event: &Event) {
        let name = |index: usize| self.environment(index).name.clone();
        let target = |environment: usize, target: Option<usize>| {
            let targets = &self.environment(environment).targets;
            target.filter(|_| !targets.is_empty()).map(|target| targets[target % targets.len()].clone())
        };
        let fact = match event.clone() {
            Event::Seen { environment, target: which, version, state } => {
                let state = match state {
                    0 => WorkloadState::Healthy,
                    1 => WorkloadState::Progressing,
                    _ => WorkloadState::Failed { message: "crash loop".into() },
                };
                let release = release(VERSIONS[version]);
                let (which, environment) = (target(environment, which), name(environment));
                if state == WorkloadState::Healthy {
                    self.healthy.insert((environment.clone(), release.clone()));
                }
                Fact::Seen { environment, target: which, release, state }
            }
            Event::Lost { environment, target: which } => Fact::Lost {
                environment: name(environment),
                target: target(environment, which),
                error: "no route".into(),
            },
            Event::Reported { environment, target: which, version, minute, good } => {
                let at = self.rehearsal.now.checked_sub(SignedDuration::from_mins(i64::from(minute))).unwrap();
                let (which, environment) = (target(environment, which), name(environment));
                let outcome = if good {
                    Outcome::Succeeded(VERSIONS[version].parse().unwrap())
                } else {
                    Outcome::Failed { message: "timed out".into() }
                };
                if good {
                    self.healthy.insert((environment.clone(), release(VERSIONS[version])));
                }
                let workload = "HelmRelease/app".parse().unwrap();
                let report = Report { at, received: self.rehearsal.now, outcome };
                Fact::Reported(ObservationKey { environment, target: which, workload }, report)
            }
            Event::Declared { environment, version } => {
                let declares = match version {
                    Some(version) => Declared::Releases(vec![release(VERSIONS[version])]),
                    None => Declared::Nothing { looked_for: "a marker".into() },
                };
                Fact::Declared { environment: name(environment), declares }
            }
            Event::Merged { environment } => Fact::Merged { environment: name(environment), by: "ada".into() },
            Event::Closed { environment } => Fact::Closed { environment: name(environment), by: "ada".into() },
            Event::Checked { environment, checks } => {
                let failing = vec!["lint".into()];
                let all = [Checks::Passing, Checks::Pending(failing.clone()), Checks::Failing(failing)];
                Fact::Checked { environment: name(environment), checks: all[usize::from(checks)].clone() }
            }
            Event::Reviewed { environment, review } => {
                let reviews = [Review::NotRequired, Review::Required, Review::Approved, Review::ChangesRequested];
                Fact::Reviewed { environment: name(environment), review: reviews[usize::from(review)] }
            }
            Event::Committed { environment } => Fact::Committed { environment: name(environment), by: "mary".into() },
            Event::Conflicted { environment } => Fact::Conflicted { environment: name(environment) },
            Event::Troubled { environment, with } => {
                let kinds = [ProblemWith::Repository, ProblemWith::Forge, ProblemWith::RateLimit];
                let retry = self.rehearsal.now.checked_add(SignedDuration::from_mins(1)).unwrap();
                let problem = |with: u8| Problem { with: kinds[usize::from(with)], message: "timed out".into(), retry };
                Fact::Troubled { environment: name(environment), problem: with.map(problem) }
            }
            Event::Asked { environment, version, who } => {
                let by = Actor::named(PEOPLE[who]);
                Fact::Asked { environment: name(environment), release: release(VERSIONS[version]), by }
            }
            Event::Approved { environment, version, who } => {
                let by = Actor::named(PEOPLE[who]);
                Fact::Approved { environment: name(environment), release: release(VERSIONS[version]), by }
            }
            Event::Frozen { name: freeze, environment, version, begins, minutes } => {
                let selector = Selector {
                    environment: environment.map(name),
                    release: version.map(|version| VERSIONS[version].parse().unwrap()),
                    ..Selector::default()
                };
                let after =
                    |minutes: u8| self.rehearsal.now.checked_add(SignedDuration::from_mins(minutes.into())).unwrap();
                let (from, until) = (after(begins), minutes.map(after));
                let name = format!("freeze-{freeze}").parse().unwrap();
                self.rehearsal.snapshot.freezes.retain(|known: &Freeze| known.name != name);
                Fact::Frozen(Freeze { name, selector, reason: "incident".into(), by: "grace".into(), from, until })
            }
            Event::Lifted { name } => Fact::Lifted(format!("freeze-{name}").parse().unwrap()),
            Event::Suspended(suspended) => Fact::Suspended(suspended),
            Event::Waited { minutes } => {
                self.rehearsal.now = self.rehearsal.now.checked_add(SignedDuration::from_mins(minutes.into())).unwrap();
                return;
            }
            Event::Decided { writes } => {
                let mut plan = self.plan();
                plan.writes.truncate(writes);
                self.rehearsal.snapshot = apply(&plan, std::mem::take(&mut self.rehearsal.snapshot));
                return;
            }
            Event::Carried => {
                self.rehearsal.carry();
                return;
            }
            Event::Deployed { environment } => {
                let environment = name(environment);
                self.rehearsal.deploy(&environment).unwrap();
                let runs = |seen: &weir_core::Sighting| {
                    seen.workloads.values().next().map(|workload| workload.version.clone())
                };
                let found =
                    self.rehearsal.pipeline.environment(&environment).unwrap().targets.iter().filter_map(|key| {
                        match runs(self.rehearsal.snapshot.sightings.get(key)?)? {
                            weir_core::Version::Revision(revision) => Some(revision),
                            _ => None,
                        }
                    });
                let found: Vec<_> = found.map(|revision| release(revision.as_str())).collect();
                self.healthy.extend(found.into_iter().map(|release| (environment.clone(), release)));
                return;
            }
            Event::Swapped => {
                let mut environments = self.rehearsal.pipeline.environments().to_vec();
                environments.rotate_left(1);
                let old = &self.rehearsal.pipeline;
                let mut pipeline = Pipeline::new(old.key.clone(), old.application.clone(), environments).unwrap();
                (pipeline.suspended, pipeline.deleted) = (old.suspended, old.deleted);
                self.rehearsal.pipeline = pipeline;
                return;
            }
            Event::Deleted => {
                self.rehearsal.pipeline.deleted = !self.rehearsal.pipeline.deleted;
                return;
            }
        };
        // What cannot happen, such as a merge without a proposal, does not.
        let _impossible = self.rehearsal.happen(fact);
    }
}
