//! A proposal that Weir keeps itself.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{PlainProposal, PlainState, PromotionKey, Review, Verdict, promotion_name};

use super::{Hold, PipelineRef, Release};

/// A proposal, in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProposalSummary {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
    /// The pipeline.
    pipeline: PipelineRef,
    /// The environment that is entered.
    environment: String,
    /// What is proposed.
    release: Release,
    /// One line.
    title: String,
    /// The commit that is proposed.
    head: String,
    /// When it was opened.
    opened: Timestamp,
    /// What became of it.
    state: State,
    /// What the reviewers of the present head say: `notRequired`, `approved` or `changesRequested`.
    review: &'static str,
    /// Who wants the present head merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_asked_by: Option<String>,
}

/// What became of a proposal.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct State {
    /// `open`, `merged` or `closed`.
    name: &'static str,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// Who ended it. Missing: Weir's own decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// The commit on the base branch that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Why it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// All of a proposal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProposalView {
    #[serde(flatten)]
    summary: ProposalSummary,
    /// The repository, without credentials.
    repository: String,
    /// The branch that it would be merged into.
    base: String,
    /// The branch with the change.
    branch: String,
    /// The commit that it builds on.
    parent: String,
    /// The explanation, in Markdown.
    body: String,
    /// What it changes.
    edits: Vec<Edit>,
    /// What reviewers said, oldest first.
    reviews: Vec<Reviewed>,
    /// What people wrote, oldest first.
    comments: Vec<Commented>,
    /// What holds its promotion now.
    holds: Vec<Hold>,
    /// The name of the promotion that it is for by now: a newer one may have taken it over.
    promotion: String,
    /// How its release stands to what runs, while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<String>,
}

/// One value that a proposal changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Edit {
    /// The file.
    file: String,
    /// What stands there.
    before: String,
    /// What shall stand there.
    after: String,
}

/// What one reviewer said.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Reviewed {
    /// Who.
    by: String,
    /// `approved` or `changesRequested`.
    verdict: &'static str,
    /// The commit that was reviewed.
    head: String,
    /// When.
    at: Timestamp,
    /// Why, in their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What one person wrote.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Commented {
    /// Who.
    by: String,
    /// What, in Markdown.
    body: String,
    /// When.
    at: Timestamp,
}

/// What reviewers say, in a word.
pub(super) fn review(review: Review) -> &'static str {
    match review {
        Review::NotRequired => "notRequired",
        Review::Required => "required",
        Review::Approved => "approved",
        Review::ChangesRequested => "changesRequested",
    }
}

impl From<&PlainState> for State {
    fn from(state: &PlainState) -> Self {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        match state {
            PlainState::Open => Self { name: "open", at: None, by: None, commit: None, note: None },
            PlainState::Merged { at, by, commit } => {
                Self { name: "merged", at: Some(*at), by: text(by), commit: Some(commit.to_string()), note: None }
            }
            PlainState::Closed { at, by, note } => {
                Self { name: "closed", at: Some(*at), by: text(by), commit: None, note: text(note) }
            }
        }
    }
}

impl From<&PlainProposal> for ProposalSummary {
    fn from(it: &PlainProposal) -> Self {
        Self {
            namespace: it.key.pipeline.namespace.to_string(),
            name: promotion_name(&it.key),
            pipeline: (&it.key.pipeline).into(),
            environment: it.key.environment.to_string(),
            release: (&it.release).into(),
            title: it.title.clone(),
            head: it.head.to_string(),
            opened: it.opened,
            state: (&it.state).into(),
            review: review(it.review()),
            merge_asked_by: it.merge_asked_by().map(ToString::to_string),
        }
    }
}

impl ProposalView {
    /// All of a proposal, with what holds it, and how it stands to what runs. `of` is the promotion that it is for by now.
    pub(crate) fn new(
        it: &PlainProposal,
        of: Option<&PromotionKey>,
        holds: Vec<Hold>,
        relation: Option<String>,
    ) -> Self {
        let edit = |edit: &weir_core::Edit| Edit {
            file: edit.file.to_string(),
            before: edit.before.to_string(),
            after: edit.after.to_string(),
        };
        let reviewed = |review: &weir_core::PlainReview| Reviewed {
            by: review.by.to_string(),
            verdict: match review.verdict {
                Verdict::Approved => "approved",
                Verdict::ChangesRequested => "changesRequested",
            },
            head: review.head.to_string(),
            at: review.at,
            why: review.why.as_deref().map(str::to_owned),
        };
        let commented = |comment: &weir_core::Comment| Commented {
            by: comment.by.to_string(),
            body: comment.body.to_string(),
            at: comment.at,
        };
        Self {
            summary: it.into(),
            repository: it.repository.to_string(),
            base: it.base.to_string(),
            branch: it.branch.to_string(),
            parent: it.parent.to_string(),
            body: it.body.clone(),
            edits: it.edits.iter().map(edit).collect(),
            reviews: it.reviews.iter().map(reviewed).collect(),
            comments: it.comments.iter().map(commented).collect(),
            holds,
            promotion: promotion_name(of.unwrap_or(&it.key)),
            relation,
        }
    }
}
