//! What is wrong in a file, and where.

use std::fmt;

use super::Place;
use crate::validate::Violation;

/// One thing that is wrong in a manifest. Shown as `FILE:LINE:COLUMN: PATH: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", Line(self))]
pub struct ManifestError {
    /// The file, as it was named to the reader.
    pub file: String,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// The field, such as `spec.environments[1].name`. Empty: the whole document.
    pub path: String,
    /// What was found there, without credentials.
    pub found: Option<String>,
    /// What is allowed or what to do.
    pub message: String,
}

impl ManifestError {
    pub(super) fn at(file: &str, place: Place, violation: Violation) -> Self {
        let Violation { path, found, message, .. } = violation;
        Self { file: file.to_owned(), line: place.line, column: place.column, path, found, message }
    }
}

struct Line<'a>(&'a ManifestError);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ManifestError { file, line, column, path, found, message } = self.0;
        write!(f, "{file}:{line}:{column}: ")?;
        let violation = Violation { found: found.clone(), ..Violation::new(path, message) };
        write!(f, "{violation}")
    }
}
