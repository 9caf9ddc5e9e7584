//! How many plans a second: for a pipeline that has settled, for one in which every environment has something to say, and
//! for environments of many targets.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up shall stop")]

use divan::{Bencher, counter::ItemsCount};
use jiff::{SignedDuration, Timestamp};
use weir_core::{
    Application, ApprovalGate, Approvers, Environment, Fact, ForgeKind, Gate, Period, Pipeline, Policy, PullRequest,
    Rehearsal, Release, RepoUrl, Repository, Selector, Snapshot, Strategy, Window, WorkloadState, plan,
};

fn main() {
    divan::main();
}

fn release(version: &str) -> Release {
    Release::of("HelmRelease/podinfo".parse().unwrap(), version.parse().unwrap())
}

fn now() -> Timestamp {
    "2026-11-13T12:00:00Z".parse().unwrap()
}

/// dev, qa and prod, each with so many targets.
fn world(targets: usize, gates: &[Gate]) -> Rehearsal {
    let environment = |name: &str| {
        let target = |number| format!("fleet/{name}-{number}/podinfo").parse().unwrap();
        let repository = Repository {
            url: RepoUrl::new("https://example.org/fleet.git").unwrap(),
            base: "main".parse().unwrap(),
            secret: None,
        };
        let strategy = Strategy::PullRequest(PullRequest { forge: ForgeKind::Git, repository });
        Environment {
            name: name.parse().unwrap(),
            targets: (0..targets).map(target).collect(),
            promotion: Some(Policy::with(strategy)),
            gates: gates.to_vec(),
        }
    };
    let application = Application::Workload("HelmRelease/podinfo".parse().unwrap());
    let environments = ["dev", "qa", "prod"].map(environment).into();
    let pipeline = Pipeline::new("default/podinfo".parse().unwrap(), application, environments).unwrap();
    Rehearsal::new(pipeline, Snapshot::default(), now())
}

fn runs(world: &mut Rehearsal, environment: &str, version: &str) {
    let environment = environment.parse().unwrap();
    let fact = Fact::Seen { environment, target: None, release: release(version), state: WorkloadState::Healthy };
    world.happen(fact).unwrap();
}

/// The same release everywhere, promoted through Weir.
fn settled(targets: usize) -> Rehearsal {
    let mut world = world(targets, &[]);
    for version in ["6.1.0", "6.2.0"] {
        runs(&mut world, "dev", version);
        for environment in ["qa", "prod"] {
            world.settle();
            let environment: weir_core::EnvironmentName = environment.parse().unwrap();
            world.happen(Fact::Merged { environment: environment.clone(), by: "ada".into() }).unwrap();
            world.deploy(&environment).unwrap();
        }
        world.settle();
    }
    assert!(world.decide().environments.iter().all(|environment| environment.holds.is_empty()));
    world
}

/// A different release in every environment, and each next step held by gates.
fn busy(targets: usize, gates: &[Gate]) -> Rehearsal {
    let mut world = world(targets, gates);
    for (environment, version) in [("dev", "6.2.0"), ("qa", "6.1.0"), ("prod", "6.0.0")] {
        runs(&mut world, environment, version);
    }
    world.settle();
    assert!(world.decide().environments[1..].iter().all(|environment| !environment.holds.is_empty()));
    world
}

fn people() -> Gate {
    let from = Approvers { groups: ["release".to_owned()].into(), ..Approvers::default() };
    Gate::Approval(ApprovalGate { count: 2, from, allow_author: false, expires_after: None })
}

fn measure(bencher: Bencher<'_, '_>, world: &Rehearsal) {
    bencher.counter(ItemsCount::new(1_usize)).bench(|| {
        plan(divan::black_box(&world.pipeline), divan::black_box(&world.snapshot), divan::black_box(world.now))
    });
}

/// 3 environments x 2 targets, nothing to do.
#[divan::bench]
fn settled_3x2(bencher: Bencher<'_, '_>) {
    measure(bencher, &settled(2));
}

/// 3 environments x 2 targets, each held by an approval and a soak.
#[divan::bench]
fn something_to_say_3x2(bencher: Bencher<'_, '_>) {
    measure(bencher, &busy(2, &[people(), Gate::Soak(SignedDuration::from_hours(1))]));
}

/// The same with a freeze on top.
#[divan::bench]
fn frozen_3x2(bencher: Bencher<'_, '_>) {
    let mut world = busy(2, &[people(), Gate::Soak(SignedDuration::from_hours(1))]);
    let freeze = weir_core::Freeze {
        name: "incident".parse().unwrap(),
        selector: Selector::default(),
        reason: "database is down".into(),
        by: "grace".into(),
        from: world.now,
        until: None,
    };
    world.happen(Fact::Frozen(freeze)).unwrap();
    world.settle();
    measure(bencher, &world);
}

/// The same with a window, whose cron schedule is looked up in a time zone.
#[divan::bench]
fn windows_3x2(bencher: Bencher<'_, '_>) {
    let office = Period::new("0 9 * * MON-FRI", SignedDuration::from_hours(8), "Europe/Berlin").unwrap();
    let window = Gate::Window(Window::new(vec![office], vec![]));
    measure(bencher, &busy(2, &[people(), window]));
}

/// Linear in targets: the time for each target stays the same.
#[divan::bench(args = [2, 20, 200, 2000])]
fn settled_by_targets(bencher: Bencher<'_, '_>, targets: usize) {
    let world = settled(targets);
    bencher.counter(ItemsCount::new(3 * targets)).bench(|| {
        plan(divan::black_box(&world.pipeline), divan::black_box(&world.snapshot), divan::black_box(world.now))
    });
}

/// The same when every environment has something to say.
#[divan::bench(args = [2, 20, 200, 2000])]
fn something_to_say_by_targets(bencher: Bencher<'_, '_>, targets: usize) {
    let world = busy(targets, &[people()]);
    bencher.counter(ItemsCount::new(3 * targets)).bench(|| {
        plan(divan::black_box(&world.pipeline), divan::black_box(&world.snapshot), divan::black_box(world.now))
    });
}
