//! The time of this machine, and who sits at it.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use weir_local::{Everyone, SystemClock};
use weir_ports::{Access, Clock, Scope, Verb};

#[tokio::test]
async fn a_moment_is_waited_for_and_one_that_has_passed_is_not() {
    let clock = SystemClock;
    clock.sleep_until(Timestamp::UNIX_EPOCH).await;
    let moment = clock.now() + SignedDuration::from_millis(20);
    clock.sleep_until(moment).await;
    assert!(clock.now() >= moment);
}

#[test]
fn numbers_at_random_differ() {
    let numbers: BTreeSet<_> = (0..1000).map(|_| SystemClock.random()).collect();
    assert_eq!(numbers.len(), 1000);
}

#[tokio::test]
async fn everyone_at_this_machine_may_do_everything_and_nobody_has_a_token() {
    let user = Everyone::local_user();
    assert!(!user.name.is_empty());
    for verb in [Verb::View, Verb::Promote, Verb::Approve] {
        assert!(Everyone.may(&user, verb, Scope::All).await.unwrap());
    }
    assert_eq!(Everyone.identify(&"weir_x".to_owned().into()).await, Ok(None));
}
