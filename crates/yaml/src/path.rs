//! Paths to a value: `spec.values.image.tag`, `images[0].newTag`, `containers[name=app].image`, `data["a.b/c"]`.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// A path from the root of a document to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    steps: Vec<Step>,
}

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into the item with this number, counted from 0.
    Index(usize),
    /// Into the one item, a map, in which the key has this value.
    Item { key: String, value: String },
}

/// Why a text is no [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "reading the path `{path}` failed: {reason} at character {column}; write it like `spec.images[0].tag`, \
     `containers[name=app].image` or `data[\"a.b\"]`"
)]
pub struct PathError {
    /// The text.
    pub path: String,
    /// Where it goes wrong, in characters counted from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: &'static str,
}

impl Path {
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut reader = Reader { text, at: 0 };
        let mut steps = Vec::new();
        while reader.at < text.len() {
            let step = match reader.peek() {
                Some('[') => reader.bracket()?,
                Some('.') if !steps.is_empty() => {
                    reader.at += 1;
                    Step::Key(reader.word(&['.', '['])?)
                }
                _ if steps.is_empty() => Step::Key(reader.word(&['.', '['])?),
                _ => return Err(reader.error("a `.` or `[` is missing")),
            };
            steps.push(step);
        }
        if steps.is_empty() {
            return Err(reader.error("it is empty"));
        }
        Ok(Self { steps })
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn error(&self, reason: &'static str) -> PathError {
        PathError { path: self.text.to_owned(), column: self.text[..self.at].chars().count() + 1, reason }
    }

    fn bracket(&mut self) -> Result<Step, PathError> {
        self.at += 1;
        let step = if matches!(self.peek(), Some('"' | '\'')) {
            Step::Key(self.quoted()?)
        } else {
            let word = self.word(&['=', ']'])?;
            if self.peek() == Some('=') {
                self.at += 1;
                let quoted = matches!(self.peek(), Some('"' | '\''));
                let value = if quoted { self.quoted()? } else { self.word(&[']'])? };
                Step::Item { key: word, value }
            } else {
                let index =
                    word.parse().map_err(|_| self.error("neither a number, a quoted key nor `key=value` is"))?;
                Step::Index(index)
            }
        };
        if self.peek() != Some(']') {
            return Err(self.error("a `]` is missing"));
        }
        self.at += 1;
        Ok(step)
    }

    fn word(&mut self, ends: &[char]) -> Result<String, PathError> {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.error("a name is missing"));
        }
        self.at += word.len();
        Ok(word.to_owned())
    }

    fn quoted(&mut self) -> Result<String, PathError> {
        let quote = self.peek();
        self.at += 1;
        let mut word = String::new();
        loop {
            let Some(mut next) = self.peek() else { return Err(self.error("a quote is not closed")) };
            self.at += next.len_utf8();
            if Some(next) == quote {
                return Ok(word);
            }
            if next == '\\' {
                next = self.peek().ok_or_else(|| self.error("a quote is not closed"))?;
                self.at += next.len_utf8();
            }
            word.push(next);
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                Step::Key(key) if key.is_empty() || key.contains(['.', '[']) => write!(f, "[{}]", quoted(key))?,
                Step::Key(key) if number == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Item { key, value } if value.is_empty() || value.contains([']', '"', '\'']) => {
                    write!(f, "[{key}={}]", quoted(value))?;
                }
                Step::Item { key, value } => write!(f, "[{key}={value}]")?,
            }
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Step {
        Step::Key(name.to_owned())
    }

    #[test]
    fn a_path_is_read_step_by_step() {
        let path: Path = "spec.images[0][name=app].x".parse().unwrap();
        let item = Step::Item { key: "name".to_owned(), value: "app".to_owned() };
        assert_eq!(path.steps(), [key("spec"), key("images"), Step::Index(0), item, key("x")]);
    }

    #[test]
    fn a_key_with_dots_is_quoted() {
        let path: Path = r#"metadata.annotations["a.b/c"]['d"]'].e"#.parse().unwrap();
        assert_eq!(path.steps(), [key("metadata"), key("annotations"), key("a.b/c"), key("d\"]"), key("e")]);
    }

    #[test]
    fn a_path_prints_as_it_is_read() {
        for text in ["a", "a.b[3]", "a[name=x].b", r#"["a.b"].c"#, r#"a[name="x]"]"#, r#"a["b\"[\\"]"#, "a[0][1]"] {
            assert_eq!(text.parse::<Path>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_broken_path_is_refused_where_it_breaks() {
        for (text, column) in [
            ("", 1),
            (".a", 1),
            ("a.", 3),
            ("a..b", 3),
            ("a[", 3),
            ("a[]", 3),
            ("a[x]", 4),
            ("a[0", 4),
            ("a[0]b", 5),
            ("a[\"b]", 6),
            ("a[b=]", 5),
            ("ü[", 3),
        ] {
            assert_eq!(text.parse::<Path>().unwrap_err().column, column, "{text}");
        }
    }
}
