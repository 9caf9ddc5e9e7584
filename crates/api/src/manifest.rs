//! Reading manifests from YAML, with errors that name the place in the file.

mod definition;
mod error;
mod scalar;
mod tree;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use definition::{Defined, definition, lint, twice};
pub use error::ManifestError;

use crate::{
    convert::PipelineGroup,
    kinds::{Freeze, GitopsCluster, Observation, OlderPipeline, Pipeline, Promotion, Proposal},
    validate::{Violation, validate},
};
use tree::{Document, Places};

/// Where something begins in a file, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// An object that was read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub object: Object,
}

/// The objects that a file can hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Object {
    /// A pipeline, and the group it was written for.
    Pipeline(PipelineGroup, Box<Pipeline>),
    /// The record of a promotion.
    Promotion(Box<Promotion>),
    /// What was reported about a workload.
    Observation(Box<Observation>),
    /// A freeze.
    Freeze(Box<Freeze>),
    /// A change that waits for review.
    Proposal(Box<Proposal>),
    /// A cluster.
    GitopsCluster(Box<GitopsCluster>),
    /// An object of a kind that Weir does not define. It is not checked.
    Other {
        /// Its group and version.
        api_version: String,
        /// Its kind.
        kind: String,
        /// Its name.
        name: Option<String>,
        /// All of it: Secrets, for example, are read from manifests too.
        content: Content,
    },
}

impl Object {
    /// Its kind.
    pub fn kind(&self) -> &str {
        match self {
            Self::Pipeline(..) => "Pipeline",
            Self::Promotion(_) => "Promotion",
            Self::Observation(_) => "Observation",
            Self::Freeze(_) => "Freeze",
            Self::Proposal(_) => "Proposal",
            Self::GitopsCluster(_) => "GitopsCluster",
            Self::Other { kind, .. } => kind,
        }
    }
}

/// The whole of an object that Weir does not define. It may be a Secret, so it is never shown.
#[derive(Clone, PartialEq)]
pub struct Content(pub Value);

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Reads all objects of a YAML text. `file` is only named in errors.
///
/// Whatever is wrong is reported, not only the first thing: syntax, fields that nobody knows, schema and CEL rules of the
/// kind, and what conversion into the core checks. An object with an error is not among the manifests; the others are.
/// The items of a `List`, as `kubectl get -o yaml` writes it, are objects like those that are documents of their own.
pub fn read(file: &str, text: &str) -> (Vec<Manifest>, Vec<ManifestError>) {
    let mut manifests = Vec::new();
    let mut errors = Vec::new();
    for document in tree::documents(text) {
        match document {
            Ok(document) => {
                let objects = objects(&document.value);
                let around = |it: &&Violation| !objects.iter().any(|(path, _)| it.within(path).is_some());
                let mut violations: Vec<_> = document.violations.iter().filter(around).cloned().collect();
                for (path, value) in objects {
                    match object(value, own(&document, &path)) {
                        Ok(Some(object)) => manifests.push(Manifest { place: place(&document, &path), object }),
                        Ok(None) => {}
                        Err(found) => violations.extend(found.into_iter().map(|it| it.below(&path))),
                    }
                }
                let located = violations.into_iter().map(|it| located(file, it, document.place, &document.places));
                errors.extend(located);
            }
            Err((place, violation)) => errors.push(ManifestError::at(file, place, violation)),
        }
    }
    errors.sort_by_key(|error| (error.line, error.column));
    errors.dedup();
    (manifests, errors)
}

/// Takes out what is wrong with documents that do not mean to be objects, such as the values of a chart: they name neither
/// version nor kind. Returns how many there are.
pub fn forgive_strangers(errors: &mut Vec<ManifestError>) -> usize {
    let lacks = |error: &ManifestError, field: &str| error.path == field && error.found.is_none();
    let place = |error: &ManifestError| (error.line, error.column);
    let lacking = |field: &str| errors.iter().filter(|error| lacks(error, field)).map(place).collect::<Vec<_>>();
    let (versions, kinds) = (lacking("apiVersion"), lacking("kind"));
    let strangers: Vec<_> = versions.into_iter().filter(|place| kinds.contains(place)).collect();
    errors.retain(|error| {
        let header = lacks(error, "apiVersion") || lacks(error, "kind");
        !(header && strangers.contains(&place(error)))
    });
    strangers.len()
}

/// The objects of a document, each with its path: the document itself, or the items of a `List`.
fn objects(document: &Value) -> Vec<(String, &Value)> {
    let text = |field: &str| document.get(field).and_then(Value::as_str);
    let is_list = text("apiVersion") == Some("v1") && text("kind") == Some("List");
    match document.get("items").and_then(Value::as_array).filter(|_| is_list) {
        Some(items) => items.iter().enumerate().map(|(position, item)| (format!("items[{position}]"), item)).collect(),
        None => vec![(String::new(), document)],
    }
}

/// What is wrong with the mappings of one object of a document, by the paths within it.
fn own(document: &Document, path: &str) -> Vec<Violation> {
    document.violations.iter().filter_map(|violation| violation.within(path)).collect()
}

fn place(document: &Document, path: &str) -> Place {
    document.places.get(path).map_or(document.place, |entry| entry.value)
}

/// The object that a value is; none if there is nothing.
fn object(value: &Value, mut violations: Vec<Violation>) -> Result<Option<Object>, Vec<Violation>> {
    if value.is_null() {
        return Ok(None);
    }
    let text = |field: &str| value.get(field).and_then(Value::as_str);
    for field in ["apiVersion", "kind"] {
        if text(field).is_none() {
            violations.push(Violation::new(field, "is missing: every object says what it is"));
        }
    }
    let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else { return Err(violations) };
    violations.extend(unknown_kind(api_version, kind));
    violations.extend(validate(value));
    if !violations.is_empty() {
        return Err(violations);
    }
    let weave = "pipelines.weave.works/v1alpha1";
    let object = match (api_version, kind) {
        (group, "Pipeline") if group == weave => {
            let pipeline: Pipeline = typed(value)?;
            pipeline.to_core()?;
            Object::Pipeline(PipelineGroup::Weave, Box::new(pipeline))
        }
        ("pipelines.wego.weave.works/v1alpha1", "Pipeline") => {
            let pipeline: OlderPipeline = typed(value)?;
            pipeline.to_core()?;
            Object::Pipeline(PipelineGroup::Wego, Box::new(pipeline.into()))
        }
        (group, "Promotion") if group == weave => {
            let promotion: Promotion = typed(value)?;
            promotion.to_core()?;
            Object::Promotion(Box::new(promotion))
        }
        (group, "Observation") if group == weave => {
            let observation: Observation = typed(value)?;
            observation.to_core()?;
            Object::Observation(Box::new(observation))
        }
        (group, "Freeze") if group == weave => {
            let freeze: Freeze = typed(value)?;
            freeze.to_core()?;
            Object::Freeze(Box::new(freeze))
        }
        (group, "Proposal") if group == weave => Object::Proposal(Box::new(typed(value)?)),
        ("gitops.weave.works/v1alpha1", "GitopsCluster") => Object::GitopsCluster(Box::new(typed(value)?)),
        (api_version, kind) => Object::Other {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: value.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned),
            content: Content(value.clone()),
        },
    };
    Ok(Some(object))
}

/// An object of Weir's own groups that is of no known kind is a mistake, not somebody else's object.
fn unknown_kind(api_version: &str, kind: &str) -> Option<Violation> {
    let group = api_version.split('/').next().unwrap_or_default();
    let known: &[&str] = match group {
        "pipelines.weave.works" => &["Pipeline", "Promotion", "Observation", "Freeze", "Proposal"],
        "pipelines.wego.weave.works" => &["Pipeline"],
        _ => return None,
    };
    let version = format!("{group}/v1alpha1");
    let (path, found, allowed) = if !known.contains(&kind) {
        ("kind", kind, known.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", "))
    } else if api_version != version {
        ("apiVersion", api_version, format!("`{version}`"))
    } else {
        return None;
    };
    Some(Violation::new(path, format!("allowed: {allowed}")).found(&found.into()))
}

fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Vec<Violation>> {
    T::deserialize(value).map_err(|error| vec![Violation::new("", error.to_string())])
}

/// A violation with its place: the field itself, or if it is missing the nearest one around it that is there.
fn located(file: &str, violation: Violation, start: Place, places: &Places) -> ManifestError {
    let mut path = violation.path.as_str();
    let place = loop {
        if let Some(entry) = places.get(path) {
            break if violation.name_is_wrong { entry.name } else { entry.value };
        }
        match path.rfind(['.', '[']) {
            Some(end) => path = &path[..end],
            None => break start,
        }
    };
    ManifestError::at(file, place, violation)
}
