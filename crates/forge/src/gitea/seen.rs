//! What there is to know about a pull request.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::try_join3;
use jiff::{SignedDuration, Timestamp};
use weir_core::{Checks, CommitId, Review};
use weir_ports::{ForgeError, PullRequest, PullRequestState};

use super::{
    Gitea,
    form::{Branch, Combined, Event, Pull, Reviewed, Status, User},
    pages::Pages,
};

/// The name of what Weir itself shows beside a commit.
pub(super) const CONTEXT: &str = "weir";

impl Gitea<'_> {
    /// A pull request with its checks and reviews, and who ended it.
    pub(super) async fn seen(&self, doing: &'static str, pull: Pull) -> Result<PullRequest, ForgeError> {
        let head = CommitId::new(&pull.head.sha).map_err(|error| self.client.unreadable(doing, error))?;
        let (statuses, reviews, rules) = try_join3(
            self.statuses(doing, &head),
            self.reviews(doing, pull.number),
            self.rules(doing, &pull.base.label, pull.is_open()),
        )
        .await?;
        let state = if pull.merged {
            let by = pull.merged_by.as_ref().and_then(name);
            PullRequestState::Merged { at: pull.merged_at.unwrap_or_else(Timestamp::now), by }
        } else if pull.is_open() {
            PullRequestState::Open
        } else {
            PullRequestState::Closed { by: self.closed_by(doing, &pull).await? }
        };
        let settled = self.client.pace.settled;
        let conflict = pull.is_open() && self.memory.conflicts(self.repository(), &pull, settled);
        Ok(PullRequest {
            id: pull.number.to_string().into(),
            url: pull.html_url.into(),
            state,
            head,
            title: pull.title,
            body: pull.body,
            checks: checks(&statuses, &rules),
            review: review(&reviews, rules.required_approvals),
            conflict,
        })
    }

    /// The last word of every check of a commit, Weir's own among them.
    pub(super) async fn statuses(&self, doing: &'static str, commit: &CommitId) -> Result<Vec<Status>, ForgeError> {
        let mut all = Vec::<Status>::new();
        for page in 1..=20 {
            let page = page.to_string();
            let query = [("limit", "50"), ("page", page.as_str())];
            let answer = self.get(doing, &["commits", commit.as_str(), "status"], &query).await?;
            let combined: Combined = self.read(doing, &answer).await?;
            let before = all.len();
            // Versions that know no pages here say everything every time.
            let new: Vec<_> = combined.statuses.into_iter().filter(|it| !has(&all, &it.context)).collect();
            all.extend(new);
            if all.len() == before || answer.total.is_some_and(|total| all.len() as u64 >= total) {
                break;
            }
        }
        Ok(all)
    }

    async fn reviews(&self, doing: &'static str, number: u64) -> Result<Vec<Reviewed>, ForgeError> {
        let number = number.to_string();
        let path = ["pulls", &number, "reviews"];
        let mut pages = Pages::new(self, doing, &path, &[]);
        let mut all = Vec::new();
        while let Some(page) = pages.next::<Reviewed>().await? {
            all.extend(page);
        }
        Ok(all)
    }

    /// What protects the branch that a pull request goes into. Of one that is over, nothing is of interest.
    async fn rules(&self, doing: &'static str, base: &str, open: bool) -> Result<Branch, ForgeError> {
        if !open {
            return Ok(Branch::default());
        }
        let mut path = vec!["branches"];
        path.extend(base.split('/'));
        let answer = self.get(doing, &path, &[]).await?;
        // A base that is gone protects nothing, and what these credentials cannot read, they cannot wait for.
        if matches!(answer.status.as_u16(), 403 | 404) {
            return Ok(Branch::default());
        }
        self.read(doing, &answer).await
    }

    /// Who closed a pull request, if the forge tells.
    async fn closed_by(&self, doing: &'static str, pull: &Pull) -> Result<Option<Arc<str>>, ForgeError> {
        let number = pull.number.to_string();
        let path = ["issues", &number, "timeline"];
        let since = pull.closed_at.and_then(|at| at.checked_sub(SignedDuration::from_secs(2)).ok());
        let since = since.unwrap_or(Timestamp::UNIX_EPOCH).to_string();
        let query = [("since", since.as_str())];
        let mut pages = Pages::new(self, doing, &path, &query);
        let mut who = None;
        loop {
            match pages.next::<Event>().await {
                Ok(Some(page)) => {
                    who = page.iter().rev().find(|it| it.kind == "close").map(|it| it.user.clone()).or(who);
                }
                Ok(None) => break,
                // Who it was is good to know, and not worth more.
                Err(ForgeError::Unauthorized { .. } | ForgeError::Refused { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(who.flatten().as_ref().and_then(name))
    }
}

fn has(statuses: &[Status], context: &str) -> bool {
    statuses.iter().any(|status| status.context == context)
}

fn name(user: &User) -> Option<Arc<str>> {
    Some(user.login.as_str()).filter(|login| !login.is_empty()).map(Into::into)
}

/// What the checks say, without Weir's own. One that the branch requires and that has not begun is not finished.
fn checks(statuses: &[Status], rules: &Branch) -> Checks {
    let others = || statuses.iter().filter(|status| status.context != CONTEXT);
    let names = |wanted: &[&str]| -> Vec<Arc<str>> {
        others().filter(|it| wanted.contains(&it.says.as_str())).map(|it| it.context.as_str().into()).collect()
    };
    let failing = names(&["failure", "error"]);
    if !failing.is_empty() {
        return Checks::Failing(failing);
    }
    let mut pending = names(&["pending"]);
    let required = rules.status_check_contexts.iter().filter(|_| rules.enable_status_check);
    // Whether a pattern is met is for the forge to say, when it merges.
    let plain = required.filter(|name| !name.contains(['*', '?', '[', '{', '\\']));
    pending.extend(plain.filter(|name| *name != CONTEXT && !has(statuses, name)).map(|name| name.as_str().into()));
    if pending.is_empty() { Checks::Passing } else { Checks::Pending(pending) }
}

/// What the reviewers say at this head. The last word of each counts, if it is official.
fn review(reviews: &[Reviewed], required: u64) -> Review {
    let mut last = BTreeMap::new();
    let mut sorted: Vec<_> = reviews.iter().filter(|it| it.official && !it.dismissed && !it.stale).collect();
    sorted.sort_by_key(|it| it.id);
    for it in sorted {
        let login = it.user.as_ref().map(|user| user.login.as_str());
        if let Some(login) = login.filter(|_| matches!(it.state.as_str(), "APPROVED" | "REQUEST_CHANGES")) {
            last.insert(login, it.state == "APPROVED");
        }
    }
    let approvals = last.values().filter(|approved| **approved).count() as u64;
    if last.values().any(|approved| !approved) {
        Review::ChangesRequested
    } else if approvals < required {
        Review::Required
    } else if approvals > 0 {
        Review::Approved
    } else {
        Review::NotRequired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(context: &str, says: &str) -> Status {
        let (context, says) = (context.to_owned(), says.to_owned());
        Status { context, says, description: String::new(), target_url: String::new() }
    }

    fn names(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn a_check_that_failed_counts_more_than_one_that_has_not_finished() {
        let free = Branch::default();
        let all = [status("lint", "success"), status("slow", "pending"), status("test", "failure")];
        assert_eq!(checks(&all, &free), Checks::Failing(names(&["test"])));
        assert_eq!(checks(&all[..2], &free), Checks::Pending(names(&["slow"])));
        assert_eq!(checks(&all[..1], &free), Checks::Passing);
        assert_eq!(checks(&[status("a", "warning"), status("b", "skipped")], &free), Checks::Passing);
        assert_eq!(checks(&[status("a", "error")], &free), Checks::Failing(names(&["a"])));
        assert_eq!(checks(&[status(CONTEXT, "pending")], &free), Checks::Passing, "that is Weir's own");
    }

    #[test]
    fn a_required_check_that_has_not_begun_is_not_finished() {
        let contexts = ["test", "weir", "ci/*"].map(str::to_owned).into();
        let rules = Branch { enable_status_check: true, status_check_contexts: contexts, ..Branch::default() };
        assert_eq!(checks(&[], &rules), Checks::Pending(names(&["test"])));
        assert_eq!(checks(&[status("test", "success")], &rules), Checks::Passing);
        assert_eq!(checks(&[], &Branch { enable_status_check: false, ..rules }), Checks::Passing);
    }

    fn said(id: u64, who: &str, state: &str) -> Reviewed {
        let (user, state) = (Some(User { login: who.to_owned() }), state.to_owned());
        Reviewed { id, user, state, official: true, stale: false, dismissed: false }
    }

    #[test]
    fn the_last_word_of_every_reviewer_counts() {
        let (yes, no) = ("APPROVED", "REQUEST_CHANGES");
        assert_eq!(review(&[], 0), Review::NotRequired);
        assert_eq!(review(&[], 1), Review::Required);
        assert_eq!(review(&[said(1, "ada", yes)], 0), Review::Approved);
        assert_eq!(review(&[said(1, "ada", yes)], 2), Review::Required);
        assert_eq!(review(&[said(1, "ada", yes), said(2, "ada", yes)], 2), Review::Required);
        assert_eq!(review(&[said(1, "ada", yes), said(2, "bob", yes)], 2), Review::Approved);
        assert_eq!(review(&[said(1, "ada", yes), said(2, "bob", no)], 1), Review::ChangesRequested);
        assert_eq!(review(&[said(2, "ada", yes), said(1, "ada", no)], 1), Review::Approved);
        assert_eq!(review(&[said(1, "ada", no), said(2, "ada", "COMMENT")], 0), Review::ChangesRequested);
    }

    #[test]
    fn what_is_not_official_or_not_about_this_head_does_not_count() {
        let yes = said(1, "ada", "APPROVED");
        assert_eq!(review(&[Reviewed { official: false, ..yes.clone() }], 1), Review::Required);
        assert_eq!(review(&[Reviewed { stale: true, ..yes.clone() }], 1), Review::Required);
        assert_eq!(review(&[Reviewed { dismissed: true, ..yes }], 1), Review::Required);
    }
}
