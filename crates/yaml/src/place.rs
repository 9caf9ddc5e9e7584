//! Where something stands in a text.

use std::{fmt, ops::Range};

/// A place in a text, for people (line and column) and for programs (bytes).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1; a byte order mark is not counted.
    pub column: usize,
    /// The bytes of the text, quotes included.
    pub span: Range<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
