//! What can go wrong, for the person who reads it.

use std::fmt;

use thiserror::Error;

use crate::{MarkerError, Path, Place, ValueError};

/// Why a file could not be read or changed. Nothing was changed.
///
/// Errors name the line and the column; the caller, who knows it, adds the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The file has a marker, or a value to set, and does not parse.
    #[error(
        "the file is not YAML: {reason} at {place}; a template cannot be changed, mark a value in a file that is \
         YAML as it stands"
    )]
    NotYaml {
        /// Where the parser stopped.
        place: Place,
        /// What the parser said.
        reason: String,
    },
    /// A comment means to be a marker and is none.
    #[error("the marker at {place} cannot be read: {source}")]
    BrokenMarker {
        /// Where the comment stands.
        place: Place,
        /// What is wrong with it.
        source: MarkerError,
    },
    /// A marker marks nothing.
    #[error(
        "the marker at {place} belongs to no value; put it after the value on the same line, or directly above \
         the key, indented like it"
    )]
    LooseMarker {
        /// Where the comment stands.
        place: Place,
    },
    /// The chosen value is nothing that can be replaced in its line.
    #[error("the value at {place} cannot be changed: it is {found}; write it as a plain or quoted value on one line")]
    NotAValue {
        /// Where the value stands.
        place: Place,
        /// What stands there.
        found: NotAValue,
    },
    /// The chosen value is used elsewhere through an alias, and would change there, too.
    #[error(
        "the value at {place} cannot be changed: `{anchor}` is used elsewhere in the document, which would \
         change, too; write the value out where it is used"
    )]
    Shared {
        /// Where the value stands.
        place: Place,
        /// The alias by which it, or what it is part of, is used.
        anchor: String,
    },
    /// The release does not fit the place.
    #[error("the value at {place} cannot be changed: {source}")]
    Value {
        /// Where the value stands.
        place: Place,
        /// What does not fit.
        source: ValueError,
    },
    /// The value must be quoted now, and not every YAML reader takes a tab below a quoted value.
    #[error(
        "the value at {place} cannot be changed: it must be quoted now, and a line below starts with a tab, which \
         not every reader of YAML accepts there; replace the tab by spaces"
    )]
    TabBelow {
        /// Where the value stands.
        place: Place,
    },
    /// Two of the asked changes want different things of one value.
    #[error(
        "the value at {place} cannot be changed: it was asked to become both `{one}` and `{other}`; mark it for \
         one of them only"
    )]
    Conflict {
        /// Where the value stands.
        place: Place,
        /// What one change asks for.
        one: String,
        /// What another asks for.
        other: String,
    },
    /// No document of the file is the one looked for.
    #[error("setting `{path}` failed: no document of the file is the one looked for; check its kind, name and number")]
    NoDocument {
        /// The path that was to be set.
        path: Path,
    },
    /// The path leads nowhere.
    #[error(
        "setting `{path}` failed: the file has no such value; check the path, keys that come from an alias or a \
         merge do not count"
    )]
    NotFound {
        /// The path that was to be set.
        path: Path,
    },
    /// The path leads to several values.
    #[error(
        "setting `{path}` failed: it leads to {first} and to {second}; choose one document by its kind and name, \
         and remove keys that stand twice"
    )]
    Ambiguous {
        /// The path that was to be set.
        path: Path,
        /// One value it leads to.
        first: Place,
        /// Another.
        second: Place,
    },
    /// The result would have differed in more than the chosen values.
    #[error(
        "the value at {place} cannot be changed: the file would read differently elsewhere, too; put the value in \
         quotes, and report this as a bug"
    )]
    Unsafe {
        /// Where the first changed value stands.
        place: Place,
    },
}

/// What stands in the place of a value that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotAValue {
    /// An alias such as `*name`.
    Alias,
    /// A block scalar, after `|` or `>`.
    Block,
    /// Nothing at all.
    Empty,
    /// A map.
    Map,
    /// A sequence.
    Sequence,
    /// A scalar that goes over several lines.
    ManyLines,
}

impl fmt::Display for NotAValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alias => "an alias",
            Self::Block => "a block scalar",
            Self::Empty => "empty",
            Self::Map => "a map",
            Self::Sequence => "a sequence",
            Self::ManyLines => "a scalar of several lines",
        })
    }
}

impl Error {
    /// Where in the file the trouble is, if it is in one place.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::NotYaml { place, .. }
            | Self::BrokenMarker { place, .. }
            | Self::LooseMarker { place }
            | Self::NotAValue { place, .. }
            | Self::Shared { place, .. }
            | Self::Value { place, .. }
            | Self::TabBelow { place }
            | Self::Conflict { place, .. }
            | Self::Unsafe { place } => Some(place),
            Self::Ambiguous { first, .. } => Some(first),
            Self::NoDocument { .. } | Self::NotFound { .. } => None,
        }
    }
}
