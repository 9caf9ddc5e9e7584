//! The rules of the kinds: each is in the definition, and each is applied here as a cluster would.

use crate::world::{HEAD, dev_to_prod, errors, pipeline, with_prod};

#[track_caller]
fn refused(text: &str, with: &str) {
    let errors = errors(text);
    assert!(errors.contains(with), "wanted `{with}`, got:\n{errors}");
}

#[test]
fn a_pipeline_has_at_least_one_environment() {
    refused(&format!("{HEAD}  environments: []\n"), ":7:3: spec.environments: list at least one environment");
}

#[test]
fn every_environment_has_a_name_of_its_own() {
    let text = dev_to_prod("").replace("name: prod", "name: dev");
    refused(&text, "spec.environments: give each environment a name of its own");
}

#[test]
fn a_target_is_listed_once_even_if_only_one_of_the_two_spells_out_a_default() {
    let same = "targets: [{namespace: podinfo-prod}, {namespace: podinfo-prod}]";
    let text = with_prod("").replace("targets: [{namespace: podinfo-prod}]", same);
    refused(&text, "environment `prod` lists target `podinfo-prod` twice");
    let spelled = "targets: [{namespace: a, clusterRef: {kind: GitopsCluster, name: c}}, \
                   {namespace: a, clusterRef: {kind: GitopsCluster, name: c, namespace: default}}]";
    let text = with_prod("").replace("targets: [{namespace: podinfo-prod}]", spelled);
    refused(&text, "environment `prod` lists target `default/c/a` twice");
}

#[test]
fn there_is_at_most_one_strategy() {
    let two = "  promotion: {strategy: {notification: {}, push: {url: 'https://example.org/a'}}}";
    refused(&dev_to_prod(two), "spec.promotion.strategy: write only one of");
    let both = "  promotion: {pullRequest: {url: 'https://example.org/a'}, strategy: {notification: {}}}";
    refused(&dev_to_prod(both), "spec.promotion.pullRequest: write `strategy` or its older form");
}

#[test]
fn an_address_holds_no_password() {
    let head = "      promotion: {strategy: {push: {url: ";
    let with = |url: &str| with_prod(&format!("{head}'{url}'}}}}}}"));
    let words = "promotion.strategy.push.url: put credentials into a Secret and name it in `secretRef`";
    let text = with("https://user:geheim@example.org/x.git");
    refused(&text, words);
    refused(&text.replace("pipelines.weave.works", "pipelines.wego.weave.works"), words);
    assert!(!errors(&text).contains("geheim"), "{}", errors(&text));
    let short = "  promotion: {pullRequest: {url: 'https://user:geheim@example.org/x.git'}}";
    refused(&dev_to_prod(short), "spec.promotion.pullRequest.url: put credentials into a Secret");
    for fine in ["ssh://git@example.org/x.git", "https://git@example.org/x.git", "git@example.org:x.git"] {
        assert_eq!(errors(&with(fine)), "");
    }
}

#[test]
fn what_is_on_a_cluster_since_before_the_rule_is_refused_too() {
    let fine = "  promotion: {pullRequest: {url: 'https://example.org/x.git'}}";
    let mut old = pipeline(&dev_to_prod(fine));
    let rules = old.spec.promotion.as_mut().unwrap();
    rules.pull_request.as_mut().unwrap().url.0 = "https://user:geheim@example.org/x.git".to_owned();
    let wrong = old.to_core().unwrap_err();
    let told: Vec<_> = wrong.iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("spec.promotion.pullRequest.url: put credentials into a Secret"), "{told:?}");
    assert!(!told.concat().contains("geheim"));
}

#[test]
fn an_environments_promotion_names_its_own_strategy() {
    refused(
        &with_prod("      promotion: {manual: true}"),
        "spec.environments[1].promotion: an environment's promotion",
    );
}

#[test]
fn a_gate_is_exactly_one_thing() {
    let two = "      gates: [{approval: {}, soak: {duration: 1h}}]";
    refused(&with_prod(two), "spec.environments[1].gates[0]: write exactly one of `approval`, `window` and `soak`");
    refused(&with_prod("      gates: [{}]"), "spec.environments[1].gates[0]: write exactly one of");
}

#[test]
fn a_window_lists_a_period() {
    refused(&with_prod("      gates: [{window: {allow: []}}]"), "gates[0].window: list at least one period");
}

#[test]
fn an_approval_needs_at_least_one_person() {
    refused(&with_prod("      gates: [{approval: {count: 0}}]"), "approval.count: found `0`, allowed: at least 1");
}

#[test]
fn no_more_people_have_to_approve_than_are_named() {
    let gate = |approval: &str| with_prod(&format!("      gates: [{{approval: {approval}}}]"));
    refused(&gate("{count: 2, users: [ann]}"), "gates[0].approval: `count` is more than there are `users`");
    for fine in ["{count: 2, users: [ann, bob]}", "{count: 2, users: [ann], groups: [release]}", "{count: 2}"] {
        assert_eq!(errors(&gate(fine)), "");
    }
}

#[test]
fn what_a_schema_cannot_check_is_reported_in_the_same_form() {
    let window = |schedule: &str, duration: &str, zone: &str| {
        with_prod(&format!(
            "      gates: [{{window: {{allow: [{{schedule: '{schedule}', duration: {duration}, timeZone: {zone}}}]}}}}]"
        ))
    };
    refused(&window("every day", "8h", "UTC"), "window.allow[0].schedule: `every day` is not a cron schedule");
    refused(&window("0 9 * * *", "8h", "Mars/Olympus"), "window.allow[0].timeZone: `Mars/Olympus` is not a time zone");
    refused(&window("0 9 * * *", "1s", "UTC"), "window.allow[0].duration: a period of");
    let branch = "  promotion: {pullRequest: {url: 'https://example.org/a', branch: 'a..b'}}";
    refused(&dev_to_prod(branch), "spec.promotion.pullRequest.branch: found `a..b`, use what `git check-ref-format");
}

#[test]
fn when_is_any_all_a_count_or_a_percentage() {
    let text = |when: &str| dev_to_prod(&format!("  promotion: {{when: {when}, strategy: {{notification: {{}}}}}}"));
    for (when, core) in [("any", "any"), ("all", "all"), ("2", "2"), ("'2'", "2"), ("50%", "50%")] {
        let policy = pipeline(&text(when)).to_core().unwrap().environments()[1].promotion.clone().unwrap();
        assert_eq!(policy.when.to_string(), core);
    }
    for bad in ["0", "some", "101%", "-1", "true", "1.5"] {
        refused(&text(bad), "spec.promotion.when: ");
    }
}

#[test]
fn an_application_is_a_helm_release_or_a_kustomization() {
    let app = "  appRef: {apiVersion: apps/v1, kind: Deployment, name: podinfo}";
    refused(&dev_to_prod(app), "spec.appRef.kind: found `Deployment`, allowed: `HelmRelease`, `Kustomization`");
}

#[test]
fn a_version_is_read_from_one_place_that_exists() {
    refused(&dev_to_prod("  version: {}"), "spec.version: write exactly one of `from` and `image`");
    refused(&dev_to_prod("  version: {from: chart, image: a}"), "spec.version: write exactly one of");
    refused(&dev_to_prod("  version: {image: 'a:1.0'}"), "spec.version.image: found `a:1.0`");
    let app = "  appRef: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, name: a}";
    refused(&dev_to_prod(&format!("{app}\n  version: {{from: chart}}")), "spec.version: a Kustomization has no chart");
}

#[test]
fn a_pipeline_inherits_when_but_nothing_else() {
    let text = with_prod("      promotion: {strategy: {notification: {}}}")
        + "  promotion: {when: all, merge: auto, deployTimeout: 5m, strategy: {push: {url: 'https://example.org/a'}}}\n";
    let core = pipeline(&text).to_core().unwrap();
    let [dev, prod] = core.environments() else { panic!() };
    assert_eq!(dev.promotion.as_ref().unwrap().merge, weir_core::Merge::Auto);
    let prod = prod.promotion.as_ref().unwrap();
    assert_eq!(prod.when, weir_core::When::All);
    assert_eq!((prod.merge, prod.deploy_timeout.as_hours()), (weir_core::Merge::People, 1));
}

#[test]
fn a_cluster_is_reached_by_exactly_one_means() {
    let cluster = |spec: &str| {
        format!("apiVersion: gitops.weave.works/v1alpha1\nkind: GitopsCluster\nmetadata: {{name: dev}}\nspec: {spec}\n")
    };
    refused(&cluster("{}"), "spec: must provide a secretRef or capiClusterRef");
    refused(&cluster("{secretRef: {name: a}, capiClusterRef: {name: b}}"), "spec: cannot provide both");
    refused(&cluster("{secretRef: {}}"), "spec.secretRef.name: is missing");
    assert_eq!(errors(&cluster("{capiClusterRef: {name: b}}")), "");
}

#[test]
fn a_freeze_ends_after_it_begins() {
    let text = "apiVersion: pipelines.weave.works/v1alpha1\nkind: Freeze\nmetadata: {name: a}\n\
                spec: {reason: why, from: '2026-02-01T00:00:00Z', until: '2026-01-01T00:00:00Z'}\n";
    refused(text, "spec.until: `until` has to be later than `from`");
}
