//! Changes a scalar in a YAML file and touches no other byte.
//!
//! [`markers`] reads which values of a file are marked with `# {"$promotion": "namespace:pipeline:environment"}` and
//! what stands there now. [`set`] writes new values at markers, or at a [`Path`], and returns the new text. Comments,
//! quotes, indentation, line ends, a byte order mark, anchors and document markers stay as they were.
//!
//! What it never does: read or write a file, guess, or half succeed. A file that is not YAML, a marker that cannot be
//! read, a marked value that is no single-line scalar or that is shared through an anchor: each is an [`Error`] that
//! names the line, and nothing is changed. Before [`set`] returns it reads its own result back and compares it with the
//! original; a result that differs in more than the chosen values is an error, too.
//!
//! Where a marker may stand: after the value on the same line, or in the comment lines directly above the key or the
//! list item, indented like it. What it marks is decided by the parsed file, never by the look of a line. Most files
//! are plain enough to be read without the parser, which is slow; that answers as the parser does, or not at all.

mod attach;
mod comment;
mod document;
mod edit;
mod error;
mod find;
mod image;
mod marker;
mod outline;
mod path;
mod place;
mod plain;
mod scalar;
mod selector;
mod tree;
mod value;

pub use edit::{Change, Edited, set};
pub use error::{Error, NotAValue};
pub use find::{Marked, markers};
pub use marker::{Marker, MarkerError, Part};
pub use path::{Path, PathError};
pub use place::Place;
pub use selector::{DocumentFilter, Location, MarkerFilter, Selector};
pub use value::{Value, ValueError};

// The two ways to the answer of `markers`, for the tests that hold them to each other.
#[doc(hidden)]
pub use {find::parsed, outline::outlined};
