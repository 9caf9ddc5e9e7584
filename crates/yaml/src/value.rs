//! What is to be written.

use thiserror::Error;

use crate::{image, marker::Part};

/// A release, in the words that a file may hold of it.
///
/// A place that asks for a part that is not given is an error, never left as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The version: the whole value, or the tag of an image.
    pub version: String,
    /// The name of the image, without tag and digest.
    pub name: Option<String>,
    /// The digest of the image, such as `sha256:…`.
    pub digest: Option<String>,
}

/// Why a part of a [`Value`] cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// The place asks for a part that the release does not have.
    #[error("the release has no {part}; give one, or take `:{part}` off the marker")]
    Missing {
        /// The part asked for.
        part: Part,
    },
    /// The part is not written as such a part is.
    #[error("`{value}` cannot be written as a {part}: {rule}")]
    Malformed {
        /// The part asked for.
        part: Part,
        /// What was given for it.
        value: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// What stands there has no such part.
    #[error("`{current}` is a digest and has no {part}; mark it with `:digest`")]
    Unfit {
        /// The part asked for.
        part: Part,
        /// What stands there.
        current: String,
    },
}

impl Value {
    /// A release that is known by its version alone.
    pub fn new(version: impl Into<String>) -> Self {
        Self { version: version.into(), name: None, digest: None }
    }

    /// The same release, with the name of its image.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The same release, with the digest of its image.
    #[must_use]
    pub fn with_digest(self, digest: impl Into<String>) -> Self {
        Self { digest: Some(digest.into()), ..self }
    }

    /// What `current` becomes when `part` of it is set to this release.
    pub(crate) fn applied(&self, part: Part, current: &str) -> Result<String, ValueError> {
        let given = self.part(part)?;
        let applied = match part {
            Part::Whole => Some(given.to_owned()),
            Part::Tag => {
                let digest = self.digest.is_some().then(|| self.part(Part::Digest)).transpose()?;
                image::with_tag(current, given, digest)
            }
            Part::Name => image::with_name(current, given),
            Part::Digest => Some(image::with_digest(current, given)),
        };
        applied.ok_or_else(|| ValueError::Unfit { part, current: current.to_owned() })
    }

    fn part(&self, part: Part) -> Result<&str, ValueError> {
        let given = match part {
            Part::Whole | Part::Tag => Some(&self.version),
            Part::Name => self.name.as_ref(),
            Part::Digest => self.digest.as_ref(),
        };
        let given = given.ok_or(ValueError::Missing { part })?;
        let (fits, rule) = match part {
            Part::Whole => {
                (is_writable(given), "it is empty, or holds a line break or another character that does not print")
            }
            Part::Tag => (
                image::is_tag(given),
                "a tag is at most 128 letters, digits, `_`, `.` and `-`, and starts with none of the last two",
            ),
            Part::Name => (
                image::is_name(given),
                "a name has letters, digits, `.`, `_`, `-`, `/` and a port, and neither tag nor digest",
            ),
            Part::Digest => (
                image::is_digest(given),
                "a digest is `sha256:`, `sha384:` or `sha512:` and as many lower-case hexadecimal digits as that has",
            ),
        };
        if fits { Ok(given) } else { Err(ValueError::Malformed { part, value: given.clone(), rule }) }
    }
}

/// Whether a text can stand in one line in every quote style.
fn is_writable(text: &str) -> bool {
    let unprintable =
        |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    !text.is_empty() && !text.contains(unprintable)
}
