//! Which values are meant.

use crate::{Marker, Part, Path};

/// Chooses values of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Every value with a marker that fits; a file may well have none.
    Marker(MarkerFilter),
    /// The one value at a path; a file without it is an error.
    Path(Location),
}

/// Chooses markers. The part is not chosen: each marker says itself which part of the release it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerFilter {
    /// The namespace of the pipeline.
    pub namespace: String,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The environment.
    pub environment: String,
    /// `Some`: only markers that name this very workload. `None`: whatever workload they name, if any.
    pub workload: Option<String>,
}

/// Chooses the value at a path, in the one document of those that fit which has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The documents to look in.
    pub documents: DocumentFilter,
    /// The path of the value.
    pub path: Path,
    /// What the value holds.
    pub part: Part,
}

/// Chooses documents of a file. What is `None` does not matter; the default fits every document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// The number of the document in its file, counted from 0.
    pub index: Option<usize>,
    /// `kind`.
    pub kind: Option<String>,
    /// `metadata.name`.
    pub name: Option<String>,
    /// `metadata.namespace`.
    pub namespace: Option<String>,
}

impl MarkerFilter {
    /// Whether `marker` is one of those meant.
    pub fn fits(&self, marker: &Marker) -> bool {
        self.namespace == marker.namespace
            && self.pipeline == marker.pipeline
            && self.environment == marker.environment
            && (self.workload.is_none() || self.workload == marker.workload)
    }
}

impl From<&Marker> for MarkerFilter {
    fn from(marker: &Marker) -> Self {
        Self {
            namespace: marker.namespace.clone(),
            pipeline: marker.pipeline.clone(),
            environment: marker.environment.clone(),
            workload: marker.workload.clone(),
        }
    }
}

impl From<Path> for Location {
    fn from(path: Path) -> Self {
        Self { documents: DocumentFilter::default(), path, part: Part::Whole }
    }
}
