//! A HelmRelease counts as deployed only when its history, its conditions and its attempt agree.

use serde_json::Value;
use weir_core::{FluxSuffix, Revision, Version, Workload, WorkloadState};

use super::{
    Context,
    conditions::{self, Progress},
    failed, reads_source,
};

/// What a HelmRelease runs, or is on its way to. `v2beta1` has no history, and is read by `lastAppliedRevision`.
pub(super) fn read(object: &Value, context: &Context<'_>) -> Workload {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    let latest = latest(object);
    let attempted = text("/status/lastAttemptedRevision");
    let chart = latest.and_then(|it| it.get("chartVersion")?.as_str()).or_else(|| text("/status/lastAppliedRevision"));
    let digest = latest.and_then(|it| it.get("ociDigest")?.as_str());
    let runs = || version(object, chart, digest, context);
    let on_its_way = || match attempted {
        Some(_) => version(object, attempted, text("/status/lastAttemptedRevisionDigest").or(digest), context),
        None => runs(),
    };

    match conditions::progress(object) {
        Progress::Failed(message) => failed(on_its_way(), message),
        Progress::UnderWay => under_way(on_its_way()),
        Progress::Done => match deployed(latest, chart, attempted) {
            Deployed::Yes => with_tests(object, runs()),
            Deployed::NotYet => under_way(on_its_way()),
            Deployed::RolledBack => {
                let message = format!("was rolled back to {}", chart.unwrap_or("an older version"));
                failed(on_its_way(), message)
            }
            Deployed::Failed => failed(on_its_way(), "the last Helm release failed"),
        },
    }
}

enum Deployed {
    Yes,
    NotYet,
    RolledBack,
    Failed,
}

/// Whether the newest entry of the history is the deployment that was attempted last.
fn deployed(latest: Option<&Value>, chart: Option<&str>, attempted: Option<&str>) -> Deployed {
    let field = |name: &str| latest.and_then(|it| it.get(name)?.as_str());
    match field("status") {
        Some("failed") => return Deployed::Failed,
        Some(other) if other != "deployed" => return Deployed::NotYet,
        _ => {}
    }
    match (chart, attempted) {
        (Some(chart), Some(attempted)) if chart == attempted => Deployed::Yes,
        _ if field("action") == Some("rollback") => Deployed::RolledBack,
        _ => Deployed::NotYet,
    }
}

/// With Helm tests on, a deployment is one only after its tests.
fn with_tests(object: &Value, version: Version) -> Workload {
    let setting =
        |name: &str| object.pointer(&format!("/spec/test/{name}")).and_then(Value::as_bool).unwrap_or_default();
    let healthy = !setting("enable") || conditions::is(object, "TestSuccess", "True");
    let failing = conditions::is(object, "TestSuccess", "False");
    if healthy || (failing && setting("ignoreFailures")) {
        return Workload { version, state: WorkloadState::Healthy };
    }
    if failing { failed(version, conditions::message_of(object, "TestSuccess")) } else { under_way(version) }
}

fn under_way(version: Version) -> Workload {
    Workload { version, state: WorkloadState::Progressing }
}

/// The entry of the history with the highest Helm revision. Flux lists the newest first, but does not promise it.
fn latest(object: &Value) -> Option<&Value> {
    let history = object.pointer("/status/history")?.as_array()?;
    history.iter().max_by_key(|entry| entry.get("version").and_then(Value::as_i64).unwrap_or_default())
}

fn version(object: &Value, chart: Option<&str>, digest: Option<&str>, context: &Context<'_>) -> Version {
    if reads_source(context.version)
        && let Some(source) = context.source
    {
        return source.version(true);
    }
    let revision = chart.and_then(|chart| Revision::from_flux(chart, suffix(object, digest)).ok());
    revision.map_or(Version::Nothing, Version::Revision)
}

/// Who wrote a `+` suffix of the chart's version, by what the spec says about the chart.
fn suffix<'a>(object: &Value, digest: Option<&'a str>) -> FluxSuffix<'a> {
    let of_chart = |field: &str| object.pointer(&format!("/spec/chart/spec/{field}"));
    let lists_values = of_chart("valuesFiles").and_then(Value::as_array).is_some_and(|files| !files.is_empty());
    let per_revision = of_chart("reconcileStrategy").and_then(Value::as_str) == Some("Revision");
    let reference = object.pointer("/spec/chartRef/kind").and_then(Value::as_str);
    match (reference, digest) {
        // What a HelmChart of its own sets is not in sight here.
        (Some("HelmChart"), _) | (Some(_), None) => FluxSuffix::Unknown,
        (Some(_), Some(digest)) => FluxSuffix::Digest(digest),
        (None, _) if lists_values || per_revision || of_chart("valuesFile").is_some() => FluxSuffix::Rebuilt,
        (None, _) => FluxSuffix::Publisher,
    }
}
