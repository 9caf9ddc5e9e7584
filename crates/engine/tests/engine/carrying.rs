//! How promotions are carried out, one rule at a time.

use std::time::Duration;

use jiff::SignedDuration;
use weir_core::{Gate, Merge, Outcome, Phase, PlainState};
use weir_engine::{Ask, Denied};
use weir_ports::{Flaw, Record, RecordKey, Store as _};
use weir_testkit::sim::Weather;

use crate::{
    scene::ada,
    stage::{Stage, approval, environment, path, pipeline, prod, pull_request, push, story},
};

#[test]
fn a_release_is_proposed_merged_and_followed_until_it_runs() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        assert_eq!(stage.holds(), ["AwaitingReview"]);
        let proposal = stage.open();
        assert_eq!(proposal.title, "Promote app 1.1.0 to prod");
        for words in ["| `prod` | - | `1.1.0` |", "Healthy in dev on:\n\n- `dev`, since "] {
            assert!(proposal.body.contains(words), "{}", proposal.body);
        }
        assert_eq!((&*proposal.edits[0].before, &*proposal.edits[0].after), ("1.0.0", "1.1.0"));
        assert!(stage.base().contains("app: 1.0.0"));
        stage.merge().await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
        assert!(stage.base().contains("app: 1.1.0 # {"), "{}", stage.base());
        assert_eq!(stage.branches(), [""; 0], "the branch is gone");
        stage.report("prod", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Succeeded).await;
    });
}

#[test]
fn push_needs_no_proposal() {
    story!(stage = Stage::with(push()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
        assert!(stage.base().contains("app: 1.1.0"));
        assert!(stage.proposals().is_empty());
    });
}

#[test]
fn weir_merges_by_itself_where_it_shall() {
    let mut policy = pull_request();
    policy.merge = Merge::Auto;
    story!(stage = Stage::with(policy); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
        assert!(matches!(stage.proposals()[0].state, PlainState::Merged { by: None, .. }));
    });
}

#[test]
fn a_newer_release_takes_over_the_open_proposal() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        let before = stage.open();
        stage.report("dev", "1.2.0").await;
        stage.until_phase("1.2.0", Phase::Proposed).await;
        let after = stage.open();
        assert_eq!((before.key, before.branch), (after.key, after.branch));
        assert!(after.body.contains("takes the place of: `1.1.0`"), "{}", after.body);
        assert_ne!(before.head, after.head);
    });
}

#[test]
fn a_merge_is_for_the_head_that_was_looked_at() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        let before = stage.open();
        stage.report("dev", "1.2.0").await;
        stage.until_phase("1.2.0", Phase::Proposed).await;
        let denied = stage.people().merge(&ada(), &before.key, &before.head).await;
        assert!(matches!(denied, Err(Denied::Changed { .. })), "{denied:?}");
    });
}

#[test]
fn what_a_person_closes_is_refused_and_its_branch_goes() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.people().close(&ada(), &stage.open().key, None).await.unwrap();
        stage.until_phase("1.1.0", Phase::Rejected).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
        stage.report("dev", "1.2.0").await;
        stage.until_phase("1.2.0", Phase::Proposed).await;
    });
}

#[test]
fn what_a_person_rejects_is_closed() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.people().ask(&ada(), &stage.key, &prod(), &Ask::Reject { version: None }).await.unwrap();
        stage.until_phase("1.1.0", Phase::Rejected).await;
        stage.until("closed", || matches!(stage.proposals()[0].state, PlainState::Closed { .. })).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
    });
}

#[test]
fn a_release_that_dev_takes_back_is_withdrawn() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.0.5").await;
        stage.until_phase("1.0.5", Phase::Proposed).await;
        stage.merge().await;
        stage.until_phase("1.0.5", Phase::Delivered).await;
        stage.report("prod", "1.0.5").await;
        stage.until_phase("1.0.5", Phase::Succeeded).await;
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.report("dev", "1.0.5").await;
        stage.until_phase("1.1.0", Phase::Withdrawn).await;
        stage.until("closed", || matches!(stage.proposals()[1].state, PlainState::Closed { by: None, .. })).await;
    });
}

#[test]
fn a_branch_that_somebody_committed_to_is_theirs() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        let branch = stage.open().branch.to_string();
        stage.edit(&branch, "1.1.0", "1.1.0-mine");
        stage.until_held("BranchChangedByHand").await;
        stage.report("dev", "1.2.0").await;
        tokio::time::sleep(Duration::from_mins(5)).await;
        let theirs = stage.sim.repos.files_of(&branch.parse().unwrap());
        assert!(theirs["apps.yaml"].contains("1.1.0-mine"), "nobody touched it");
    });
}

#[test]
fn a_squash_merge_by_hand_counts_though_the_branch_is_left_behind() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.edit("main", "app: 1.0.0", "app: 1.1.0");
        stage.until_phase("1.1.0", Phase::Delivered).await;
        stage.until("it is merged", || matches!(stage.proposals()[0].state, PlainState::Merged { by: None, .. })).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
    });
}

#[test]
fn a_revert_by_hand_is_a_rollback_and_the_release_does_not_come_again() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.merge().await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
        stage.report("prod", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Succeeded).await;
        stage.edit("main", "app: 1.1.0", "app: 1.0.0");
        stage.until_phase("1.1.0", Phase::RolledBack).await;
        tokio::time::sleep(Duration::from_mins(10)).await;
        assert_eq!(stage.phase(), Some(("1.1.0".to_owned(), Phase::RolledBack)));
    });
}

#[test]
fn nothing_to_edit_says_what_was_looked_for_and_goes_on_when_it_is_there() {
    story!(stage = Stage::with(pull_request()); {
        stage.edit("main", "$promotion", "$nothing");
        stage.report("dev", "1.1.0").await;
        stage.until_held("NothingToEdit").await;
        let hold = stage.promotion().unwrap().holds[0].reason.to_string();
        assert!(hold.contains("`default:app:prod`"), "{hold}");
        stage.edit("main", "$nothing", "$promotion");
        stage.until_phase("1.1.0", Phase::Proposed).await;
    });
}

#[test]
fn a_file_that_cannot_be_changed_is_named() {
    story!(stage = Stage::with(pull_request()); {
        stage.edit("main", "app: 1.0.0", "app: [1.0.0");
        stage.report("dev", "1.1.0").await;
        stage.until_held("RepositoryUnavailable").await;
        let hold = stage.promotion().unwrap().holds[0].reason.to_string();
        assert!(hold.contains("`apps.yaml`"), "{hold}");
        stage.edit("main", "app: [1.0.0", "app: 1.0.0");
        stage.until_phase("1.1.0", Phase::Proposed).await;
    });
}

#[test]
fn another_pipeline_in_the_same_file_does_not_cost_the_review() {
    let two = ["default/app", "default/web"].map(|key| {
        pipeline(key, vec![environment("dev", None, Vec::new()), environment("prod", Some(pull_request()), Vec::new())])
    });
    story!(stage = Stage::of(&two); {
        stage.report("dev", "1.1.0").await;
        let web = "default/web".parse().unwrap();
        stage.report_of(&web, "dev", Outcome::Succeeded("2.0.0".parse().unwrap())).await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        let reviewed = stage.open();
        stage.until("web is proposed", || stage.world.look(&web, |known| known.proposals().count()) == Some(1)).await;
        let other = stage.world.look(&web, |known| known.proposals().next().cloned()).flatten().unwrap();
        stage.people().merge(&ada(), &other.key, &other.head).await.unwrap();
        stage.until("web is merged", || stage.base().contains("web: 2.0.0")).await;
        assert_eq!(stage.open().head, reviewed.head, "the review survives");
        stage.merge().await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
        assert!(stage.base().contains("app: 1.1.0") && stage.base().contains("web: 2.0.0"), "{}", stage.base());
    });
}

#[test]
fn a_value_that_changed_on_the_base_is_proposed_anew() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        let before = stage.open();
        stage.edit("main", "app: 1.0.0", "app: 1.0.1");
        stage.until("the proposal is built anew", || stage.open().head != before.head).await;
        assert_eq!(&*stage.open().edits[0].before, "1.0.1");
    });
}

#[test]
fn pipelines_whose_branches_would_have_the_same_name_get_two() {
    let two = ["a-b/c", "a/b-c"].map(|key| {
        pipeline(key, vec![environment("dev", None, Vec::new()), environment("prod", Some(pull_request()), Vec::new())])
    });
    story!(stage = Stage::of(&two); {
        for pipeline in &two {
            stage.report_of(&pipeline.key, "dev", Outcome::Succeeded("1.1.0".parse().unwrap())).await;
            stage.until("it is proposed", || {
                stage.world.look(&pipeline.key, |known| known.proposals().count()) == Some(1)
            }).await;
        }
        assert_eq!(stage.branches().len(), 2, "{:?}", stage.branches());
    });
}

#[test]
fn a_freeze_stops_the_merge_and_lifting_it_lets_it_through() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.freeze("friday").await;
        let open = stage.open();
        let denied = stage.people().merge(&ada(), &open.key, &open.head).await;
        assert!(matches!(denied, Err(Denied::Held(_))), "{denied:?}");
        stage.people().unfreeze(&ada(), &"friday".parse().unwrap()).await.unwrap();
        stage.until("the freeze is lifted", || stage.world.freezes().is_empty()).await;
        stage.merge().await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn a_suspended_pipeline_does_nothing_until_it_is_resumed() {
    story!(stage = Stage::with(push()); {
        stage.until("the pipeline is known", || stage.world.is_ready()).await;
        stage.people().suspend(&ada(), &stage.key, true).await.unwrap();
        stage.report("dev", "1.1.0").await;
        stage.until_held("Suspended").await;
        assert!(stage.base().contains("1.0.0"));
        stage.people().suspend(&ada(), &stage.key, false).await.unwrap();
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn an_approval_opens_the_gate() {
    let environments =
        vec![environment("dev", None, Vec::new()), environment("prod", Some(push()), vec![approval(true)])];
    story!(stage = Stage::of(&[pipeline("default/app", environments)]); {
        stage.report("dev", "1.1.0").await;
        stage.until_held("AwaitingApproval").await;
        stage.people().ask(&ada(), &stage.key, &prod(), &Ask::Approve { version: None }).await.unwrap();
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn a_soak_is_waited_for_without_anybody_looking() {
    let soak = vec![Gate::Soak(SignedDuration::from_mins(30))];
    let environments = vec![environment("dev", None, Vec::new()), environment("prod", Some(push()), soak)];
    story!(stage = Stage::of(&[pipeline("default/app", environments)]); {
        stage.report("dev", "1.1.0").await;
        stage.until_held("Soaking").await;
        let writes = stage.sim.store.writes();
        tokio::time::sleep(Duration::from_mins(29)).await;
        assert_eq!(stage.sim.store.writes(), writes, "time alone writes nothing");
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn the_proposal_of_a_pipeline_that_is_deleted_is_closed() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.sim.catalog.remove(stage.key.clone());
        stage.until("closed", || matches!(stage.proposals()[0].state, PlainState::Closed { by: None, .. })).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
    });
}

#[test]
fn a_foreign_file_is_never_touched() {
    story!(stage = Stage::with(push()); {
        stage.sim.repos.commit(&"main".parse().unwrap(), &path("notes.md"), |_| "keep me".to_owned());
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
        assert_eq!(stage.sim.repos.files_of(&"main".parse().unwrap())["notes.md"], "keep me");
    });
}

#[test]
fn an_idle_pipeline_writes_nothing() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        let writes = stage.sim.store.writes();
        tokio::time::sleep(Duration::from_hours(24)).await;
        assert_eq!(stage.sim.store.writes(), writes);
    });
}

#[test]
fn a_branch_that_is_reset_to_what_was_proposed_is_ours_again() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        let (branch, head) = (stage.open().branch, stage.open().head);
        stage.edit(branch.as_str(), "1.1.0", "1.1.0-mine");
        stage.until_held("BranchChangedByHand").await;
        stage.sim.repos.reset(&branch, &head);
        stage.until("nothing holds it but the review", || stage.holds() == ["AwaitingReview"]).await;
        stage.merge().await;
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn what_was_over_long_ago_is_removed_but_never_the_newest() {
    story!(stage = Stage::with(push()); {
        for minor in 1..=12 {
            let version = format!("1.{minor}.0");
            stage.report("dev", &version).await;
            stage.until_phase(&version, Phase::Delivered).await;
            stage.report("prod", &version).await;
            stage.until_phase(&version, Phase::Succeeded).await;
        }
        let ordinals = || stage.world.look(&stage.key, |known| {
            let mut all: Vec<_> = known.snapshot().promotions.iter().map(|it| it.key.ordinal).collect();
            all.sort_unstable();
            all
        }).unwrap();
        stage.until("eight are left", || ordinals() == (5..=12).collect::<Vec<_>>()).await;
        tokio::time::sleep(Duration::from_hours(91 * 24)).await;
        // Something happens, so that it is looked at.
        stage.report("dev", "1.12.0").await;
        stage.until("one is left", || ordinals() == [12]).await;
    });
}

#[test]
fn what_a_person_asked_for_before_a_process_may_act_is_done_when_it_may() {
    story!(stage = Stage::with(pull_request()); {
        stage.report("dev", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Proposed).await;
        stage.own(false);
        stage.merge().await;
        tokio::time::sleep(Duration::from_mins(10)).await;
        assert_eq!(stage.phase(), Some(("1.1.0".to_owned(), Phase::Proposed)));
        stage.own(true);
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn what_cannot_be_read_after_a_restart_is_not_taken_for_deleted() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let stage = Stage::with(pull_request());
        let proposed = async {
            stage.report("dev", "1.1.0").await;
            stage.until_phase("1.1.0", Phase::Proposed).await;
            stage.open().key
        };
        let key = RecordKey::Proposal(stage.play(proposed).await);
        let is_open = async || {
            let kept = stage.sim.store.get(&key).await.unwrap().unwrap().record;
            matches!(kept, Record::Proposal(proposal) if proposal.state == PlainState::Open)
        };
        // The process that begins now finds a file that it cannot read, and does not know what is in it.
        stage.sim.catalog.remove(stage.key.clone());
        let flaw = Flaw { pipelines: Vec::new(), unread: true, place: None, problem: "broken".to_owned() };
        stage.sim.catalog.complain(vec![flaw]);
        let told = async {
            tokio::time::sleep(Duration::from_hours(1)).await;
            assert!(is_open().await);
            // The file is deleted: now it is certain.
            stage.sim.catalog.complain(Vec::new());
            tokio::time::sleep(Duration::from_mins(1)).await;
            assert!(!is_open().await);
        };
        tokio::select! {
            () = stage.another(Weather::default()) => {}
            () = told => {}
        }
    });
}
