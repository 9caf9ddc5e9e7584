//! `weir get`: what a server knows, in tables.

use std::num::NonZeroUsize;

use anyhow::Result;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    output::{Output, table},
    remote::{Server, pipeline as pipeline_key, say_if_partial, text, wait},
};

const EXAMPLE: &str = "\
Examples:
  weir get pipelines
  weir get promotions --pipeline podinfo --environment prod
  weir get versions --workload podinfo";

/// Show what a server knows, in tables
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Get {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Pipelines, and how far each environment is
    #[command(visible_alias = "pipeline", after_help = "Example:\n  weir get pipelines --hold AwaitingApproval")]
    Pipelines(Pipelines),
    /// Promotions, newest first, with those that are over
    #[command(visible_alias = "promotion", after_help = "Example:\n  weir get promotions --live")]
    Promotions(Promotions),
    /// Changes that wait for review in Weir
    #[command(visible_alias = "proposal", after_help = "Example:\n  weir get proposals --state all")]
    Proposals(Proposals),
    /// Which version runs where
    #[command(visible_alias = "version", after_help = "Example:\n  weir get versions --environment prod --unhealthy")]
    Versions(Versions),
    /// What is stopped
    #[command(visible_alias = "freeze", after_help = "Example:\n  weir get freezes")]
    Freezes(Freezes),
    /// Who did what, newest first
    #[command(after_help = "Example:\n  weir get audit --pipeline podinfo")]
    Audit(Audit),
    /// What is wrong with the manifests, with file and line
    #[command(after_help = "Example:\n  weir get problems")]
    Problems {
        #[command(flatten)]
        server: Server,
        #[command(flatten)]
        output: Output,
    },
}

/// What every list has.
#[derive(Args)]
struct Common {
    /// Only of this namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
struct Pipelines {
    /// Only those whose name contains this
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only those with a promotion in this phase
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// Only those with this hold
    #[arg(long, value_name = "HOLD")]
    hold: Option<String>,
    /// Only those that are suspended
    #[arg(long)]
    suspended: bool,
    /// Only those with something that somebody has to mend
    #[arg(long)]
    problem: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Promotions {
    /// Only of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// Only into this environment
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Only those in this phase
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// Only those that are on their way
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Proposals {
    /// Only of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// open, merged, closed or all
    #[arg(long, value_name = "STATE", default_value = "open")]
    state: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Versions {
    /// Only of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// Only in this environment
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Only on this cluster
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// Only of this workload
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Only versions that begin like this
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Only what runs this container image, such as podinfo or podinfo:6.1.0; with * at the end, any that begins like that
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Only what is not healthy
    #[arg(long)]
    unhealthy: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Freezes {
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Audit {
    /// Only what concerns this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// Only what this person did
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// A list to ask for, and how its items are shown.
struct List {
    path: &'static str,
    query: Vec<(&'static str, String)>,
    header: &'static [&'static str],
    rows: fn(&Value) -> Vec<Vec<String>>,
    nothing: &'static str,
}

impl Get {
    pub(super) fn run(self) -> Result<()> {
        match self.what {
            What::Pipelines(it) => {
                let mut query = given(&[("name", &it.name), ("phase", &it.phase), ("hold", &it.hold)]);
                query.extend(it.suspended.then(|| ("suspended", "true".to_owned())));
                query.extend(it.problem.then(|| ("problem", "true".to_owned())));
                let header = &["NAMESPACE", "NAME", "ENVIRONMENT", "RUNS", "NEXT", "PHASE", "HOLDS"];
                let nothing = "no pipelines found";
                it.common.show(List { path: "/api/v1/pipelines", query, header, rows: pipeline, nothing })
            }
            What::Promotions(it) => {
                let mut query =
                    given(&[("pipeline", &it.pipeline), ("environment", &it.environment), ("phase", &it.phase)]);
                query.extend(it.live.then(|| ("live", "true".to_owned())));
                let header = &["NAMESPACE", "NAME", "ENVIRONMENT", "RELEASE", "PHASE", "SINCE", "HOLDS"];
                let nothing = "no promotions found";
                it.common.show(List { path: "/api/v1/promotions", query, header, rows: promotion, nothing })
            }
            What::Proposals(it) => {
                let query = given(&[("pipeline", &it.pipeline), ("state", &Some(it.state))]);
                let header = &["NAMESPACE", "NAME", "TITLE", "STATE", "REVIEW", "HEAD", "OPENED"];
                let nothing = "no proposals found";
                it.common.show(List { path: "/api/v1/proposals", query, header, rows: proposal, nothing })
            }
            What::Versions(it) => {
                let mut query = given(&[
                    ("pipeline", &it.pipeline),
                    ("environment", &it.environment),
                    ("cluster", &it.cluster),
                    ("workload", &it.workload),
                    ("version", &it.version),
                    ("image", &it.image),
                ]);
                query.extend(it.unhealthy.then(|| ("healthy", "false".to_owned())));
                let header =
                    &["PIPELINE", "ENVIRONMENT", "TARGET", "WORKLOAD", "VERSION", "IMAGES", "HEALTHY", "SINCE"];
                let nothing = "no versions found";
                it.common.show(List { path: "/api/v1/versions", query, header, rows: version, nothing })
            }
            What::Freezes(it) => {
                let header = &["NAME", "STOPS", "REASON", "BY", "UNTIL"];
                let nothing = "nothing is frozen";
                it.common.show(List { path: "/api/v1/freezes", query: Vec::new(), header, rows: freeze, nothing })
            }
            What::Problems { server, output } => {
                let status: Value = wait(server.client()?.get("/api/v1/status", &[]))?;
                let problems = status.get("problems").cloned().unwrap_or_default();
                say_if_partial(&status);
                output.print(&problems, |problems| {
                    let lines: Vec<_> =
                        list(problems, "").iter().map(|problem| format!("{}\n", text(problem, ""))).collect();
                    if lines.is_empty() {
                        "nothing is wrong with the definitions, nor with Weir itself\n".to_owned()
                    } else {
                        lines.concat()
                    }
                })
            }
            What::Audit(it) => {
                let query = given(&[("pipeline", &it.pipeline), ("by", &it.by)]);
                let header = &["AT", "BY", "DID", "TO", "DETAIL", "WHY"];
                let nothing = "nobody did anything";
                it.common.show(List { path: "/api/v1/audit", query, header, rows: deed, nothing })
            }
        }
    }
}

impl Common {
    fn show(self, list: List) -> Result<()> {
        let List { path, mut query, header, rows, nothing } = list;
        let mut namespace = self.namespace;
        if let Some((_, named)) = query.iter_mut().find(|(name, _)| *name == "pipeline") {
            let key = pipeline_key(named)?;
            let home = Some(key.namespace.to_string());
            namespace = if named.contains('/') { home } else { namespace.or(home) };
            *named = key.name.to_string();
        }
        query.extend(namespace.map(|namespace| ("namespace", namespace)));
        let client = self.server.client()?;
        let items = wait(client.list(path, &query, self.limit.map(NonZeroUsize::get)))?;
        self.output.print(&items, |items| {
            let rows: Vec<_> = items.iter().flat_map(rows).collect();
            if rows.is_empty() { format!("{nothing}\n") } else { table(header, rows) }
        })
    }
}

/// What was given of the filters.
fn given(filters: &[(&'static str, &Option<String>)]) -> Vec<(&'static str, String)> {
    filters.iter().filter_map(|(name, value)| Some((*name, (*value).clone()?))).collect()
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// To the second: nobody reads more.
fn moment(value: &Value, pointer: &str) -> String {
    let text = text(value, pointer);
    let short = text.parse::<Timestamp>().map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    or_dash(short.unwrap_or(text))
}

/// One row for each environment; the pipeline's name stands in all of them, so that rows can be searched.
fn pipeline(item: &Value) -> Vec<Vec<String>> {
    let suspended = item.pointer("/suspended") == Some(&Value::Bool(true));
    let unread = item.get("unread").is_some();
    let deleted = item.pointer("/defined") == Some(&Value::Bool(false));
    let row = |environment: &Value| {
        let mut holds: Vec<_> = list(environment, "/holds").iter().filter_map(Value::as_str).collect();
        if unread {
            holds.insert(0, "unread");
        } else if deleted {
            holds.insert(0, "deleted");
        }
        if suspended && !holds.contains(&"Suspended") {
            holds.insert(0, "Suspended");
        }
        vec![
            text(item, "/namespace"),
            text(item, "/name"),
            text(environment, "/name"),
            or_dash(text(environment, "/runs/name")),
            or_dash(text(environment, "/release/name")),
            or_dash(text(environment, "/phase")),
            or_dash(once(holds)),
        ]
    };
    let rows: Vec<_> = list(item, "/environments").iter().map(row).collect();
    if rows.is_empty() && unread {
        // Nothing is known of it but that.
        let dash = || "-".to_owned();
        let why = "its definition cannot be read: `weir get problems`".to_owned();
        return vec![vec![text(item, "/namespace"), text(item, "/name"), dash(), dash(), dash(), dash(), why]];
    }
    rows
}

fn promotion(item: &Value) -> Vec<Vec<String>> {
    let holds: Vec<_> = list(item, "/holds").iter().map(|hold| text(hold, "/name")).collect();
    let since = list(item, "/history").last().map(|turn| moment(turn, "/at"));
    vec![vec![
        text(item, "/namespace"),
        text(item, "/name"),
        text(item, "/environment"),
        text(item, "/release/name"),
        text(item, "/phase"),
        since.unwrap_or_else(|| "-".to_owned()),
        or_dash(once(holds)),
    ]]
}

/// Names in a row, each once.
fn once<T: AsRef<str> + PartialEq>(mut names: Vec<T>) -> String {
    names.dedup();
    let names: Vec<_> = names.iter().map(AsRef::as_ref).collect();
    names.join(", ")
}

fn proposal(item: &Value) -> Vec<Vec<String>> {
    let head: String = text(item, "/head").chars().take(10).collect();
    vec![vec![
        text(item, "/namespace"),
        text(item, "/name"),
        text(item, "/title"),
        text(item, "/state/name"),
        text(item, "/review"),
        head,
        moment(item, "/opened"),
    ]]
}

fn version(item: &Value) -> Vec<Vec<String>> {
    let pipeline = format!("{}/{}", text(item, "/pipeline/namespace"), text(item, "/pipeline/name"));
    vec![vec![
        pipeline,
        text(item, "/environment"),
        or_dash(text(item, "/target")),
        text(item, "/workload"),
        or_dash(text(item, "/version")),
        or_dash(images(item)),
        if text(item, "/unreachable") == "true" { "unreachable".to_owned() } else { text(item, "/healthy") },
        moment(item, "/since"),
    ]]
}

/// The images, without their registries and folders.
fn images(item: &Value) -> String {
    let name = |image: &Value| text(image, "").rsplit('/').next().unwrap_or_default().to_owned();
    list(item, "/images").iter().map(name).collect::<Vec<_>>().join(",")
}

fn freeze(item: &Value) -> Vec<Vec<String>> {
    let parts = ["namespace", "pipeline", "environment", "release"];
    let named = parts.iter().map(|part| (part, text(item, &format!("/{part}")))).filter(|(_, value)| !value.is_empty());
    let stops: Vec<_> = named.map(|(part, value)| format!("{part} {value}")).collect();
    vec![vec![
        text(item, "/name"),
        match (stops.is_empty(), item.get("pipelines").and_then(Value::as_u64)) {
            (true, _) => "everything".to_owned(),
            (false, Some(0)) => format!("{} (nothing now)", stops.join(", ")),
            (false, _) => stops.join(", "),
        },
        text(item, "/reason"),
        text(item, "/by"),
        if item.pointer("/active") == Some(&Value::Bool(false)) && item.get("until").is_some() {
            format!("{} (not in force)", moment(item, "/until"))
        } else {
            moment(item, "/until")
        },
    ]]
}

fn deed(item: &Value) -> Vec<Vec<String>> {
    vec![vec![
        moment(item, "/at"),
        text(item, "/by/name"),
        text(item, "/verb"),
        text(item, "/object"),
        or_dash(text(item, "/detail")),
        or_dash(text(item, "/why")),
    ]]
}
