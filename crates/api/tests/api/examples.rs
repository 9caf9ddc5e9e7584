//! What the manual shows works, and so does every YAML of the original proposals.

use weir_api::{Object, PipelineGroup};
use weir_core::{Application, ForgeKind, Gate, Strategy, When};

use crate::world::{example, manifests, pipeline};

#[test]
fn every_example_reads_without_a_complaint() {
    for name in [
        "pipeline-two-environments.yaml",
        "pipeline-two-targets.yaml",
        "pipeline-review.yaml",
        "kubernetes/pipeline.yaml",
        "kubernetes/clusters.yaml",
        "pipeline-pull-request-short.yaml",
        "pipeline-pull-request.yaml",
        "pipeline-gates.yaml",
        "gitopscluster.yaml",
        "freeze.yaml",
    ] {
        assert!(!manifests(&example(name)).is_empty(), "{name}");
    }
}

#[test]
fn the_pipeline_of_story_1_joins_workloads_by_label_and_goes_from_dev_to_prod() {
    let read = manifests(&example("pipeline-two-environments.yaml"));
    let [weir_api::Manifest { object: Object::Pipeline(group, kind), place }] = read.as_slice() else {
        panic!("{read:?}");
    };
    assert_eq!((*group, place.line), (PipelineGroup::Wego, 2));
    let core = kind.to_core().unwrap();
    assert_eq!(core.key.to_string(), "default/podinfo");
    assert_eq!(core.application, Application::Labelled);
    let targets: Vec<_> = core.environments().iter().map(|e| (e.name.as_str(), format!("{:?}", e.targets))).collect();
    let wanted = [("dev", "[default/dev/podinfo]".to_owned()), ("prod", "[default/prod/podinfo]".to_owned())];
    assert_eq!(targets, wanted);
    assert!(core.environments().iter().all(|e| e.promotion.is_none() && e.gates.is_empty()));
    assert!(!core.suspended && !core.deleted);
}

#[test]
fn the_pipeline_of_story_4_has_two_targets_in_dev() {
    let core = pipeline(&example("pipeline-two-targets.yaml")).to_core().unwrap();
    let dev = core.environment(&"dev".parse().unwrap()).unwrap();
    assert_eq!(format!("{:?}", dev.targets), "[default/dev-us/podinfo, default/dev-eu/podinfo]");
}

#[test]
fn the_older_form_of_a_pull_request_means_the_same_as_the_released_one() {
    let older = pipeline(&example("pipeline-pull-request-short.yaml")).to_core().unwrap();
    assert_eq!(older, pipeline(&example("pipeline-pull-request.yaml")).to_core().unwrap());
    let policy = older.environments()[1].promotion.clone().unwrap();
    let Strategy::PullRequest(pull_request) = policy.strategy else { panic!() };
    assert_eq!(pull_request.forge, ForgeKind::GitHub);
    assert_eq!(pull_request.repository.base.as_str(), "main");
    assert_eq!(policy.when, When::Any);
}

#[test]
fn the_pipeline_of_the_proposal_reads_as_it_was_published() {
    let published = example("pipeline-pull-request-short.yaml")
        .replace("https://github.com/", "https://github.tiyicn.workers.dev/");
    let core = pipeline(&published).to_core().unwrap();
    let policy = core.environments()[2].promotion.clone().unwrap();
    let Strategy::PullRequest(pull_request) = policy.strategy else { panic!() };
    assert_eq!(pull_request.forge, ForgeKind::Git);
    assert_eq!(core.environments()[1].targets.len(), 2);
}

#[test]
fn the_secret_of_signed_events_is_the_one_that_the_strategy_names() {
    let kind = pipeline(&example("pipeline-pull-request.yaml"));
    assert_eq!(kind.spec.hmac_secret("dev"), Some("promotion-hmac"));
}

#[test]
fn the_example_of_gates_sets_every_field() {
    let core = pipeline(&example("pipeline-gates.yaml")).to_core().unwrap();
    let [dev, qa, prod] = core.environments() else { panic!() };
    assert_eq!(format!("{:?}", dev.targets), "[podinfo]");
    assert_eq!(format!("{:?}", qa.targets), "[default/qa-eu/podinfo, clusters/qa-us/podinfo]");
    let (qa, policy) = (qa.promotion.clone().unwrap(), prod.promotion.clone().unwrap());
    assert!(matches!(qa.strategy, Strategy::Push(_)));
    assert_eq!((qa.when, policy.when), (When::Any, When::Percent(50)));
    assert_eq!(policy.merge, weir_core::Merge::Auto);
    assert_eq!(policy.concurrency, weir_core::Concurrency::Latest);
    assert_eq!(policy.deploy_timeout.as_mins(), 90);
    let [Gate::Soak(soak), Gate::Window(window), Gate::Approval(two), Gate::Approval(manual)] = &prod.gates[..] else {
        panic!("{:?}", prod.gates);
    };
    assert_eq!(soak.as_hours(), 24);
    assert_eq!(
        window.to_string(),
        "open `0 9 * * MON-FRI` for 8h in Europe/Berlin; closed `0 0 24 12 *` for 72h in UTC"
    );
    assert_eq!((two.count, two.from.users.len(), two.allow_author), (2, 1, false));
    assert_eq!((manual.count, manual.from.to_string().as_str()), (1, "anybody with the right to approve"));
}

#[test]
fn the_examples_of_freezes_say_what_they_stop() {
    let freezes: Vec<_> = manifests(&example("freeze.yaml"))
        .into_iter()
        .map(|manifest| match manifest.object {
            Object::Freeze(freeze) => freeze.to_core().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(freezes[0].lasts("2026-12-24T12:00:00Z".parse().unwrap()));
    assert!(freezes[1].selector.is_quarantine());
    assert_eq!(freezes[1].by, "somebody");
}

#[test]
fn the_high_level_definitions_are_yaml() {
    for name in ["dev/component", "stage/component", "cat-application/component", "cat-application/config/common"] {
        let text = example(&format!("hld/{name}.yaml"));
        assert!(serde_saphyr::from_str::<serde_json::Value>(&text).unwrap().is_object(), "{name}");
    }
}
