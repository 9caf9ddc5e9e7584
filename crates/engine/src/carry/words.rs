//! What a commit and a proposal say about themselves.

use std::fmt::Write as _;

use jiff::Timestamp;
use weir_core::{
    BranchName, Edit, NameError, Pipeline, PipelineKey, Promotion, PromotionKey, Release, Snapshot, TargetRecord,
    Weighs, explain,
};

/// The branch of a proposal, as the Weave controller named it, if Git takes such a name.
pub(super) fn branch(key: &PromotionKey) -> Result<BranchName, NameError> {
    let plain = format!("promotion-{}-{}-{}", key.pipeline.namespace, key.pipeline.name, key.environment);
    BranchName::new(plain).or_else(|_| other_branch(key))
}

/// Whether a branch could be one of this pipeline's.
pub(super) fn may_name(branch: &BranchName, pipeline: &PipelineKey) -> bool {
    let rest = branch.as_str().strip_prefix("promotion-").unwrap_or_default();
    let rest = rest.strip_prefix(pipeline.namespace.as_str()).and_then(|rest| rest.strip_prefix('-'));
    let rest = rest.and_then(|rest| rest.strip_prefix(pipeline.name.as_str()));
    rest.is_some_and(|rest| rest.starts_with('-'))
}

/// The branch of a proposal when another pipeline has taken the plain name: `a-b/c` and `a/b-c` make the same one.
pub(super) fn other_branch(key: &PromotionKey) -> Result<BranchName, NameError> {
    let whole = format!("{}/{}/{}", key.pipeline.namespace, key.pipeline.name, key.environment);
    let name: String = key.pipeline.name.as_str().chars().take(100).collect();
    BranchName::new(format!("promotion-{name}-{:08x}", fingerprint(&whole)))
}

/// FNV-1a: tells names apart and is the same in every version and on every machine.
fn fingerprint(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

pub(super) fn title(promotion: &Promotion) -> String {
    let Promotion { key, release, .. } = promotion;
    format!("Promote {} {} to {}", key.pipeline.name, short(release), key.environment)
}

/// The title of a pull request, as the Weave controller wrote it.
pub(super) fn pull_request_title(promotion: &Promotion) -> String {
    let Promotion { key, release, .. } = promotion;
    format!("Promote {} in {} to {}", key.pipeline, key.environment, short(release))
}

/// What the text of every proposal into an environment contains, and of no other.
pub(super) fn sign(key: &PromotionKey) -> String {
    format!("<!-- weir: {}/{} #", key.pipeline, key.environment)
}

/// Whose turn it is. The number alone does not tell: a pipeline that is deleted and made again begins anew with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    ordinal: u64,
    /// When it began, in seconds.
    begun: i64,
}

impl Turn {
    pub(super) fn of(promotion: &Promotion) -> Self {
        let begun = promotion.history.first().map(|turn| turn.at.as_second()).unwrap_or_default();
        Self { ordinal: promotion.key.ordinal, begun }
    }

    /// Whether it comes after another of the same pipeline. What an earlier pipeline of that name left comes after none.
    pub(super) fn is_after(self, other: Self) -> bool {
        self.ordinal > other.ordinal && self.begun >= other.begun
    }
}

/// What the text of the proposal of one promotion contains, and of no other.
pub(super) fn mark(promotion: &Promotion) -> String {
    let Turn { ordinal, begun } = Turn::of(promotion);
    format!("{}{ordinal} since {begun} -->", sign(&promotion.key))
}

/// Whose turn the text of a proposal into the same environment speaks of.
pub(super) fn turn(key: &PromotionKey, body: &str) -> Option<Turn> {
    let (ordinal, begun) = body.rsplit_once(&sign(key))?.1.split_once(" -->")?.0.split_once(" since ")?;
    Some(Turn { ordinal: ordinal.parse().ok()?, begun: begun.parse().ok()? })
}

/// One revision if that is all there is to say.
fn short(release: &Release) -> String {
    release.single().map_or_else(|| release.to_string(), ToString::to_string)
}

/// The message of a commit. It holds nothing that changes from one attempt to the next.
pub(super) fn message(promotion: &Promotion, edits: &[Edit]) -> String {
    let mut text = title(promotion);
    text.push_str("\n\n");
    for edit in edits {
        let _ = writeln!(text, "{}: {} becomes {}", edit.file, edit.before, edit.after);
    }
    if let Some(by) = &promotion.requested_by {
        let _ = write!(text, "\nAsked for by {}.\n", by.name);
    }
    let _ = write!(text, "\nWeir-Promotion: {}\n", promotion.key);
    text
}

/// Where the explanation of a proposal comes from.
pub(super) struct Source<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: Timestamp,
    /// Where people look at the pipeline.
    pub(super) page: Option<String>,
}

/// The explanation of a proposal, in Markdown: what changes, where, why it may, and what it leaves out.
pub(super) fn body(promotion: &Promotion, edits: &[Edit], source: &Source<'_>) -> String {
    let Promotion { key, from, release, skips, .. } = promotion;
    let Source { pipeline, snapshot, now, page } = source;
    let now = *now;
    let mut text =
        format!("Brings `{}` of pipeline `{}` from {from} to {}.\n\n", short(release), key.pipeline, key.environment);
    text.push_str("| file | now | then |\n|---|---|---|\n");
    for edit in edits {
        let _ = writeln!(text, "| `{}` | `{}` | `{}` |", edit.file, edit.before, edit.after);
    }
    text.push_str(&targets(promotion, source));
    text.push_str(&healthy(promotion, source));
    let because = explain(pipeline, snapshot, &key.environment, now);
    let open: Vec<_> = because
        .iter()
        .flat_map(|it| &it.reasons)
        .filter(|reason| reason.weighs == Weighs::For)
        .map(|reason| format!("- {}: {}\n", reason.name, reason.sentence))
        .collect();
    if !open.is_empty() {
        let _ = write!(text, "\nIt may enter because:\n\n{}", open.concat());
    }
    let ours = promotion.approvals.iter().filter(|approval| approval.release == *release);
    for approval in ours {
        let _ = write!(text, "\nApproved by {} at {}.\n", approval.by.name, seconds(approval.at));
    }
    if let Some(by) = &promotion.requested_by {
        let _ = write!(text, "\nAsked for by {}.\n", by.name);
    }
    if !skips.is_empty() {
        let skipped: Vec<_> = skips.iter().map(|skipped| format!("`{}`", short(skipped))).collect();
        let _ = write!(text, "\nReleases that it takes the place of: {}.\n", skipped.join(", "));
    }
    // An address of this machine tells others nothing.
    if let Some(page) = page.as_ref().filter(|page| !["127.0.0.1", "localhost"].iter().any(|it| page.contains(it))) {
        let _ = write!(text, "\nWhat holds it, and what else is on its way: {page}\n");
    }
    // The path in it is how the Weave controller and its programs find the pull request of an environment.
    let path = format!("{}/{}", key.pipeline, key.environment);
    let _ = write!(
        text,
        "\n<details><summary>metadata</summary>\n\n!!! DO NOT EDIT !!!\n\n{path}\n\n{}\n</details>\n",
        mark(promotion)
    );
    text
}

/// What every target of the environment runs now.
fn targets(promotion: &Promotion, source: &Source<'_>) -> String {
    let Some(environment) = source.pipeline.environment(&promotion.key.environment) else { return String::new() };
    let record = source.snapshot.environments.get(&environment.name);
    let then = short(&promotion.release);
    let mut text = "\n| target | runs | then |\n|---|---|---|\n".to_owned();
    for target in &environment.targets {
        let known = record.and_then(|record| record.targets.get(target)).and_then(|known| known.release.as_ref());
        let runs = known.map_or_else(|| "-".to_owned(), |release| format!("`{}`", short(release)));
        let _ = writeln!(text, "| `{target}` | {runs} | `{then}` |");
    }
    if environment.targets.is_empty() { String::new() } else { text }
}

/// Where the release has been healthy in the environment before, and since when.
fn healthy(promotion: &Promotion, source: &Source<'_>) -> String {
    let record = source.snapshot.environments.get(&promotion.from);
    let runs = |known: &&TargetRecord| known.release.as_ref().is_some_and(|it| it.covers(&promotion.release));
    let mut text = String::new();
    for (target, known) in record.into_iter().flat_map(|record| &record.targets).filter(|(_, known)| runs(known)) {
        if let Some(since) = known.healthy_since {
            let _ = writeln!(text, "- `{target}`, since {}", seconds(since));
        }
    }
    if text.is_empty() { text } else { format!("\nHealthy in {} on:\n\n{text}", promotion.from) }
}

/// A time as people read it.
fn seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pipeline: &str, environment: &str) -> PromotionKey {
        let (pipeline, environment) = (pipeline.parse().unwrap(), environment.parse().unwrap());
        PromotionKey { pipeline, environment, ordinal: 1 }
    }

    #[test]
    fn pipelines_whose_branches_would_be_the_same_can_be_told_apart() {
        let (one, other) = (key("a-b/c", "prod"), key("a/b-c", "prod"));
        assert_eq!(branch(&one).unwrap(), branch(&other).unwrap());
        for pipeline in [&one.pipeline, &other.pipeline] {
            assert!(may_name(&branch(&one).unwrap(), pipeline));
        }
        assert!(!may_name(&branch(&one).unwrap(), &key("a/x", "prod").pipeline));
        assert_ne!(other_branch(&one).unwrap(), other_branch(&other).unwrap());
    }

    #[test]
    fn the_text_of_a_proposal_tells_whose_turn_it_is() {
        let (prod, other) = (key("default/app", "prod"), key("default/app", "prod-eu"));
        let of = |key: &PromotionKey, turn: &str| format!("{}{turn} -->", sign(key));
        let body = format!("about {} and\n{}\n", of(&other, "1 since 5"), of(&prod, "12 since 70"));
        let (twelfth, first) = (Turn { ordinal: 12, begun: 70 }, Turn { ordinal: 1, begun: 5 });
        assert_eq!(turn(&prod, &body), Some(twelfth));
        assert_eq!(turn(&other, &body), Some(first));
        assert_eq!(turn(&key("default/web", "prod"), &body), None);
        assert!(twelfth.is_after(first) && !first.is_after(twelfth));
        assert!(!twelfth.is_after(Turn { ordinal: 1, begun: 71 }), "an earlier pipeline left it");
    }

    #[test]
    fn a_name_that_git_does_not_take_is_made_into_one() {
        for (pipeline, environment) in [("default/app", "x.lock"), (&*format!("default/{}", "a".repeat(253)), "prod")] {
            assert!(branch(&key(pipeline, environment)).is_ok(), "{pipeline} {environment}");
        }
    }
}
