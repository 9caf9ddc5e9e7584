//! A proposal that Weir keeps itself, from its object and into it. Nothing is lost either way, but for credentials in
//! the repository's address.

use jiff::Timestamp;
use serde_json::{Map, Value};
use weir_core::{
    BranchName, CommitId, Edit, EnvironmentName, Name, PipelineKey, PlainProposal, PlainState, PromotionKey, RepoUrl,
    promotion_name,
};

use super::{
    Problems, namespace_of,
    promotion::{members, records},
};
use crate::{
    kinds::{Address, Proposal, ProposalEdit, ProposalSpec, ProposalState, ProposalStatus},
    validate::Violation,
};

impl Proposal {
    /// The record that reviewers act on.
    pub fn to_core(&self) -> Result<PlainProposal, Vec<Violation>> {
        let mut problems = Problems::default();
        let (spec, status) = (&self.spec, self.status.clone().unwrap_or_default());
        let key = key(self, &mut problems);
        let repository = problems.name("spec.repository", RepoUrl::new(&spec.repository.0));
        let base = problems.name("spec.base", BranchName::new(&spec.base));
        let branch = problems.name("spec.branch", BranchName::new(&spec.branch));
        let parent = problems.name("spec.parent", CommitId::new(&spec.parent));
        let head = problems.name("spec.head", CommitId::new(&spec.head));
        let release = problems.json("spec.release", &serde_json::json!(spec.release));
        let opened = status.opened.as_deref().unwrap_or_default();
        let opened = problems.check("status.opened", opened.parse::<Timestamp>());
        let state = state(&status, &mut problems);
        let merge = status.merge.as_ref().and_then(|it| problems.json("status.merge", it));
        let reviews = problems.json("status.reviews", &Value::Array(status.reviews.unwrap_or_default()));
        let comments = problems.json("status.comments", &Value::Array(status.comments.unwrap_or_default()));
        let found = (|| {
            Some(PlainProposal {
                key: key?,
                repository: repository?,
                base: base?,
                branch: branch?,
                parent: parent?,
                head: head?,
                release: release?,
                edits: spec.edits.iter().flatten().map(edit).collect(),
                title: spec.title.clone(),
                body: spec.body.clone().unwrap_or_default(),
                opened: opened?,
                state: state?,
                merge,
                reviews: reviews?,
                comments: comments?,
            })
        })();
        problems.or(found)
    }

    /// The object that keeps the record.
    pub fn from_core(proposal: &PlainProposal) -> Self {
        let written = |edit: &Edit| ProposalEdit {
            file: edit.file.to_string(),
            before: edit.before.to_string(),
            after: edit.after.to_string(),
        };
        let edits: Vec<_> = proposal.edits.iter().map(written).collect();
        let spec = ProposalSpec {
            pipeline: proposal.key.pipeline.name.to_string(),
            environment: proposal.key.environment.to_string(),
            ordinal: i64::try_from(proposal.key.ordinal).unwrap_or(i64::MAX),
            repository: Address(proposal.repository.to_string()),
            base: proposal.base.to_string(),
            branch: proposal.branch.to_string(),
            parent: proposal.parent.to_string(),
            head: proposal.head.to_string(),
            release: members(&proposal.release),
            edits: (!edits.is_empty()).then_some(edits),
            title: proposal.title.clone(),
            body: (!proposal.body.is_empty()).then(|| proposal.body.clone()),
        };
        let (state, ended) = match serde_json::to_value(&proposal.state) {
            Ok(Value::Object(fields)) => match &proposal.state {
                PlainState::Merged { .. } => (ProposalState::Merged, fields.into_iter().next().map(|(_, it)| it)),
                _ => (ProposalState::Closed, fields.into_iter().next().map(|(_, it)| it)),
            },
            _ => (ProposalState::Open, None),
        };
        let mut object = Self::new(&promotion_name(&proposal.key), spec);
        object.metadata.namespace = Some(proposal.key.pipeline.namespace.to_string());
        object.status = Some(ProposalStatus {
            state,
            opened: Some(proposal.opened.to_string()),
            ended,
            merge: proposal.merge.as_ref().and_then(|wish| serde_json::to_value(wish).ok()),
            reviews: records(&proposal.reviews),
            comments: records(&proposal.comments),
        });
        object
    }
}

fn key(object: &Proposal, problems: &mut Problems) -> Option<PromotionKey> {
    let spec = &object.spec;
    let namespace = namespace_of(&object.metadata, problems);
    let name = problems.name("spec.pipeline", Name::new(&spec.pipeline));
    let environment = problems.name("spec.environment", EnvironmentName::new(&spec.environment));
    let ordinal = problems.check("spec.ordinal", u64::try_from(spec.ordinal).map_err(|_| "allowed: at least 0"));
    let pipeline = PipelineKey { namespace: namespace?, name: name? };
    Some(PromotionKey { pipeline, environment: environment?, ordinal: ordinal? })
}

fn edit(edit: &ProposalEdit) -> Edit {
    Edit { file: edit.file.as_str().into(), before: edit.before.as_str().into(), after: edit.after.as_str().into() }
}

/// The core tells the states apart by a name around what it knows of the end.
fn state(status: &ProposalStatus, problems: &mut Problems) -> Option<PlainState> {
    let name = match status.state {
        ProposalState::Open => return Some(PlainState::Open),
        ProposalState::Merged => "merged",
        ProposalState::Closed => "closed",
    };
    let ended = status.ended.clone().unwrap_or_default();
    problems.json("status.ended", &Value::Object(Map::from_iter([(name.to_owned(), ended)])))
}
