//! The answer to "why is it not further?".

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{Situation, Weighs};
use weir_ports::Flaw;

use super::{PipelineRef, Release, Step};

/// Why an environment is not further.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    /// The pipeline.
    pipeline: PipelineRef,
    /// The environment.
    environment: String,
    /// `first`, `nothing`, `waits`, `moves` or `arrives`.
    verdict: &'static str,
    /// The verdict as a sentence.
    headline: String,
    /// The release that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<Release>,
    /// The phase of its promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// What will be done next.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
    /// What is wrong with the definition; then what speaks against it, most binding first; then what speaks for it;
    /// then how the targets stand.
    reasons: Vec<Because>,
    /// When time alone changes the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_check: Option<Timestamp>,
}

/// One reason.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Because {
    /// `against`, `for`, or `fact`.
    weighs: &'static str,
    /// The hold, the gate, the target, or `InvalidDefinition`.
    name: String,
    /// What it says.
    sentence: String,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// What would change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Whether it is about the release after the one whose turn it is.
    next: bool,
}

impl From<weir_core::Explanation> for Explanation {
    fn from(it: weir_core::Explanation) -> Self {
        let verdict = match it.verdict {
            Situation::First => "first",
            Situation::Nothing => "nothing",
            Situation::Waits => "waits",
            Situation::Moves => "moves",
            Situation::Arrives => "arrives",
        };
        Self {
            pipeline: (&it.pipeline).into(),
            environment: it.environment.to_string(),
            verdict,
            headline: it.headline(),
            release: it.release.as_ref().map(Release::from),
            phase: it.phase.map(|phase| phase.to_string()),
            step: it.step.as_ref().map(Step::from),
            reasons: it.reasons.into_iter().map(Because::from).collect(),
            next_check: it.next_check,
        }
    }
}

impl Explanation {
    /// The same of a pipeline whose definition cannot be read any more: what it was before is explained.
    pub(crate) fn despite(mut self, unread: &[Flaw]) -> Self {
        let because = |flaw: &Flaw| Because {
            weighs: "fact",
            name: "InvalidDefinition".to_owned(),
            sentence: flaw.told(true),
            since: None,
            remedy: Some("correct the definition".to_owned()),
            next: false,
        };
        self.reasons.splice(..0, unread.iter().map(because));
        self
    }
}

impl From<weir_core::Because> for Because {
    fn from(it: weir_core::Because) -> Self {
        let weighs = match it.weighs {
            Weighs::Against => "against",
            Weighs::For => "for",
            Weighs::Fact => "fact",
        };
        Self { weighs, name: it.name, sentence: it.sentence, since: it.since, remedy: it.remedy, next: it.next }
    }
}
