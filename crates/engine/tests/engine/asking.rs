//! What people are asked about, and what becomes of their answer.

use std::time::Duration;

use weir_core::{Actor, Phase, plan};
use weir_engine::{Ask, Asked, Awaited, Denied};
use weir_ports::{Clock as _, DeedQuery, Journal as _, Record, RecordKey, Store as _};
use weir_testkit::sim::Weather;

use crate::{
    scene::ada,
    stage::{Stage, approval, environment, pipeline, prod, push, story},
};

#[test]
fn an_approval_is_written_down_for_the_release_that_it_is_for() {
    let environments =
        vec![environment("dev", None, Vec::new()), environment("prod", Some(push()), vec![approval(true)])];
    story!(stage = Stage::of(&[pipeline("default/app", environments)]); {
        let approve = async |version: &str| {
            stage.people().ask(&ada(), &stage.key, &prod(), &Ask::Approve { version: Some(version.to_owned()) }).await
        };
        let seen = || {
            let seen = stage.world.look(&stage.key, |known| {
                known.snapshot().environments.values().any(|record| !record.order.is_empty())
            });
            seen.unwrap_or_default()
        };
        stage.report("dev", "1.0.0").await;
        stage.until("1.0.0 is seen", seen).await;
        stage.report("dev", "1.1.0").await;
        stage.until_held("AwaitingApproval").await;
        assert!(matches!(approve("1.11.0").await, Err(Denied::NeverSeen { .. })), "nobody agrees to a slip of the pen");
        approve("1.0.0").await.unwrap();
        let deeds = stage.sim.journal.deeds(&DeedQuery { limit: 9, ..DeedQuery::default() }).await.unwrap();
        assert_eq!(deeds[0].deed.detail.as_deref(), Some("1.0.0"));
        assert_eq!(stage.holds(), ["AwaitingApproval"], "1.1.0 still waits");
    });
}

#[test]
fn people_are_asked_about_what_goes_on_when_they_agree() {
    let gates = vec![approval(false)];
    let environments = vec![environment("dev", None, Vec::new()), environment("prod", Some(push()), gates)];
    story!(stage = Stage::of(&[pipeline("default/app", environments)]); {
        let asked_about = |who: &Asked| {
            let awaited = stage.world.look(&stage.key, |known| {
                let plan = plan(known.pipeline(), known.snapshot(), stage.sim.clock.now());
                Awaited::before(known, known.pipeline().environment(&prod())?, &plan, &who.by)
            });
            awaited.flatten().map(|it| (it.release.to_string(), it.counts, it.given))
        };
        let bob = Asked { by: Actor::named("bob"), why: None };
        assert_eq!(asked_about(&ada()), None);
        stage.report("dev", "1.1.0").await;
        stage.until("1.1.0 waits", || asked_about(&ada()) == Some(("1.1.0".to_owned(), true, false))).await;
        stage.report("dev", "1.2.0").await;
        stage.until("the newest waits", || asked_about(&ada()) == Some(("1.2.0".to_owned(), true, false))).await;

        let back = Ask::Promote { version: "1.1.0".to_owned() };
        stage.people().ask(&ada(), &stage.key, &prod(), &back).await.unwrap();
        let first = |counts| Some(("1.1.0".to_owned(), counts, false));
        stage.until("what ada asked for goes first", || asked_about(&bob) == first(true)).await;
        assert_eq!(asked_about(&ada()), first(false), "whoever asks does not agree as well");
        stage.people().ask(&bob, &stage.key, &prod(), &Ask::Approve { version: None }).await.unwrap();
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn an_approval_stays_whatever_is_written_at_the_same_time() {
    let gated = |name| environment(name, Some(push()), vec![approval(true)]);
    let pipelines = [pipeline("default/app", vec![environment("dev", None, Vec::new()), gated("qa"), gated("prod")])];
    let slow = Weather { delay: 200, ..Weather::default() };
    let qa = "qa".parse().unwrap();
    for moment in (0..2000).step_by(20).map(Duration::from_millis) {
        story!(stage = Stage::under(slow, &pipelines); {
            let in_qa = |version: &str| {
                let newest = stage.world.look(&stage.key, |known| known.newest(&qa).cloned()).flatten();
                newest.is_some_and(|it| it.release.to_string() == version)
            };
            stage.report("dev", "1.1.0").await;
            stage.until("1.1.0 waits for qa", || in_qa("1.1.0")).await;
            stage.people().ask(&ada(), &stage.key, &qa, &Ask::Approve { version: None }).await.unwrap();
            stage.until("1.1.0 is declared in qa", || stage.base().contains("1.1.0")).await;
            stage.report("qa", "1.1.0").await;
            stage.until_held("AwaitingApproval").await;
            stage.report("dev", "1.2.0").await;
            stage.until("1.2.0 waits for qa", || in_qa("1.2.0")).await;
            // Both promotions are written anew, one after the other.
            stage.freeze("friday").await;
            tokio::time::sleep(moment).await;
            let approved = stage.people().ask(&ada(), &stage.key, &prod(), &Ask::Approve { version: None }).await.unwrap();
            tokio::time::sleep(Duration::from_secs(5)).await;
            let kept = stage.sim.store.get(&RecordKey::Promotion(approved.key)).await.unwrap().unwrap();
            let Record::Promotion(kept) = kept.record else { unreachable!() };
            assert_eq!(kept.approvals.len(), 1, "approved after {moment:?}: {kept:#?}");
        });
    }
}
