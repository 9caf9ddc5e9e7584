//! Places in a repository.

use std::{fmt, sync::Arc};

use weir_core::NameError;

/// The path of a file in a repository, from its root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Arc<str>);

impl FilePath {
    /// Checks a path: segments joined by `/`, none of them empty, `.`, `..` or `.git`.
    pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
        let text = text.as_ref();
        let segment = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
        if !text.contains(char::is_control) && text.split('/').all(segment) {
            return Ok(Self(text.into()));
        }
        Err(NameError {
            kind: "path",
            found: text.to_owned(),
            rule: "write it from the root of the repository, like `apps/prod/podinfo.yaml`",
        })
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which paths of a repository: `*` and `?` stay within a segment, `**` does not, a folder stands for all in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathGlob(Arc<str>);

impl PathGlob {
    /// Checks a pattern.
    pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
        let text = text.as_ref();
        let inner = text.strip_suffix('/').unwrap_or(text);
        let segment = |part: &str| !matches!(part, "" | "." | "..");
        if !text.contains(char::is_control) && inner.split('/').all(segment) {
            return Ok(Self(text.into()));
        }
        Err(NameError {
            kind: "path pattern",
            found: text.to_owned(),
            rule: "write it from the root of the repository, like `apps/prod/**/*.yaml`",
        })
    }

    /// The pattern as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_repository() {
        for good in ["a", "apps/prod/a.yaml", "ä b/\"c\"", "-a", ".github/x", "a/.gitignore"] {
            assert!(FilePath::new(good).is_ok(), "{good}");
        }
        for bad in ["", "/a", "a/", "a//b", "../a", "a/./b", ".git/config", "a/.GIT/x", "a\nb"] {
            assert!(FilePath::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_stays_in_the_repository() {
        for good in ["**", "apps/*.yaml", "apps/", "**/prod/*.yaml"] {
            assert!(PathGlob::new(good).is_ok(), "{good}");
        }
        for bad in ["", "/", "/a", "../*", "a//b", "a\0b"] {
            assert!(PathGlob::new(bad).is_err(), "{bad}");
        }
    }
}
