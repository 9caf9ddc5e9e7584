//! Which events of Flux count, and for what: every row of Flux's own lists of reasons.

use jiff::Timestamp;
use serde_json::{Value, json};
use weir_api::flux::{Heard, Ignored, Reported, event};
use weir_core::{Outcome, VersionRule};

use crate::world::example;

fn now() -> Timestamp {
    "2026-08-07T17:00:00Z".parse().unwrap()
}

fn hear(body: &Value) -> Heard {
    event(body.to_string().as_bytes(), now(), None).unwrap()
}

#[track_caller]
fn report(body: &Value) -> Reported {
    match hear(body) {
        Heard::Report(reported) => reported,
        Heard::Nothing(ignored) => panic!("ignored: {ignored}"),
    }
}

fn helm(reason: &str, severity: &str) -> Value {
    json!({
        "involvedObject": {
            "kind": "HelmRelease", "namespace": "apps", "name": "podinfo", "uid": "7d0c",
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "resourceVersion": "48213",
        },
        "severity": severity,
        "timestamp": "2026-08-07T16:12:44Z",
        "message": "whatever Flux says today",
        "reason": reason,
        "metadata": { "revision": "6.14.0", "app-version": "6.14.0" },
        "reportingController": "helm-controller",
    })
}

fn kustomize(reason: &str, revision: &str) -> Value {
    json!({
        "involvedObject": {
            "kind": "Kustomization", "namespace": "apps", "name": "podinfo",
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        },
        "severity": "info",
        "timestamp": "2026-08-07T16:12:44Z",
        "reason": reason,
        "metadata": { "revision": revision, "commit_status": "update" },
    })
}

#[test]
fn an_install_an_upgrade_and_a_test_that_succeeded_are_successes() {
    for reason in ["InstallSucceeded", "UpgradeSucceeded", "TestSucceeded"] {
        let heard = report(&helm(reason, "info"));
        assert_eq!(heard.report.outcome, Outcome::Succeeded("6.14.0".parse().unwrap()), "{reason}");
        assert_eq!((heard.workload.to_string(), heard.namespace.as_str()), ("HelmRelease/podinfo".into(), "apps"));
        assert_eq!((heard.report.at.to_string(), heard.report.received), ("2026-08-07T16:12:44Z".into(), now()));
        assert_eq!(heard.uid.as_deref(), Some("7d0c"));
    }
}

#[test]
fn a_failure_is_a_failure() {
    for reason in ["InstallFailed", "UpgradeFailed", "TestFailed", "RollbackFailed", "UninstallFailed"] {
        let outcome = report(&helm(reason, "error")).report.outcome;
        assert_eq!(outcome, Outcome::Failed { message: "whatever Flux says today".into() }, "{reason}");
    }
}

#[test]
fn a_rollback_that_succeeded_is_a_failure_though_its_severity_is_info() {
    for reason in ["RollbackSucceeded", "UninstallSucceeded"] {
        assert!(matches!(report(&helm(reason, "info")).report.outcome, Outcome::Failed { .. }), "{reason}");
    }
}

#[test]
fn what_is_no_deployment_is_ignored_with_its_reason() {
    for reason in [
        "DriftDetected",
        "DriftCorrected",
        "DriftCorrectionFailed",
        "DependencyNotReady",
        "HealthCheckCanceled",
        "PendingRelease",
        "ArtifactFailed",
        "ValuesError",
        "AccessDenied",
        "InvalidCELExpression",
        "InventoryBuildFailed",
        "NamespaceCheckSkipped",
        "info",
        "error",
        "SomethingOfTheFuture",
        "",
    ] {
        assert_eq!(hear(&helm(reason, "info")), Heard::Nothing(Ignored::Reason(reason.into())), "{reason}");
    }
}

#[test]
fn a_kustomization_succeeds_by_one_reason_only() {
    let body = kustomize("ReconciliationSucceeded", "v1.2.3@sha1:0123456789012345678901234567890123456789");
    assert_eq!(report(&body).report.outcome, Outcome::Succeeded("v1.2.3".parse().unwrap()));
    for reason in ["HealthCheckFailed", "ReconciliationFailed", "BuildFailed", "PruneFailed", "ArtifactFailed"] {
        let body = kustomize(reason, "v1.2.3@sha1:0123456789012345678901234567890123456789");
        assert!(matches!(report(&body).report.outcome, Outcome::Failed { .. }), "{reason}");
    }
    for reason in [
        "Progressing",
        "DependencyNotReady",
        "HealthCheckCanceled",
        "AccessDenied",
        "InvalidCELExpression",
        "FeatureGateDisabled",
        "UpgradeSucceeded",
    ] {
        let body = kustomize(reason, "v1.2.3@sha1:0123456789012345678901234567890123456789");
        assert_eq!(hear(&body), Heard::Nothing(Ignored::Reason(reason.into())), "{reason}");
    }
}

#[test]
fn a_commit_on_a_branch_is_reported_as_such_unless_the_pipeline_takes_commits() {
    let commit = "0123456789012345678901234567890123456789";
    let revision = format!("main@sha1:{commit}");
    let body = kustomize("ReconciliationSucceeded", &revision);
    assert_eq!(hear(&body), Heard::Nothing(Ignored::Branch(revision)));
    let rule = VersionRule::Source;
    let Heard::Report(heard) = event(body.to_string().as_bytes(), now(), Some(&rule)).unwrap() else { panic!() };
    assert_eq!(heard.report.outcome, Outcome::Succeeded(commit.parse().unwrap()));
    let rule = VersionRule::Image("podinfo".into());
    let heard = event(body.to_string().as_bytes(), now(), Some(&rule)).unwrap();
    assert_eq!(heard, Heard::Nothing(Ignored::Image("podinfo".into())));
}

#[test]
fn the_event_of_the_proposal_is_a_success() {
    let body: Value = serde_json::from_str(&example("event-helmrelease.json")).unwrap();
    let heard = report(&body);
    assert_eq!(heard.report.outcome, Outcome::Succeeded("0.13.4".parse().unwrap()));
    assert_eq!((heard.workload.to_string().as_str(), heard.namespace.as_str()), ("HelmRelease/metallb", "flux-system"));
    let mut failed = body;
    failed["reason"] = json!("error");
    assert!(matches!(report(&failed).report.outcome, Outcome::Failed { .. }));
}

#[test]
fn no_message_is_ever_parsed_and_nothing_optional_is_depended_on() {
    let lies =
        ["Helm upgrade succeeded for release apps/podinfo.v7 with chart podinfo@9.9.9", "Helm upgrade failed", ""];
    for message in lies {
        let mut success = helm("UpgradeSucceeded", "error");
        success["message"] = json!(message);
        assert_eq!(report(&success).report.outcome, Outcome::Succeeded("6.14.0".parse().unwrap()));
    }
    for field in ["severity", "timestamp", "message", "reportingController"] {
        let mut body = helm("UpgradeSucceeded", "info");
        body.as_object_mut().unwrap().remove(field);
        assert_eq!(report(&body).report.outcome, Outcome::Succeeded("6.14.0".parse().unwrap()), "{field}");
    }
    let mut failure = helm("UpgradeFailed", "error");
    failure.as_object_mut().unwrap().remove("metadata");
    failure.as_object_mut().unwrap().remove("message");
    assert_eq!(report(&failure).report.outcome, Outcome::Failed { message: "UpgradeFailed".into() });
}

#[test]
fn an_event_without_a_time_happened_when_it_came() {
    for time in [json!(null), json!("yesterday")] {
        let mut body = helm("UpgradeSucceeded", "info");
        body["timestamp"] = time;
        assert_eq!(report(&body).report.at, now());
    }
}

#[test]
fn a_success_that_does_not_say_of_what_is_ignored() {
    let mut body = helm("UpgradeSucceeded", "info");
    body["metadata"] = json!({});
    assert_eq!(hear(&body), Heard::Nothing(Ignored::NoRevision));
}

#[test]
fn what_no_chart_can_be_called_is_not_the_version_of_a_helm_release() {
    let mut body = helm("UpgradeSucceeded", "info");
    for text in ["main@sha1:6f1b2c", "sha256:6f1b2c", "latest", "1.2.3.4", "1..3", "v", "1.2.3-a/b"] {
        body["metadata"] = json!({ "revision": text });
        assert_eq!(hear(&body), Heard::Nothing(Ignored::NoChart(text.to_owned())));
    }
    for text in ["1.2.3", "v1.2", "1", "1.2.3-rc.1+linux-2"] {
        body["metadata"] = json!({ "revision": text });
        assert_eq!(report(&body).report.outcome, Outcome::Succeeded(text.parse().unwrap()));
    }
}

#[test]
fn the_revision_may_carry_the_group_of_its_object() {
    let mut body = helm("UpgradeSucceeded", "info");
    body["metadata"] = json!({ "helm.toolkit.fluxcd.io/revision": "6.14.0" });
    assert_eq!(report(&body).report.outcome, Outcome::Succeeded("6.14.0".parse().unwrap()));
}

#[test]
fn a_suffix_that_flux_added_is_dropped_and_one_of_the_publisher_kept() {
    let mut body = helm("UpgradeSucceeded", "info");
    body["metadata"] = json!({ "revision": "6.14.0+0cc9a8446c95", "oci-digest": "sha256:0cc9a8446c95ab12" });
    assert_eq!(report(&body).report.outcome, Outcome::Succeeded("6.14.0".parse().unwrap()));
    body["metadata"] = json!({ "revision": "6.14.0+0cc9a8446c95", "oci-digest": "sha256:ffffffffffffffff" });
    assert_eq!(report(&body).report.outcome, Outcome::Succeeded("6.14.0+0cc9a8446c95".parse().unwrap()));
}

#[test]
fn versions_of_the_api_do_not_matter_but_groups_do() {
    for version in ["v2", "v2beta2", "v2beta1", "v3"] {
        let mut body = helm("UpgradeSucceeded", "info");
        body["involvedObject"]["apiVersion"] = json!(format!("helm.toolkit.fluxcd.io/{version}"));
        assert!(matches!(hear(&body), Heard::Report(_)), "{version}");
    }
    for (group, kind) in [("example.org/v2", "HelmRelease"), ("source.toolkit.fluxcd.io/v1", "GitRepository")] {
        let mut body = helm("UpgradeSucceeded", "info");
        body["involvedObject"]["apiVersion"] = json!(group);
        body["involvedObject"]["kind"] = json!(kind);
        assert!(matches!(hear(&body), Heard::Nothing(Ignored::Kind { .. })), "{group}");
    }
}

#[test]
fn the_cluster_is_a_hint_of_the_alert() {
    let mut body = helm("UpgradeSucceeded", "info");
    assert_eq!(report(&body).cluster, None);
    body["metadata"]["cluster"] = json!("stg-eu-1");
    assert_eq!(report(&body).cluster.as_deref(), Some("stg-eu-1"));
}

#[test]
fn what_is_no_event_says_so() {
    for body in ["", "{}", "[]", r#"{"involvedObject": {"kind": "HelmRelease"}}"#] {
        let error = event(body.as_bytes(), now(), None).unwrap_err().to_string();
        assert!(error.contains("not an event of Flux"), "{error}");
    }
}

#[test]
fn a_clock_that_is_ahead_does_not_outrank_what_comes_after() {
    let mut body = helm("UpgradeSucceeded", "info");
    body["timestamp"] = json!("2999-01-01T00:00:00Z");
    assert_eq!(report(&body).report.at, now());
}
