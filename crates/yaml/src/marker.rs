//! What a marker says: whose value this is, and which part of it.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// The key of a marker in its comment's JSON.
pub(crate) const KEY: &str = "$promotion";

/// A marker: this value belongs to one environment of one pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    /// The namespace of the pipeline.
    pub namespace: String,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The environment that the value belongs to.
    pub environment: String,
    /// What the marked value holds.
    pub part: Part,
    /// The workload that the value belongs to, such as `HelmRelease/podinfo`, if the marker names one.
    pub workload: Option<String>,
}

/// Which part of a release a value holds.
///
/// Tag, name and digest are looked for in an image reference such as `registry:5000/app:1.0@sha256:…`. A value without
/// `/`, `:` and `@`, and a digest alone, is one part standing by itself and is replaced whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// The whole value is the version.
    #[default]
    Whole,
    /// The tag of an image. A digest behind the old tag names the old image: it becomes the release's digest if that is
    /// given, and goes otherwise. A reference without digest gets none.
    Tag,
    /// The name of an image: registry and repository. Tag and digest stay, as an image keeps both when it is copied.
    Name,
    /// The digest of an image. A reference without digest gets one.
    Digest,
}

/// Why a comment is not a marker although it means to be one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MarkerError {
    /// The comment is no JSON object of strings.
    #[error(
        "the comment is no JSON object of strings ({reason}); write `# {{\"$promotion\": \
         \"namespace:pipeline:environment\"}}`"
    )]
    Json {
        /// What the JSON parser said.
        reason: String,
    },
    /// The value is not three names with an optional part.
    #[error("`{marker}` is not of the form `namespace:pipeline:environment`, with an optional part at the end")]
    Form {
        /// The value of `$promotion`.
        marker: String,
    },
    /// The fourth word is none that we know.
    #[error("`{part}` in `{marker}` is no part of a release; use `tag`, `name` or `digest`, or leave it out")]
    Part {
        /// The value of `$promotion`.
        marker: String,
        /// Its fourth word.
        part: String,
    },
}

impl FromStr for Marker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<Self, MarkerError> {
        let words: Vec<&str> = text.split(':').collect();
        let (namespace, pipeline, environment, part) = match words[..] {
            [namespace, pipeline, environment] => (namespace, pipeline, environment, Part::Whole),
            [namespace, pipeline, environment, part] => {
                let unknown = || MarkerError::Part { marker: text.to_owned(), part: part.to_owned() };
                (namespace, pipeline, environment, Part::named(part).ok_or_else(unknown)?)
            }
            _ => return Err(MarkerError::Form { marker: text.to_owned() }),
        };
        if [namespace, pipeline, environment].iter().any(|word| word.trim().is_empty()) {
            return Err(MarkerError::Form { marker: text.to_owned() });
        }
        Ok(Self {
            namespace: namespace.to_owned(),
            pipeline: pipeline.to_owned(),
            environment: environment.to_owned(),
            part,
            workload: None,
        })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.namespace, self.pipeline, self.environment)?;
        if self.part == Part::Whole { Ok(()) } else { write!(f, ":{}", self.part) }
    }
}

impl Part {
    fn named(name: &str) -> Option<Self> {
        match name {
            "tag" => Some(Self::Tag),
            "name" => Some(Self::Name),
            "digest" => Some(Self::Digest),
            _ => None,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "version",
            Self::Tag => "tag",
            Self::Name => "name",
            Self::Digest => "digest",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_names_namespace_pipeline_and_environment() {
        let marker: Marker = "apps:podinfo:prod".parse().unwrap();
        assert_eq!(
            (marker.namespace.as_str(), marker.pipeline.as_str(), marker.environment.as_str(), marker.part),
            ("apps", "podinfo", "prod", Part::Whole)
        );
    }

    #[test]
    fn a_fourth_word_is_the_part() {
        for (text, part) in [("a:b:c:tag", Part::Tag), ("a:b:c:name", Part::Name), ("a:b:c:digest", Part::Digest)] {
            assert_eq!(text.parse::<Marker>().unwrap().part, part);
        }
    }

    #[test]
    fn an_environment_may_be_called_tag() {
        let marker: Marker = "apps:podinfo:tag".parse().unwrap();
        assert_eq!((marker.environment.as_str(), marker.part), ("tag", Part::Whole));
    }

    #[test]
    fn a_marker_prints_as_it_is_written() {
        for text in ["a:b:c", "a:b:c:tag", "a:b:c:name", "a:b:c:digest"] {
            assert_eq!(text.parse::<Marker>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_marker_with_missing_or_surplus_words_is_refused() {
        for text in ["", "a", "a:b", ":b:c", "a::c", "a:b:", "a: :c", "a:b:c:tag:x"] {
            assert_eq!(text.parse::<Marker>(), Err(MarkerError::Form { marker: text.to_owned() }));
        }
    }

    #[test]
    fn an_unknown_part_is_refused_by_name() {
        let error = "a:b:c:sha".parse::<Marker>().unwrap_err();
        assert_eq!(error, MarkerError::Part { marker: "a:b:c:sha".to_owned(), part: "sha".to_owned() });
    }
}
