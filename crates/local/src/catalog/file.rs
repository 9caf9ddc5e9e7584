//! One file: what it says, what it said last, and what is wrong with it.

use std::{fmt, fs, path::Path, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use weir_api::{GitopsCluster, ManifestError, Object, Pipeline, PipelineGroup, Violation, forgive_strangers};
use weir_core::{ClusterKey, Name, Namespace, PipelineKey};
use weir_ports::{Definition, Secret};

/// A file of the folder.
#[derive(Default)]
pub(super) struct File {
    /// What it said when it was last right.
    pub(super) good: Contents,
    /// What is wrong with it now.
    pub(super) problems: Vec<String>,
    /// Whether the disk did not give it, which may pass without a change of the file.
    pub(super) is_unread: bool,
}

/// What a file holds.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) pipelines: Vec<Defined>,
    pub(super) secrets: Vec<(Place, (Namespace, Name), Secret)>,
    /// Clusters, each with the Secret of its kubeconfig.
    pub(super) clusters: Vec<(Place, ClusterKey, Name)>,
    /// What is right, but has no effect.
    pub(super) remarks: Vec<String>,
}

/// A pipeline, and where it is written.
pub(super) struct Defined {
    pub(super) place: Place,
    pub(super) group: PipelineGroup,
    pub(super) definition: Arc<Definition>,
}

/// Where an object begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    file: Arc<str>,
    line: usize,
    column: usize,
}

impl Place {
    /// A pipeline of its file, as the file is now. Nothing else of the file is shown: there may be Secrets in it.
    pub(super) fn manifest(&self, pipeline: &PipelineKey) -> Result<String, String> {
        let text = fs::read_to_string(&*self.file).map_err(|error| format!("{}: {error}", self.file))?;
        let (manifests, _) = weir_api::read(&self.file, &text);
        let wanted = manifests.into_iter().find_map(|manifest| match manifest.object {
            Object::Pipeline(group, object) if object.to_core().is_ok_and(|it| it.key == *pipeline) => {
                Some((group, object))
            }
            _ => None,
        });
        let (group, object) = wanted.ok_or_else(|| format!("{} has changed, and is wrong now", self.file))?;
        object.to_manifest(group)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl File {
    /// Reads it anew. If anything is wrong, what it said before stays in force.
    pub(super) fn read(&mut self, path: &Path) {
        let file = path.display().to_string();
        let text = fs::read_to_string(path);
        self.is_unread = text.is_err();
        match text {
            // Many programs empty a file before they write it.
            Ok(text) if text.trim().is_empty() && !self.good.is_empty() => {
                let words = "is empty; what it said last stays in force until the file is deleted";
                self.problems = vec![format!("{file}: {words}")];
            }
            Ok(text) => match contents(&file, &text) {
                Ok(contents) => *self = Self { good: contents, ..Self::default() },
                Err(problems) => self.problems = problems,
            },
            Err(error) => self.problems = vec![format!("{file}: cannot be read: {error}")],
        }
    }
}

impl Contents {
    fn is_empty(&self) -> bool {
        self.pipelines.is_empty() && self.secrets.is_empty() && self.clusters.is_empty()
    }
}

fn contents(file: &str, text: &str) -> Result<Contents, Vec<String>> {
    let (manifests, mut errors) = weir_api::read(file, text);
    forgive_strangers(&mut errors);
    let mut problems: Vec<_> = errors.iter().map(ManifestError::to_string).collect();
    let mut contents = Contents::default();
    let name: Arc<str> = file.into();
    for manifest in manifests {
        let place = Place { file: Arc::clone(&name), line: manifest.place.line, column: manifest.place.column };
        match manifest.object {
            Object::Pipeline(group, object) => match definition(&object) {
                Ok(definition) => {
                    contents.pipelines.push(Defined { place, group, definition: Arc::new(definition) });
                }
                Err(violations) => problems.extend(violations.iter().map(|it| format!("{place}: {it}"))),
            },
            Object::GitopsCluster(object) => match cluster(&object) {
                Ok((key, secret)) => contents.clusters.push((place, key, secret)),
                Err(wrong) => problems.push(format!("{place}: {wrong}")),
            },
            Object::Freeze(_) => {
                let words = "freezes are made with `weir freeze`; this one has no effect";
                contents.remarks.push(format!("{place}: {words}"));
            }
            Object::Other { api_version, kind, content, .. } if api_version == "v1" && kind == "Secret" => {
                match secret(&content.0) {
                    Ok((key, secret)) => contents.secrets.push((place, key, secret)),
                    Err(wrong) => problems.push(format!("{place}: {wrong}")),
                }
            }
            _ => {}
        }
    }
    if problems.is_empty() { Ok(contents) } else { Err(problems) }
}

fn definition(object: &Pipeline) -> Result<Definition, Vec<Violation>> {
    let version = object.spec.version.as_ref().and_then(weir_api::VersionRule::to_core);
    Ok(Definition { pipeline: object.to_core()?, version, signed_with: object.spec.signed_with() })
}

/// Reads a cluster, and which Secret its kubeconfig is in.
fn cluster(object: &GitopsCluster) -> Result<(ClusterKey, Name), String> {
    let namespace = object.metadata.namespace.as_deref().unwrap_or("default");
    let namespace = Namespace::new(namespace).map_err(|error| format!("metadata.namespace: {error}"))?;
    let name = Name::new(object.metadata.name.as_deref().unwrap_or_default());
    let name = name.map_err(|error| format!("metadata.name: {error}"))?;
    let secret = object.spec.kubeconfig_secret().ok_or("must provide a secretRef or capiClusterRef")?;
    let secret = Name::new(&secret).map_err(|error| format!("spec: {error}"))?;
    Ok((ClusterKey { name, namespace }, secret))
}

/// Reads a Secret. What is wrong is told by the name of its key, never by its value.
fn secret(object: &Value) -> Result<((Namespace, Name), Secret), String> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let namespace = Namespace::new(text("/metadata/namespace").unwrap_or("default"));
    let namespace = namespace.map_err(|error| format!("metadata.namespace: {error}"))?;
    let name = Name::new(text("/metadata/name").unwrap_or_default());
    let name = name.map_err(|error| format!("metadata.name: {error}"))?;
    let mut values = Vec::new();
    for (field, is_encoded) in [("data", true), ("stringData", false)] {
        let entries = match object.get(field) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(entries)) => entries,
            Some(_) => return Err(format!("{field}: write keys and values")),
        };
        for (key, value) in entries {
            let Some(value) = value.as_str() else {
                return Err(format!("{field}.{key}: write a text; put it in quotes"));
            };
            let bytes = if is_encoded {
                let packed: String = value.split(['\r', '\n']).collect();
                let bytes = STANDARD.decode(packed);
                bytes.map_err(|_| format!("{field}.{key}: is not base64; encode it, or write it as `stringData`"))?
            } else {
                value.as_bytes().to_vec()
            };
            values.push((key.clone(), bytes));
        }
    }
    Ok(((namespace, name), values.into_iter().collect()))
}
