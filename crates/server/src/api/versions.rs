//! What runs where: every workload of every target, across pipelines.

use axum::{Json, extract::State};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weir_core::{EnvironmentName, Name, Namespace, PipelineKey, RunningState, TargetKey, WorkloadKey};
use weir_engine::Known;

use crate::{
    caller::Caller,
    page::{Filling, List, Page, Paging, unknown},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::PipelineRef,
};

/// A workload of a target, as it is seen, or was reported.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Running {
    /// The pipeline.
    pipeline: PipelineRef,
    /// The environment.
    environment: String,
    /// The target. Missing: it was reported without telling by which.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// The target's cluster, as `NAMESPACE/NAME`. Missing: the one that the pipeline lives on, or not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// The workload, as `KIND/NAME`.
    workload: String,
    /// The version that it runs, or is on its way to; of one that is known by reports, the last that was deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The container images that it runs, where its cluster is watched.
    images: Vec<String>,
    /// Whether its deployment succeeded, and its cluster can be read.
    healthy: bool,
    /// Whether its cluster cannot be read: all else is as it was seen last.
    unreachable: bool,
    /// Since when that version has been known to run without a break.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
}

/// Which workloads. What is left out selects everything.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those of pipelines of this namespace.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// Only those of pipelines of this name.
    #[param(value_type = Option<String>)]
    pipeline: Option<Name>,
    /// Only those in environments of this name.
    #[param(value_type = Option<String>)]
    environment: Option<EnvironmentName>,
    /// Only those on this cluster, by `NAME` or `NAMESPACE/NAME`.
    cluster: Option<String>,
    /// Only those of this name, or `KIND/NAME`.
    workload: Option<String>,
    /// Only those with this version; with `*` at the end, those whose version begins like that.
    version: Option<String>,
    /// Only those that run this container image, such as `podinfo`, `podinfo:6.1.0` or `ghcr.io/stefanprodan/podinfo`; with
    /// `*` at the end, those with an image that begins like that.
    image: Option<String>,
    /// Only those that are healthy, or that are not.
    healthy: Option<bool>,
}

/// Where a row stands. The list is in this order.
type Spot = (PipelineKey, EnvironmentName, Option<TargetKey>, WorkloadKey);

impl Which {
    fn fits(&self, spot: &Spot, running: &weir_core::Running<'_>, unreachable: bool) -> bool {
        let (pipeline, environment, target, workload) = spot;
        let on = |wanted: &String| {
            let cluster = target.as_ref().and_then(|target| target.cluster.as_ref());
            cluster.is_some_and(|cluster| cluster.name.as_str() == wanted || cluster.to_string() == *wanted)
        };
        let called = |wanted: &String| workload.name.as_str() == wanted || workload.to_string() == *wanted;
        let runs = |wanted: &String| {
            running.version.is_some_and(|version| match wanted.strip_suffix('*') {
                Some(begin) => version.starts_with(begin),
                None => version == wanted,
            })
        };
        let has = |wanted: &String| running.images.iter().any(|image| is_image(image, wanted));
        self.pipeline.as_ref().is_none_or(|name| pipeline.name == *name)
            && self.environment.as_ref().is_none_or(|name| environment == name)
            && self.cluster.as_ref().is_none_or(on)
            && self.workload.as_ref().is_none_or(called)
            && self.version.as_ref().is_none_or(runs)
            && self.image.as_ref().is_none_or(has)
            && self.healthy.is_none_or(|wanted| is_healthy(running, unreachable) == wanted)
    }
}

/// Whether an image is the one that is wanted. Registry, folders, tag and digest may be left out.
fn is_image(image: &str, wanted: &str) -> bool {
    let (begin, any) = wanted.strip_suffix('*').map_or((wanted, false), |begin| (begin, true));
    let ends = |rest: &str| any || rest.is_empty() || rest.starts_with([':', '@']);
    let starts = std::iter::once(0).chain(image.match_indices('/').map(|(slash, _)| slash + 1));
    starts.filter_map(|start| image[start..].strip_prefix(begin)).any(ends)
}

/// List what runs where, by pipeline, environment, target and workload.
#[utoipa::path(get, path = "/versions", tag = "versions", params(Which, Paging),
    responses((status = 200, body = Page<Running>), Failed))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    List { which, paging }: List<Which>,
) -> Result<Json<Page<Running>>, Problem> {
    let visible = caller.looks(&shared, which.namespace.as_ref()).await?;
    let after = paging.place()?.map(|place| read(&place)).transpose()?;
    let mut page = Filling::new(&paging);
    shared.world().scan(None, |pipeline, known| {
        let before = after.as_ref().is_some_and(|(key, ..)| pipeline < key);
        if before || !visible.sees(&pipeline.namespace) {
            return true;
        }
        for (spot, running) in rows(pipeline, known) {
            let unreachable = is_unreachable(known, &spot);
            if after.as_ref().is_some_and(|after| spot <= *after) || !which.fits(&spot, &running, unreachable) {
                continue;
            }
            if !page.add(|| write(&spot), || Running::new(&spot, &running, unreachable)) {
                return false;
            }
        }
        true
    });
    Ok(Json(page.page(&visible)))
}

/// Everything that is known of what runs in a pipeline, in order.
fn rows<'a>(pipeline: &PipelineKey, known: &'a Known) -> Vec<(Spot, weir_core::Running<'a>)> {
    let mut rows = Vec::new();
    for environment in known.pipeline().environments() {
        for target in environment.targets.iter().map(Some).chain([None]) {
            let running = known.snapshot().running(&environment.name, target);
            rows.extend(running.into_iter().map(|it| {
                let spot = (pipeline.clone(), environment.name.clone(), target.cloned(), it.workload.clone());
                (spot, it)
            }));
        }
    }
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    rows
}

/// Whether the target cannot be read.
fn is_unreachable(known: &Known, (_, environment, target, _): &Spot) -> bool {
    let record = known.snapshot().environments.get(environment);
    let seen = record.zip(target.as_ref()).and_then(|(record, target)| record.targets.get(target));
    seen.is_some_and(|seen| seen.unreachable.is_some())
}

fn is_healthy(running: &weir_core::Running<'_>, unreachable: bool) -> bool {
    running.state == RunningState::Healthy && !unreachable
}

fn write((pipeline, environment, target, workload): &Spot) -> String {
    let target = target.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{pipeline} {environment} {target} {workload}")
}

fn read(place: &str) -> Result<Spot, Problem> {
    let parts: Vec<_> = place.split(' ').collect();
    let [pipeline, environment, target, workload] = parts[..] else { return Err(unknown()) };
    let target = if target.is_empty() { None } else { Some(target.parse().map_err(|_| unknown())?) };
    let (pipeline, environment) =
        (pipeline.parse().map_err(|_| unknown())?, environment.parse().map_err(|_| unknown())?);
    Ok((pipeline, environment, target, workload.parse().map_err(|_| unknown())?))
}

impl Running {
    fn new(
        (pipeline, environment, target, workload): &Spot,
        running: &weir_core::Running<'_>,
        unreachable: bool,
    ) -> Self {
        let cluster = target.as_ref().and_then(|target| target.cluster.as_ref());
        Self {
            pipeline: pipeline.into(),
            environment: environment.to_string(),
            target: target.as_ref().map(ToString::to_string),
            cluster: cluster.map(ToString::to_string),
            workload: workload.to_string(),
            version: running.version.map(str::to_owned),
            images: running.images.iter().map(ToString::to_string).collect(),
            healthy: is_healthy(running, unreachable),
            unreachable,
            since: running.since,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_image;

    #[test]
    fn an_image_is_found_by_as_much_of_it_as_is_told() {
        let image = "ghcr.io/stefanprodan/podinfo:6.1.0";
        for wanted in ["podinfo", "podinfo:6.1.0", "podinfo:6.*", "stefanprodan/podinfo", "ghcr.io*", image] {
            assert!(is_image(image, wanted), "{wanted}");
        }
        for wanted in ["info", "pod", "podinfo:6.1", "podinfo:6.1.00", "ghcr.io/podinfo"] {
            assert!(!is_image(image, wanted), "{wanted}");
        }
        assert!(is_image("podinfo@sha256:12", "podinfo"));
    }
}
