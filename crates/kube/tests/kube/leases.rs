//! Two processes, and one Lease.

use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use weir_core::PipelineKey;
use weir_kube::hub::{LeaseSettings, Leases};
use weir_ports::Ownership as _;
use weir_testkit::servers::eventually;

use crate::ground::{Ground, ground, parsed};

fn settings(ground: &Ground, identity: &str) -> LeaseSettings {
    LeaseSettings {
        duration: Duration::from_secs(2),
        renew: Duration::from_millis(500),
        look: Duration::from_millis(200),
        ..LeaseSettings::new(&ground.namespace, identity)
    }
}

fn is(so: bool) -> Result<(), &'static str> {
    so.then_some(()).ok_or("not yet")
}

fn pipeline(number: usize) -> PipelineKey {
    parsed(&format!("default/app-{number}"))
}

#[tokio::test]
async fn one_acts_and_the_other_takes_over_when_it_is_gone() {
    let ground = ground("leases").await;
    let first = Leases::start(ground.client.clone(), settings(&ground, "first"));
    eventually("the first acts", async || is(first.owns(&pipeline(1)))).await;
    let second = Leases::start(ground.client.clone(), settings(&ground, "second"));
    let mut gained = second.watch();
    let leases: Api<Lease> = Api::namespaced(ground.client.clone(), &ground.namespace);
    // For longer than the Lease lasts, the first renews it.
    eventually("it is renewed", async || {
        assert!(first.owns(&pipeline(1)) && !second.owns(&pipeline(1)));
        let lease = leases.get("weir-shard-0").await.unwrap().spec.unwrap();
        let held = lease.renew_time.unwrap().0.duration_since(lease.acquire_time.unwrap().0);
        if held.as_secs() >= 3 { Ok(()) } else { Err(format!("{held}")) }
    })
    .await;
    // As if it was killed: nothing is given back.
    drop(first);
    tokio::time::timeout(Duration::from_secs(20), gained.next()).await.unwrap();
    assert!(second.owns(&pipeline(1)));
    let lease = leases.get("weir-shard-0").await.unwrap().spec.unwrap();
    assert_eq!((lease.holder_identity.as_deref(), lease.lease_transitions), (Some("second"), Some(1)));
}

#[tokio::test]
async fn one_that_ends_gives_its_lease_back() {
    let ground = ground("leases").await;
    let slow = |identity| LeaseSettings { duration: Duration::from_mins(5), ..settings(&ground, identity) };
    let first = Leases::start(ground.client.clone(), slow("first"));
    eventually("the first acts", async || is(first.owns(&pipeline(1)))).await;
    let second = Leases::start(ground.client.clone(), slow("second"));
    first.release().await;
    assert!(!first.owns(&pipeline(1)));
    eventually("the second acts", async || is(second.owns(&pipeline(1)))).await;
}

#[tokio::test]
async fn shards_are_shared_and_every_pipeline_has_one_who_acts() {
    let ground = ground("leases").await;
    let many = |identity| LeaseSettings { shards: 4, ..settings(&ground, identity) };
    let processes =
        [Leases::start(ground.client.clone(), many("first")), Leases::start(ground.client.clone(), many("second"))];
    let owners = |number| processes.iter().filter(|process| process.owns(&pipeline(number))).count();
    eventually("all have an owner", async || is((0..40).all(|number| owners(number) == 1))).await;
}

#[tokio::test]
async fn who_comes_later_gets_a_share_and_so_does_who_comes_back() {
    let ground = ground("leases").await;
    let many = |identity| LeaseSettings { shards: 4, ..settings(&ground, identity) };
    let start = |identity| Leases::start(ground.client.clone(), many(identity));
    let share = |process: &Leases| (0..200).filter(|number| process.owns(&pipeline(*number))).count();
    let first = start("first");
    eventually("the first has all", async || is(share(&first) == 200)).await;
    let second = start("second");
    let has_half = |process: &Leases| (60..=140).contains(&share(process));
    let shared = async |one: &Leases, other: &Leases| {
        eventually("both have about half", async || {
            let both = (0..200).any(|number| one.owns(&pipeline(number)) && other.owns(&pipeline(number)));
            assert!(!both, "two act for the same");
            is(has_half(one) && has_half(other) && share(one) + share(other) == 200)
        })
        .await;
    };
    shared(&first, &second).await;
    drop(first);
    eventually("the second has all", async || is(share(&second) == 200)).await;
    let again = start("first");
    shared(&again, &second).await;
}

#[tokio::test]
async fn whoever_may_not_use_leases_says_so() {
    let ground = ground("leases").await;
    let elsewhere = LeaseSettings { namespace: "nowhere".to_owned(), ..settings(&ground, "first") };
    let leases = Leases::start(ground.client.clone(), elsewhere);
    eventually("it says why", async || {
        let problem = leases.problem().unwrap_or_default();
        let words = "this process cannot act: asking for Lease `nowhere/weir-shard-0` fails: ";
        if problem.starts_with(words) { Ok(()) } else { Err(problem) }
    })
    .await;
}
