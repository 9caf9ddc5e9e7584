//! What the commit and the pull request of a draft say.

use std::fmt::Write as _;

use weir_core::{Environment, Pipeline, PipelineKey, Strategy};

use super::Draft;
use crate::people::Asked;

/// What the last line of a draft's commit begins with.
const TRAILER: &str = "Weir-Draft: ";
const ASKED: &str = "Asked for by ";

pub(super) fn title(key: &PipelineKey) -> String {
    format!("Define pipeline {key}")
}

/// Who asked, and why, as a commit can hold it.
pub(super) fn asked(asked: &Asked) -> (String, Option<String>) {
    let fits = |c: &char| *c == '\n' || !c.is_control();
    let by = asked.by.name.chars().filter(|c| !c.is_control()).collect();
    let why = asked.why.as_deref().map(|why| why.trim().chars().filter(fits).collect::<String>());
    (by, why.filter(|why| !why.is_empty()))
}

/// The message of a commit. It tells everything about a draft that the file does not.
pub(super) fn message(key: &PipelineKey, by: &str, why: Option<&str>) -> String {
    let why = why.map(|why| format!("{why}\n\n")).unwrap_or_default();
    format!("{}\n\n{why}{ASKED}{by}.\n\n{TRAILER}{key}", title(key))
}

/// Who asked, and why, as the message of a commit tells it. `None`: Weir did not write it.
pub(super) fn read(key: &PipelineKey, message: &str) -> Option<(String, Option<String>)> {
    let inner = message.strip_prefix(&title(key))?.strip_prefix("\n\n")?;
    let inner = inner.strip_suffix(&format!("\n\n{TRAILER}{key}"))?.strip_suffix('.')?;
    let (why, last) = inner.rsplit_once("\n\n").map_or((None, inner), |(why, last)| (Some(why), last));
    Some((last.strip_prefix(ASKED)?.to_owned(), why.map(str::to_owned)))
}

/// What the text of every pull request that defines a pipeline contains, and of no other.
pub(super) fn sign(key: &PipelineKey) -> String {
    format!("<!-- weir: define {key} #")
}

/// What the text of the pull request of one commit contains, and of no other.
pub(super) fn once(draft: &Draft) -> String {
    format!("{}{} -->", sign(&draft.key), draft.head)
}

/// What a reviewer wants to know, in Markdown.
pub(super) fn body(draft: &Draft, pipeline: &Pipeline) -> String {
    let mut text =
        format!("Defines pipeline `{}` in `{}`.\n\nAsked for by {}", draft.key, draft.file, plain(&draft.by));
    match &draft.why {
        Some(why) => {
            text.push_str(":\n\n");
            for line in why.lines() {
                let _ = writeln!(text, "> {}", plain(line));
            }
        }
        None => text.push_str(".\n"),
    }
    text.push_str("\nThe environments, in the order in which a release passes through them:\n\n");
    text.push_str("| | environment | targets | how a release gets in |\n|---|---|---|---|\n");
    for (number, environment) in (1..).zip(pipeline.environments()) {
        let targets: Vec<_> = environment.targets.iter().map(|target| format!("`{target}`")).collect();
        let _ = writeln!(
            text,
            "| {number} | {} | {} | {} |",
            environment.name,
            targets.join(", "),
            if number == 1 { "it is deployed there".to_owned() } else { way(environment) }
        );
    }
    let _ = write!(text, "\n{}\n", once(draft));
    text
}

/// How a release gets into an environment, in a few words.
fn way(environment: &Environment) -> String {
    match environment.promotion.as_ref().map(|policy| &policy.strategy) {
        Some(Strategy::PullRequest(it)) => format!("a proposal for `{}`", it.repository.url),
        Some(Strategy::Push(repository)) => format!("a push to `{}`", repository.url),
        Some(Strategy::Notification) => "a notification".to_owned(),
        None => "not by Weir".to_owned(),
    }
}

/// What somebody wrote, so that it cannot pass for ours.
fn plain(text: &str) -> String {
    text.replace("<!--", "&lt;!--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asked_and_why_is_read_as_it_was_written() {
        let key: PipelineKey = "team/app".parse().unwrap();
        let why = "Asked for by nobody.\n\nWeir-Draft: team/app\n\nA second line.";
        for why in [None, Some("it is time"), Some(why)] {
            let read = read(&key, &message(&key, "system:serviceaccount:a:b", why)).unwrap();
            assert_eq!(read, ("system:serviceaccount:a:b".to_owned(), why.map(str::to_owned)));
        }
        for other in ["Define pipeline team/app", "by hand", &message(&"team/web".parse().unwrap(), "a", None)] {
            assert_eq!(read(&key, other), None, "{other}");
        }
    }
}
