//! How promotions are carried out where people review on a forge, one rule at a time.

use std::{sync::Arc, time::Duration};

use weir_core::{Checks, ForgeKind, Merge, Phase, Policy, ProposalState, Strategy};
use weir_testkit::sim::{Kept, Weather};

use crate::stage::{Stage, environment, main_branch, path, pipeline, pull_request, story};

fn on_a_forge() -> Policy {
    let mut policy = pull_request();
    if let Strategy::PullRequest(it) = &mut policy.strategy {
        it.forge = ForgeKind::Gitea;
    }
    policy
}

impl Stage {
    /// The one pull request that is open.
    fn open_there(&self) -> Kept {
        let open: Vec<_> = self.sim.forge.all().into_iter().filter(|it| it.seen.is_open()).collect();
        assert_eq!(open.len(), 1, "{open:#?}");
        open.into_iter().next().unwrap()
    }

    async fn until_proposed_there(&self, version: &str) -> Kept {
        self.until_phase(version, Phase::Proposed).await;
        self.until("the pull request is for it", || self.open_there().seen.title.ends_with(version)).await;
        self.open_there()
    }
}

#[test]
fn a_pull_request_explains_itself_and_is_followed_to_the_end() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        let kept = stage.until_proposed_there("1.1.0").await;
        assert_eq!(kept.seen.title, "Promote default/app in prod to 1.1.0");
        assert!(kept.seen.body.contains("!!! DO NOT EDIT !!!\n\ndefault/app/prod\n"), "{}", kept.seen.body);
        assert!(kept.seen.body.contains("| `apps.yaml` | `1.0.0` | `1.1.0` |"), "{}", kept.seen.body);
        assert_eq!(stage.holds(), ["AwaitingReview"]);
        assert!(stage.proposals().is_empty(), "Weir keeps none of its own");
        assert!(stage.sim.forge.merge_by("1", "ada"));
        stage.until_phase("1.1.0", Phase::Delivered).await;
        assert!(stage.base().contains("app: 1.1.0"));
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
        stage.report("prod", "1.1.0").await;
        stage.until_phase("1.1.0", Phase::Succeeded).await;
        assert_eq!(stage.sim.forge.all().len(), 1);
    });
}

#[test]
fn weir_has_it_merged_where_it_shall_once_the_checks_have_passed() {
    let mut policy = on_a_forge();
    policy.merge = Merge::Auto;
    story!(stage = Stage::with(policy); {
        stage.sim.forge.check_new_ones(Checks::Pending(vec![Arc::from("test")]));
        stage.report("dev", "1.1.0").await;
        stage.until_held("ChecksPending").await;
        assert!(stage.base().contains("1.0.0"));
        stage.sim.forge.change("1", |seen| seen.checks = Checks::Passing);
        stage.until_phase("1.1.0", Phase::Delivered).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
    });
}

#[test]
fn of_two_who_both_act_only_one_opens_a_pull_request() {
    let weather = Weather { delay: 400, ..Weather::default() };
    for seed in 0..20 {
        let environments =
            vec![environment("dev", None, Vec::new()), environment("prod", Some(on_a_forge()), Vec::new())];
        story!(stage = Stage::from_seed(seed, weather, &[pipeline("default/app", environments)]); {
            let told = async {
                stage.sim.forge.open_slowly(Duration::from_secs(2));
                stage.report("dev", "1.1.0").await;
                stage.until_proposed_there("1.1.0").await;
                tokio::time::sleep(Duration::from_mins(1)).await;
            };
            tokio::select! {
                () = stage.another(weather) => {}
                () = told => {}
            }
            assert_eq!((stage.sim.forge.opened_twice(), stage.sim.forge.all().len()), (0, 1), "seed {seed}");
        });
    }
}

#[test]
fn a_forge_that_is_down_is_asked_less_and_less_often() {
    let weather = Weather { delay: 50, ..Weather::default() };
    let environments = vec![environment("dev", None, Vec::new()), environment("prod", Some(on_a_forge()), Vec::new())];
    story!(stage = Stage::under(weather, &[pipeline("default/app", environments)]); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.sim.forge.set_down(true);
        stage.report("dev", "1.2.0").await;
        stage.until_held("ForgeUnavailable").await;
        let before = stage.sim.store.writes();
        tokio::time::sleep(Duration::from_mins(10)).await;
        let writes = stage.sim.store.writes() - before;
        assert!(writes < 60, "{writes} writes in ten minutes");
        stage.sim.forge.set_down(false);
        stage.until_proposed_there("1.2.0").await;
    });
}

#[test]
fn what_an_earlier_pipeline_of_the_name_left_on_the_forge_says_nothing() {
    let environments = vec![environment("dev", None, Vec::new()), environment("prod", Some(on_a_forge()), Vec::new())];
    let app = pipeline("default/app", environments);
    story!(stage = Stage::of(std::slice::from_ref(&app)); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.sim.catalog.remove(stage.key.clone());
        stage.until("it is closed", || !stage.sim.forge.all()[0].seen.is_open()).await;
        stage.forget_everything().await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        stage.define(&app);
        stage.report("dev", "1.2.0").await;
        assert_eq!(&*stage.until_proposed_there("1.2.0").await.seen.id, "2");
        assert!(stage.sim.forge.merge_by("2", "ada"));
        stage.until_phase("1.2.0", Phase::Delivered).await;
        stage.report("prod", "1.2.0").await;
        stage.until_phase("1.2.0", Phase::Succeeded).await;
        // The same once more, with one that was merged.
        stage.sim.catalog.remove(stage.key.clone());
        tokio::time::sleep(Duration::from_mins(1)).await;
        stage.forget_everything().await;
        stage.define(&app);
        stage.report("dev", "1.3.0").await;
        assert_eq!(&*stage.until_proposed_there("1.3.0").await.seen.id, "3");
    });
}

#[test]
fn a_newer_release_takes_over_the_open_pull_request() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.report("dev", "1.2.0").await;
        let kept = stage.until_proposed_there("1.2.0").await;
        assert_eq!(&*kept.seen.id, "1");
        assert!(kept.seen.body.contains("takes the place of: `1.1.0`"), "{}", kept.seen.body);
        assert!(stage.sim.forge.merge_by("1", "ada"));
        stage.until_phase("1.2.0", Phase::Delivered).await;
    });
}

#[test]
fn what_a_person_closes_is_refused_and_a_newer_one_gets_a_pull_request_of_its_own() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.sim.forge.close_by("1", "ada");
        stage.until_phase("1.1.0", Phase::Rejected).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
        tokio::time::sleep(Duration::from_hours(1)).await;
        assert_eq!(stage.sim.forge.all().len(), 1, "it is not opened again");
        stage.report("dev", "1.2.0").await;
        let kept = stage.until_proposed_there("1.2.0").await;
        assert_eq!(&*kept.seen.id, "2");
    });
}

#[test]
fn a_release_that_dev_takes_back_is_closed_with_a_note() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.0.5").await;
        stage.until_proposed_there("1.0.5").await;
        assert!(stage.sim.forge.merge_by("1", "ada"));
        stage.until_phase("1.0.5", Phase::Delivered).await;
        stage.report("prod", "1.0.5").await;
        stage.until_phase("1.0.5", Phase::Succeeded).await;
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.report("dev", "1.0.5").await;
        stage.until_phase("1.1.0", Phase::Withdrawn).await;
        stage.until("it is closed", || !stage.sim.forge.all()[1].seen.is_open()).await;
        assert_eq!(stage.sim.forge.all()[1].notes.len(), 1);
        // What Weir closed, nobody has rejected.
        stage.report("dev", "1.1.1").await;
        stage.until_proposed_there("1.1.1").await;
    });
}

#[test]
fn a_branch_that_somebody_committed_to_is_theirs() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        let kept = stage.until_proposed_there("1.1.0").await;
        stage.edit(kept.head.as_str(), "1.1.0", "1.1.0-mine");
        stage.until_held("BranchChangedByHand").await;
        stage.report("dev", "1.2.0").await;
        tokio::time::sleep(Duration::from_mins(10)).await;
        assert!(stage.sim.repos.files_of(&kept.head)["apps.yaml"].contains("1.1.0-mine"));
        let newest = stage.promotion().unwrap();
        let told: Vec<_> = newest.holds.iter().map(|hold| hold.reason.to_string()).collect();
        assert_eq!(newest.release.to_string(), "1.2.0");
        assert!(told.iter().any(|it| it.contains(", which Weir made for 1.1.0: it is theirs now")), "{told:?}");
    });
}

#[test]
fn a_value_that_changed_on_the_base_is_proposed_anew() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        let kept = stage.until_proposed_there("1.1.0").await;
        stage.edit("main", "app: 1.0.0", "app: 1.0.1");
        stage.until("it is built anew", || stage.open_there().seen.head != kept.seen.head).await;
        assert!(stage.sim.forge.merge_by("1", "ada"));
        stage.until_phase("1.1.0", Phase::Delivered).await;
    });
}

#[test]
fn another_change_of_the_base_does_not_cost_the_review() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        let kept = stage.until_proposed_there("1.1.0").await;
        stage.sim.repos.commit(&main_branch(), &path("other.yaml"), |_| "a: 1\n".to_owned());
        tokio::time::sleep(Duration::from_mins(10)).await;
        assert_eq!(stage.open_there().seen.head, kept.seen.head);
    });
}

#[test]
fn a_squash_merge_by_hand_counts_though_everything_is_left_behind() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.edit("main", "1.0.0", "1.1.0");
        stage.until_phase("1.1.0", Phase::Delivered).await;
        stage.until("the pull request is closed", || !stage.sim.forge.all()[0].seen.is_open()).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
    });
}

#[test]
fn what_holds_it_is_shown_beside_the_commit() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        let kept = stage.until_proposed_there("1.1.0").await;
        let last = || stage.sim.forge.shown().last().cloned();
        stage.until("it is shown that nothing holds it", || last().is_some_and(|(_, shown)| shown.open)).await;
        stage.freeze("friday").await;
        stage.until("the freeze is shown", || last().is_some_and(|(_, shown)| !shown.open)).await;
        let (commit, shown) = last().unwrap();
        assert_eq!(commit, kept.seen.head);
        assert!(shown.sentence.contains("friday"), "{}", shown.sentence);
        let written = stage.sim.forge.shown().len();
        tokio::time::sleep(Duration::from_hours(2)).await;
        assert_eq!(stage.sim.forge.shown().len(), written, "once is enough");
    });
}

#[test]
fn what_a_person_merges_against_a_hold_is_recorded() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.freeze("friday").await;
        stage.until_held("Frozen").await;
        assert!(stage.sim.forge.merge_by("1", "ada"));
        stage.until_phase("1.1.0", Phase::Delivered).await;
        let overridden = stage.promotion().unwrap().overridden;
        assert_eq!(overridden.iter().map(|hold| hold.reason.name()).collect::<Vec<_>>(), ["Frozen"]);
    });
}

#[test]
fn a_text_that_was_left_behind_by_a_crash_is_brought_up_to_date() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        let before = stage.until_proposed_there("1.1.0").await.seen;
        stage.report("dev", "1.2.0").await;
        stage.until_proposed_there("1.2.0").await;
        // As if the branch had been pushed, and nobody had come to changing the text.
        stage.sim.forge.rename("1", &before.title, &before.body);
        stage.until_proposed_there("1.2.0").await;
        tokio::time::sleep(Duration::from_mins(10)).await;
        let promotion = stage.promotion().unwrap();
        assert_eq!((promotion.phase, &promotion.leg.intent), (Phase::Proposed, &None), "and that is all there is to do");
        assert_eq!(promotion.leg.facts.proposal.unwrap().release, Some(promotion.release));
    });
}

#[test]
fn whoever_lost_a_pipeline_in_the_middle_of_a_step_says_nothing_of_its_failure() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.sim.forge.open_slowly(Duration::from_mins(1));
        stage.report("dev", "1.1.0").await;
        stage.until("the branch is there", || !stage.branches().is_empty()).await;
        stage.own(false);
        stage.sim.forge.set_down(true);
        tokio::time::sleep(Duration::from_mins(5)).await;
        assert_eq!(stage.promotion().unwrap().leg.facts.problem, None);
        stage.own(true);
        stage.until_held("ForgeUnavailable").await;
    });
}

#[test]
fn what_a_forge_tells_is_looked_at_at_once() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        tokio::time::sleep(Duration::from_mins(5)).await;
        stage.sim.forge.close_by("1", "ada");
        let begun = tokio::time::Instant::now();
        stage.world.poke(&stage.key);
        stage.until_phase("1.1.0", Phase::Rejected).await;
        assert!(begun.elapsed() < Duration::from_secs(3), "it took {:?}", begun.elapsed());
    });
}

#[test]
fn an_idle_pull_request_writes_nothing() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        tokio::time::sleep(Duration::from_mins(5)).await;
        let writes = stage.sim.store.writes();
        tokio::time::sleep(Duration::from_hours(24)).await;
        assert_eq!(stage.sim.store.writes(), writes);
    });
}

#[test]
fn an_environment_that_is_gone_leaves_no_pull_request_behind() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        let without = pipeline("default/app", vec![environment("dev", None, Vec::new())]);
        stage.define(&without);
        stage.until("the pull request is closed", || !stage.sim.forge.all()[0].seen.is_open()).await;
        stage.until("the branch is gone", || stage.branches().is_empty()).await;
    });
}

#[test]
fn a_pipeline_that_is_deleted_leaves_nothing_to_wait_for() {
    story!(stage = Stage::with(on_a_forge()); {
        stage.report("dev", "1.1.0").await;
        stage.until_proposed_there("1.1.0").await;
        stage.sim.catalog.remove(stage.key.clone());
        stage.until("it is over", || {
            stage.promotion().is_some_and(|it| {
                let open = it.leg.facts.proposal.as_ref().is_some_and(|it| it.state == ProposalState::Open);
                !it.phase.is_live() && it.leg.intent.is_none() && !open
            })
        }).await;
    });
}
