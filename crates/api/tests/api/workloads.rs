//! When a HelmRelease or a Kustomization counts as deployed, and which version it then runs.

use serde_json::{Value, json};
use weir_api::flux::{Context, Source, pipeline_label, workload};
use weir_core::{Version, VersionRule, Workload, WorkloadState};

const COMMIT: &str = "0123456789012345678901234567890123456789";

fn condition(kind: &str, status: &str, reason: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": reason, "message": format!("{reason} it is"), "observedGeneration": 3 })
}

/// A HelmRelease whose newest Helm release deployed chart 6.2.0.
fn helm() -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": { "name": "podinfo", "namespace": "apps", "generation": 3 },
        "spec": { "chart": { "spec": { "chart": "podinfo", "version": ">6" } } },
        "status": {
            "observedGeneration": 3,
            "lastAttemptedRevision": "6.2.0",
            "conditions": [condition("Ready", "True", "UpgradeSucceeded")],
            "history": [
                { "version": 1, "status": "superseded", "chartVersion": "6.1.0" },
                { "version": 2, "status": "deployed", "chartVersion": "6.2.0" },
            ],
        },
    })
}

fn kustomize(revision: &str) -> Value {
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": { "name": "podinfo", "namespace": "apps", "generation": 3 },
        "spec": { "sourceRef": { "kind": "GitRepository", "name": "config" } },
        "status": {
            "observedGeneration": 3,
            "lastAppliedRevision": revision,
            "lastAttemptedRevision": revision,
            "conditions": [condition("Ready", "True", "ReconciliationSucceeded")],
        },
    })
}

fn changed(mut object: Value, path: &str, value: Value) -> Value {
    let (parent, field) = path.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[field] = value;
    object
}

fn seen(object: &Value) -> Workload {
    seen_in(object, &Context::default())
}

fn seen_in(object: &Value, context: &Context<'_>) -> Workload {
    workload(object, context).unwrap().1
}

fn revision(text: &str) -> Version {
    Version::Revision(text.parse().unwrap())
}

fn healthy(version: Version) -> Workload {
    Workload { version, state: WorkloadState::Healthy }
}

fn progressing(version: &str) -> Workload {
    Workload { version: revision(version), state: WorkloadState::Progressing }
}

#[track_caller]
fn assert_failed(seen: &Workload, version: &str, message: &str) {
    let state = WorkloadState::Failed { message: message.into() };
    assert_eq!(*seen, Workload { version: revision(version), state });
}

#[test]
fn a_helm_release_is_deployed_when_history_attempt_and_conditions_agree() {
    let (key, seen) = workload(&helm(), &Context::default()).unwrap();
    assert_eq!(key.to_string(), "HelmRelease/podinfo");
    assert_eq!(seen, healthy(revision("6.2.0")));
}

#[test]
fn the_newest_release_is_the_one_with_the_highest_number_whatever_the_order() {
    let mut object = helm();
    object["status"]["history"].as_array_mut().unwrap().reverse();
    assert_eq!(seen(&object), healthy(revision("6.2.0")));
}

#[test]
fn an_upgrade_under_way_is_not_a_deployment() {
    let attempted = changed(helm(), "/status/lastAttemptedRevision", json!("6.3.0"));
    assert_eq!(seen(&attempted), progressing("6.3.0"));
    let acting = changed(attempted, "/status/conditions", json!([condition("Ready", "Unknown", "Progressing")]));
    assert_eq!(seen(&acting), progressing("6.3.0"));
    let conditions =
        json!([condition("Ready", "True", "UpgradeSucceeded"), condition("Reconciling", "True", "Progressing")]);
    assert_eq!(seen(&changed(helm(), "/status/conditions", conditions)), progressing("6.2.0"));
    assert_eq!(seen(&changed(helm(), "/status/conditions", json!([]))), progressing("6.2.0"));
}

#[test]
fn a_spec_that_flux_has_not_looked_at_says_nothing_about_what_runs() {
    assert_eq!(seen(&changed(helm(), "/metadata/generation", json!(4))), progressing("6.2.0"));
    let suspended = changed(helm(), "/spec/suspend", json!(true));
    assert_eq!(seen(&suspended), healthy(revision("6.2.0")));
    assert_eq!(seen(&changed(suspended, "/metadata/generation", json!(4))), progressing("6.2.0"));
    let fresh = changed(helm(), "/status", json!({ "observedGeneration": -1 }));
    assert_eq!(seen(&fresh), Workload { version: Version::Nothing, state: WorkloadState::Progressing });
    let leaving = changed(helm(), "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    assert_eq!(seen(&leaving), progressing("6.2.0"));
}

#[test]
fn a_failed_upgrade_is_failed_with_what_flux_said() {
    let failed = changed(helm(), "/status/lastAttemptedRevision", json!("6.3.0"));
    let failed = changed(failed, "/status/conditions", json!([condition("Ready", "False", "UpgradeFailed")]));
    assert_failed(&seen(&failed), "6.3.0", "UpgradeFailed it is");
    let retrying =
        json!(
            [condition("Ready", "False", "UpgradeFailed"), condition("Reconciling", "True", "ProgressingWithRetry"),]
        );
    assert_failed(&seen(&changed(failed, "/status/conditions", retrying)), "6.3.0", "UpgradeFailed it is");
}

#[test]
fn a_failure_that_flux_tries_again_is_one_before_it_counts_the_spec_as_observed() {
    // As helm-controller leaves it between two attempts: only the condition is about the spec that is there.
    let retrying = |ready: Value| {
        let object = changed(helm(), "/status/lastAttemptedRevision", json!("6.3.0"));
        let object = changed(object, "/status/observedGeneration", json!(2));
        changed(object, "/status/conditions", json!([condition("Reconciling", "True", "Progressing"), ready]))
    };
    let failed = condition("Ready", "False", "UpgradeFailed");
    assert_failed(&seen(&retrying(failed.clone())), "6.3.0", "UpgradeFailed it is");
    let of_the_spec_before = changed(failed.clone(), "/observedGeneration", json!(2));
    assert_eq!(seen(&retrying(of_the_spec_before)), progressing("6.3.0"));
    assert_eq!(seen(&retrying(condition("Ready", "False", "SourceNotReady"))), progressing("6.3.0"));
    assert_eq!(seen(&retrying(condition("Ready", "True", "UpgradeSucceeded"))), progressing("6.3.0"));
    let leaving = changed(retrying(failed), "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    assert_eq!(seen(&leaving), progressing("6.3.0"));
}

#[test]
fn a_rollback_is_failed_and_never_a_deployment_of_the_older_version() {
    let mut object = changed(helm(), "/status/lastAttemptedRevision", json!("6.3.0"));
    let rolled_back = json!({ "version": 4, "status": "deployed", "chartVersion": "6.2.0", "action": "rollback" });
    object["status"]["history"].as_array_mut().unwrap().push(rolled_back);
    assert_failed(&seen(&object), "6.3.0", "was rolled back to 6.2.0");
    let told = changed(object, "/status/conditions", json!([condition("Ready", "False", "RollbackSucceeded")]));
    assert_failed(&seen(&told), "6.3.0", "RollbackSucceeded it is");
    let reverted = changed(told, "/status/lastAttemptedRevision", json!("6.2.0"));
    let reverted = changed(reverted, "/status/conditions", json!([condition("Ready", "True", "UpgradeSucceeded")]));
    assert_eq!(seen(&reverted), healthy(revision("6.2.0")));
}

#[test]
fn a_stalled_release_is_failed() {
    let conditions =
        json!([condition("Ready", "True", "UpgradeSucceeded"), condition("Stalled", "True", "RetriesExceeded"),]);
    assert_failed(&seen(&changed(helm(), "/status/conditions", conditions)), "6.2.0", "RetriesExceeded it is");
}

#[test]
fn a_release_that_helm_does_not_call_deployed_is_none() {
    assert_eq!(seen(&changed(helm(), "/status/history/1/status", json!("pending-upgrade"))), progressing("6.2.0"));
    let failed = seen(&changed(helm(), "/status/history/1/status", json!("failed")));
    assert_failed(&failed, "6.2.0", "the last Helm release failed");
}

#[test]
fn waiting_for_something_else_is_not_a_failure() {
    for reason in ["DependencyNotReady", "SourceNotReady", "HealthCheckCanceled", "Progressing"] {
        let waiting = changed(helm(), "/status/conditions", json!([condition("Ready", "False", reason)]));
        assert_eq!(seen(&waiting), progressing("6.2.0"), "{reason}");
    }
}

#[test]
fn with_tests_on_a_deployment_is_one_after_its_tests() {
    let object = changed(helm(), "/spec/test", json!({ "enable": true }));
    assert_eq!(seen(&object), progressing("6.2.0"));
    let with = |status: &str| {
        let ready = condition("Ready", "True", "UpgradeSucceeded");
        let test = condition("TestSuccess", status, "TestRan");
        changed(object.clone(), "/status/conditions", json!([ready, test]))
    };
    assert_eq!(seen(&with("True")), healthy(revision("6.2.0")));
    assert_failed(&seen(&with("False")), "6.2.0", "TestRan it is");
    let ignored = changed(with("False"), "/spec/test/ignoreFailures", json!(true));
    assert_eq!(seen(&ignored), healthy(revision("6.2.0")));
}

#[test]
fn a_release_of_an_older_api_is_read_by_what_it_applied() {
    let mut object = changed(helm(), "/apiVersion", json!("helm.toolkit.fluxcd.io/v2beta1"));
    object["status"].as_object_mut().unwrap().remove("history");
    object["status"]["lastAppliedRevision"] = json!("6.2.0");
    assert_eq!(seen(&object), healthy(revision("6.2.0")));
    assert_eq!(seen(&changed(object, "/status/lastAppliedRevision", json!("6.1.0"))), progressing("6.2.0"));
}

#[test]
fn a_suffix_is_dropped_only_if_the_spec_shows_that_flux_added_it() {
    let with = |chart: &str, spec: Value| {
        let object = changed(helm(), "/status/lastAttemptedRevision", json!(chart));
        let object = changed(object, "/status/history/1/chartVersion", json!(chart));
        changed(object, "/spec", spec)
    };
    let digest = |object: Value| changed(object, "/status/history/1/ociDigest", json!("sha256:0cc9a8446c95ab12"));
    let oci = json!({ "chartRef": { "kind": "OCIRepository", "name": "podinfo" } });
    assert_eq!(seen(&digest(with("6.2.0+0cc9a8446c95", oci.clone()))).version, revision("6.2.0"));
    assert_eq!(seen(&digest(with("6.2.0+ffffffffffff", oci))).version, revision("6.2.0+ffffffffffff"));
    let values = json!({ "chart": { "spec": { "valuesFiles": ["a.yaml"] } } });
    assert_eq!(seen(&with("6.2.0+3", values)).version, revision("6.2.0"));
    let per_commit = json!({ "chart": { "spec": { "reconcileStrategy": "Revision" } } });
    assert_eq!(seen(&with("6.2.0+0cc9a8446c95", per_commit)).version, revision("6.2.0"));
    let plain = json!({ "chart": { "spec": { "chart": "podinfo" } } });
    assert_eq!(seen(&with("6.2.0+3", plain)).version, revision("6.2.0+3"));
    let chart = json!({ "chartRef": { "kind": "HelmChart", "name": "podinfo" } });
    assert_eq!(seen(&with("6.2.0+3", chart)).version, revision("6.2.0"));
}

#[test]
fn a_kustomization_is_deployed_when_it_applied_what_it_attempted() {
    let tag = format!("v1.2.3@sha1:{COMMIT}");
    assert_eq!(seen(&kustomize(&tag)), healthy(revision("v1.2.3")));
    let newer = changed(kustomize(&tag), "/status/lastAttemptedRevision", json!(format!("v1.3.0@sha1:{COMMIT}")));
    assert_eq!(seen(&newer), progressing("v1.3.0"));
    let failed = changed(newer, "/status/conditions", json!([condition("Ready", "False", "HealthCheckFailed")]));
    assert_failed(&seen(&failed), "v1.3.0", "HealthCheckFailed it is");
    let conditions =
        json!([condition("Ready", "True", "ReconciliationSucceeded"), condition("Healthy", "False", "Sick")]);
    assert_failed(&seen(&changed(kustomize(&tag), "/status/conditions", conditions)), "v1.2.3", "Sick it is");
}

#[test]
fn a_ready_condition_of_an_older_generation_counts_for_nothing() {
    let mut object = kustomize(&format!("v1.2.3@sha1:{COMMIT}"));
    object["status"]["conditions"][0]["observedGeneration"] = json!(2);
    assert_eq!(seen(&object), progressing("v1.2.3"));
}

#[test]
fn every_form_of_a_source_revision_is_understood() {
    let digest = format!("sha256:{}", "a".repeat(64));
    for (kind, text, version) in [
        ("GitRepository", format!("main@sha1:{COMMIT}"), Version::Branch("main".into())),
        ("GitRepository", format!("feature/x@sha1:{COMMIT}"), Version::Branch("feature/x".into())),
        ("GitRepository", format!("refs/heads/main@sha1:{COMMIT}"), Version::Branch("main".into())),
        ("GitRepository", format!("refs/tags/stable@sha1:{COMMIT}"), revision("stable")),
        ("GitRepository", format!("v1.2.3@sha1:{COMMIT}"), revision("v1.2.3")),
        ("GitRepository", format!("sha1:{COMMIT}"), revision(COMMIT)),
        ("GitRepository", format!("main/{COMMIT}"), Version::Branch("main".into())),
        ("OCIRepository", format!("6.1.8@{digest}"), revision("6.1.8")),
        ("OCIRepository", format!("latest@{digest}"), revision(&digest)),
        ("OCIRepository", digest.clone(), revision(&digest)),
        ("Bucket", digest.clone(), Version::Branch("its source".into())),
        ("ExternalArtifact", format!("latest@{digest}"), Version::Branch("latest".into())),
    ] {
        let object = changed(kustomize(&text), "/spec/sourceRef/kind", json!(kind));
        assert_eq!(seen(&object), healthy(version), "{kind} {text}");
    }
}

#[test]
fn what_the_source_follows_tells_a_tag_from_a_branch() {
    let object = |name: &str| kustomize(&format!("{name}@sha1:{COMMIT}"));
    for (reference, name, version) in [
        (json!({ "tag": "stable" }), "stable", revision("stable")),
        (json!({ "semver": "1.x" }), "v1.2.3", revision("v1.2.3")),
        (json!({ "branch": "1.2.3" }), "1.2.3", Version::Branch("1.2.3".into())),
        (json!({ "branch": "main", "commit": COMMIT }), "main", revision(COMMIT)),
        (json!({ "name": "refs/heads/main" }), "refs/heads/main", Version::Branch("main".into())),
        (json!({}), "master", Version::Branch("master".into())),
    ] {
        let source = json!({ "kind": "GitRepository", "spec": { "ref": reference } });
        let context = Context { source: Some(Source::of(&source)), ..Context::default() };
        assert_eq!(seen_in(&object(name), &context), healthy(version), "{source}");
    }
}

#[test]
fn commits_are_versions_if_the_pipeline_says_so_and_equal_to_the_pinned_ones() {
    let rule = VersionRule::Source;
    let context = Context { version: Some(&rule), ..Context::default() };
    let followed = seen_in(&kustomize(&format!("main@sha1:{COMMIT}")), &context);
    let pinned = seen_in(&kustomize(&format!("sha1:{COMMIT}")), &context);
    assert_eq!((followed.clone(), followed.version), (pinned, revision(COMMIT)));
}

#[test]
fn a_helm_release_can_be_versioned_by_its_source() {
    let rule = VersionRule::Source;
    let source = json!({
        "kind": "OCIRepository",
        "spec": { "ref": { "tag": "stable" } },
        "status": { "artifact": { "revision": format!("stable@sha256:{}", "a".repeat(64)) } },
    });
    let context = Context { version: Some(&rule), source: Some(Source::of(&source)), ..Context::default() };
    assert_eq!(seen_in(&helm(), &context), healthy(revision("stable")));
}

#[test]
fn the_version_of_an_image_is_its_tag_or_else_its_digest() {
    let object = kustomize(&format!("main@sha1:{COMMIT}"));
    let digest = format!("sha256:{}", "b".repeat(64));
    let seen = |name: &str, images: &[&str]| {
        let images: Vec<String> = images.iter().map(|image| (*image).to_owned()).collect();
        let rule = VersionRule::Image(name.into());
        seen_in(&object, &Context { version: Some(&rule), images: &images, ..Context::default() })
    };
    let podinfo = "ghcr.io/stefanprodan/podinfo";
    for name in ["podinfo", "stefanprodan/podinfo", podinfo] {
        let images = ["example.org:5000/proxy:1.0", &format!("{podinfo}:6.1.8@{digest}")];
        assert_eq!(seen(name, &images), healthy(revision("6.1.8")), "{name}");
    }
    assert_eq!(seen("podinfo", &[&format!("{podinfo}@{digest}")]), healthy(revision(&digest)));
    assert_eq!(seen("podinfo", &[&format!("{podinfo}:latest@{digest}")]), healthy(revision(&digest)));
    assert_eq!(seen("proxy", &["example.org:5000/proxy:1.0"]), healthy(revision("1.0")));
    let latest = seen("podinfo", &["podinfo:latest"]);
    assert_eq!(latest, healthy(Version::Branch("podinfo:latest".into())));
    let unread = Workload { version: Version::Nothing, state: WorkloadState::Progressing };
    assert_eq!(seen("podinfo", &[]), unread);
    for (images, words) in [
        (["info:1", "xpodinfo:2"], "runs no image `podinfo`, but info:1, xpodinfo:2"),
        (["podinfo:1", "podinfo:2"], "runs image `podinfo` in more than one version: 1, 2"),
    ] {
        let state = WorkloadState::Failed { message: words.into() };
        assert_eq!(seen("podinfo", &images), Workload { version: Version::Nothing, state });
    }
}

#[test]
fn a_workload_joins_a_pipeline_by_either_label() {
    for label in ["pipelines.weave.works/pipeline", "pipelines.wego.weave.works/pipeline"] {
        assert_eq!(pipeline_label(&changed(helm(), "/metadata/labels", json!({ label: "podinfo" }))), Some("podinfo"));
    }
    assert_eq!(pipeline_label(&helm()), None);
}

#[test]
fn objects_of_other_groups_are_no_workloads() {
    let other = changed(helm(), "/apiVersion", json!("apps/v1"));
    let error = workload(&other, &Context::default()).unwrap_err().to_string();
    assert_eq!(error, "`HelmRelease` of `apps/v1` is not a Flux object that deploys something");
}

#[test]
fn a_long_message_is_cut() {
    let long = "x".repeat(5000);
    let mut object = changed(helm(), "/status/conditions", json!([condition("Ready", "False", "UpgradeFailed")]));
    object["status"]["conditions"][0]["message"] = json!(long);
    let WorkloadState::Failed { message } = seen(&object).state else { panic!() };
    assert_eq!(message.chars().count(), 1001);
}
