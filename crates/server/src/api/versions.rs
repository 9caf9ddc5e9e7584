//! What runs where: every workload of every target, across pipelines.

use axum::{Json, extract::State};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weir_core::{EnvironmentName, Name, Namespace, Observation, PipelineKey, TargetKey, WorkloadKey};
use weir_engine::Known;

use crate::{
    caller::Caller,
    page::{Filling, List, Page, Paging, unknown},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::PipelineRef,
};

/// A workload of a target, as it was reported.
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
    /// The last version that was deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The images that it runs. Empty in this version: events do not tell.
    images: Vec<String>,
    /// Whether the last report was a success.
    healthy: bool,
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
    /// Only those that are healthy, or that are not.
    healthy: Option<bool>,
}

/// Where a row stands. The list is in this order.
type Spot = (PipelineKey, EnvironmentName, Option<TargetKey>, WorkloadKey);

impl Which {
    fn fits(&self, (pipeline, environment, target, workload): &Spot, reported: &Observation) -> bool {
        let on = |wanted: &String| {
            let cluster = target.as_ref().and_then(|target| target.cluster.as_ref());
            cluster.is_some_and(|cluster| cluster.name.as_str() == wanted || cluster.to_string() == *wanted)
        };
        let called = |wanted: &String| workload.name.as_str() == wanted || workload.to_string() == *wanted;
        let runs = |wanted: &String| {
            let version = reported.success.as_ref().map(|success| success.revision.as_str());
            version.is_some_and(|version| match wanted.strip_suffix('*') {
                Some(begin) => version.starts_with(begin),
                None => version == wanted,
            })
        };
        self.pipeline.as_ref().is_none_or(|name| pipeline.name == *name)
            && self.environment.as_ref().is_none_or(|name| environment == name)
            && self.cluster.as_ref().is_none_or(on)
            && self.workload.as_ref().is_none_or(called)
            && self.version.as_ref().is_none_or(runs)
            && self.healthy.is_none_or(|healthy| reported.failure().is_none() == healthy)
    }
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
        for (spot, reported) in rows(pipeline, known) {
            if after.as_ref().is_some_and(|after| spot <= *after) || !which.fits(&spot, reported) {
                continue;
            }
            if !page.add(|| write(&spot), || Running::new(&spot, reported)) {
                return false;
            }
        }
        true
    });
    Ok(Json(page.page()))
}

/// Everything that was reported about the environments that a pipeline has.
fn rows<'a>(pipeline: &'a PipelineKey, known: &'a Known) -> impl Iterator<Item = (Spot, &'a Observation)> {
    let defined = |name: &EnvironmentName| known.pipeline().environment(name).is_some();
    let places = known.snapshot().observations.iter().filter(move |((name, _), _)| defined(name));
    places.flat_map(move |((environment, target), reports)| {
        reports.iter().map(move |(workload, reported)| {
            ((pipeline.clone(), environment.clone(), target.clone(), workload.clone()), reported)
        })
    })
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
    fn new((pipeline, environment, target, workload): &Spot, reported: &Observation) -> Self {
        let healthy = reported.failure().is_none();
        let success = reported.success.as_ref();
        let cluster = target.as_ref().and_then(|target| target.cluster.as_ref());
        Self {
            pipeline: pipeline.into(),
            environment: environment.to_string(),
            target: target.as_ref().map(ToString::to_string),
            cluster: cluster.map(ToString::to_string),
            workload: workload.to_string(),
            version: success.map(|success| success.revision.to_string()),
            images: Vec::new(),
            healthy,
            since: success.filter(|_| healthy).map(|success| success.since),
        }
    }
}
