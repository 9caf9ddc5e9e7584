//! What is wrong with definitions.

use std::fmt;

use weir_core::PipelineKey;

/// Something that is wrong with the definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The pipelines that it is about, as far as that is known.
    pub pipelines: Vec<PipelineKey>,
    /// Whether it keeps a definition from being read. If not, the definition is read, and has no effect.
    pub unread: bool,
    /// Where it is, if the problem does not say that.
    pub place: Option<String>,
    /// What is wrong.
    pub problem: String,
}

impl Flaw {
    /// A definition that is about no pipeline that is known, or has no effect on one.
    pub fn remark(pipelines: Vec<PipelineKey>, problem: impl Into<String>) -> Self {
        Self { pipelines, unread: false, place: None, problem: problem.into() }
    }

    /// What is wrong, and what counts meanwhile: whether a definition from before is still in force.
    pub fn told(&self, is_in_force: bool) -> String {
        let meanwhile =
            if is_in_force { "the definition before it is still in force" } else { "no definition is in force" };
        format!("{}; {meanwhile}", self.problem)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}
