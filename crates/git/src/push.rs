//! Branches moved on the server, several at a time.
//!
//! Whoever gets the turn waits a moment, takes all pushes that came meanwhile with the same credentials, and answers
//! each of them. Nothing runs on its own: if the one whose turn it is stops waiting, the others find themselves
//! unanswered and queue again.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use tokio::sync::{Mutex as Turn, oneshot};
use weir_core::CommitId;
use weir_ports::{Doing, Push, Pushed, RepoAccess, RepoError};

use crate::{
    fault::{Fault, gist},
    look::reference,
    program::{Call, Git},
    repos::Repository,
    sign_in::{Fingerprint, SignIn},
};

/// More branches than anybody moves at once, and far fewer than the arguments of a program can name.
const MOST: usize = 128;

/// Pushes that wait for their turn.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Mutex<Vec<Waiting>>,
    turn: Turn<()>,
}

struct Waiting {
    push: Push,
    who: Fingerprint,
    answer: oneshot::Sender<Result<Pushed, RepoError>>,
}

impl Queue {
    fn add(&self, push: &Push, who: Fingerprint) -> oneshot::Receiver<Result<Pushed, RepoError>> {
        let (answer, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Waiting { push: push.clone(), who, answer });
        receiver
    }

    /// Takes what goes out together: the same credentials, and every branch once.
    fn take(&self, who: Fingerprint) -> Vec<Waiting> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|one| !one.answer.is_closed());
        let mut branches = BTreeSet::new();
        let together =
            |one: &mut Waiting| one.who == who && branches.len() < MOST && branches.insert(one.push.branch.clone());
        waiting.extract_if(.., together).collect()
    }
}

impl Repository {
    /// Moves a branch, together with others.
    pub(crate) async fn push(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        push: &Push,
    ) -> Result<Pushed, RepoError> {
        loop {
            let mut answer = self.queue.add(push, sign_in.fingerprint);
            let turn = tokio::select! {
                biased;
                answered = &mut answer => match answered {
                    Ok(answered) => return answered,
                    // Whoever had the turn has gone.
                    Err(_) => continue,
                },
                turn = self.queue.turn.lock() => turn,
            };
            if let Ok(answered) = answer.try_recv() {
                return answered;
            }
            tokio::time::sleep(git.settings.gather).await;
            let together = self.queue.take(sign_in.fingerprint);
            let pushes: Vec<&Push> = together.iter().map(|one| &one.push).collect();
            let answers = self.push_all(git, sign_in, access, &pushes).await;
            for (one, answered) in together.into_iter().zip(answers) {
                // Who no longer waits does not want to know.
                let _ = one.answer.send(answered);
            }
            drop(turn);
            if let Ok(answered) = answer.try_recv() {
                return answered;
            }
        }
    }

    /// Pushes together what can go together, and alone what was refused or lost because of others.
    async fn push_all(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        pushes: &[&Push],
    ) -> Vec<Result<Pushed, RepoError>> {
        let generation = self.cache.generation();
        let mut verdicts = self.push_once(git, sign_in, pushes).await;
        if pushes.len() > 1 {
            for (push, verdict) in pushes.iter().zip(&mut verdicts) {
                if verdict.may_be_for_others() {
                    *verdict = self.push_once(git, sign_in, &[push]).await.pop().unwrap_or(Verdict::Done(Pushed::Now));
                }
            }
        }
        let stale: Vec<_> = pushes
            .iter()
            .zip(&verdicts)
            .filter(|(_, verdict)| matches!(verdict, Verdict::Stale))
            .map(|(push, _)| push.branch.clone())
            .collect();
        let heads = if stale.is_empty() { Ok(None) } else { self.look(git, sign_in, &stale).await };
        let heads = heads.map(|heads| stale.into_iter().zip(heads.unwrap_or_default()).collect::<HashMap<_, _>>());
        let mut answers = Vec::with_capacity(pushes.len());
        for (push, verdict) in pushes.iter().zip(verdicts) {
            let verdict = match (verdict, &heads) {
                (Verdict::Stale, Ok(heads)) => Ok(heads.get(&push.branch).cloned().flatten()),
                (Verdict::Stale, Err(fault)) => Err(Verdict::Fault(fault.clone())),
                (verdict, _) => Err(verdict),
            };
            answers.push(match verdict {
                Ok(now) => stale_answer(access, push, now),
                Err(verdict) => self.answer(git, sign_in, access, push, verdict, generation).await,
            });
        }
        answers
    }

    async fn answer(
        &self,
        git: &Git,
        sign_in: &SignIn,
        access: &RepoAccess,
        push: &Push,
        verdict: Verdict,
        generation: u64,
    ) -> Result<Pushed, RepoError> {
        let repository = access.url.clone();
        let fault = match verdict {
            Verdict::Done(pushed) => return Ok(pushed),
            Verdict::Stale => return Ok(Pushed::Before),
            Verdict::Refused(reason) => {
                return Err(RepoError::Protected { repository, branch: push.branch.clone(), reason });
            }
            Verdict::Fault(fault) => fault,
        };
        match (self.heed(sign_in, Err::<(), _>(fault)), &push.commit) {
            // What was prepared was in the cache only. It has to be prepared again.
            (Err(Fault::Damaged(_)), Some(commit)) => {
                let renewed = self.cache.renew(git, commit, generation).await;
                renewed.map_err(|fault| fault.into_error(Doing::Pushing, &access.url))?;
                Err(RepoError::NoCommit { repository, doing: Doing::Pushing, commit: commit.clone() })
            }
            (Err(Fault::NoCommit(_)), Some(commit)) => {
                Err(RepoError::NoCommit { repository, doing: Doing::Pushing, commit: commit.clone() })
            }
            (Err(fault), _) => Err(fault.into_error(Doing::Pushing, &access.url)),
            (Ok(()), _) => Ok(Pushed::Now),
        }
    }

    /// One push of some branches. A verdict for each.
    ///
    /// A commit whose parent is no branch's head any more is sent with all its files, as the cache knows nothing that
    /// the server would name. It is right, only larger.
    async fn push_once(&self, git: &Git, sign_in: &SignIn, pushes: &[&Push]) -> Vec<Verdict> {
        let outcome = self.try_push(git, sign_in, pushes).await;
        let (lines, fault) = match outcome {
            Ok(outcome) => outcome,
            Err(fault) => (HashMap::new(), fault),
        };
        let verdict = |push: &&Push| lines.get(&reference(&push.branch)).cloned().flatten();
        pushes.iter().map(|push| verdict(push).unwrap_or_else(|| Verdict::Fault(fault.clone()))).collect()
    }

    async fn try_push(
        &self,
        git: &Git,
        sign_in: &SignIn,
        pushes: &[&Push],
    ) -> Result<(HashMap<String, Option<Verdict>>, Fault), Fault> {
        let Some(like) = pushes.iter().find_map(|push| push.commit.as_ref().or(push.expect.as_ref())) else {
            return Err(Fault::Other("a branch that does not exist cannot be removed".into()));
        };
        let _shared = self.cache.share(git, like).await?;
        let mut call = Call::new(["push", "--porcelain", "--no-progress", "--no-verify", "--no-atomic"]);
        for push in pushes {
            let expect = push.expect.as_ref().map_or("", CommitId::as_str);
            call.argument(format!("--force-with-lease={}:{expect}", reference(&push.branch)));
        }
        call.argument("--");
        call.argument(&sign_in.address.url);
        for push in pushes {
            let commit = push.commit.as_ref().map_or("", CommitId::as_str);
            call.argument(format!("{commit}:{}", reference(&push.branch)));
        }
        let output = git.run(call.within(&self.cache.path).signed_in(sign_in)).await?;
        let reason = gist(&output.stderr);
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter_map(|line| verdict(line, &reason)).collect();
        Ok((lines, Fault::told(&output.stderr, &sign_in.address.url)))
    }
}

fn stale_answer(access: &RepoAccess, push: &Push, now: Option<CommitId>) -> Result<Pushed, RepoError> {
    let (repository, branch) = (access.url.clone(), push.branch.clone());
    match now {
        now if now == push.commit => Ok(Pushed::Before),
        Some(now) => Err(RepoError::Moved { repository, branch, now }),
        None => Err(RepoError::NoBranch { repository, branch }),
    }
}

/// What became of one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Done(Pushed),
    /// It was not where it was expected to be.
    Stale,
    /// The server does not want it.
    Refused(String),
    /// Git did not get so far.
    Fault(Fault),
}

impl Verdict {
    /// Whether it might have gone well alone: a hook refuses a push as a whole, and so does Git if it cannot make sense
    /// of a part of it.
    fn may_be_for_others(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Fault(Fault::Other(_) | Fault::NoCommit(_) | Fault::Damaged(_)))
    }
}

/// A line of `git push --porcelain`: a flag, `from:to`, and a summary, between tabs. Without a verdict if the branch
/// did not get as far as the server.
fn verdict(line: &str, told: &str) -> Option<(String, Option<Verdict>)> {
    let mut fields = line.splitn(3, '\t');
    let (flag, names, summary) = (fields.next()?, fields.next()?, fields.next()?);
    let name = names.rsplit_once(':')?.1.to_owned();
    let verdict = match flag {
        "=" => Some(Verdict::Done(Pushed::Before)),
        " " | "+" | "-" | "*" => Some(Verdict::Done(Pushed::Now)),
        "!" => refusal(summary, told),
        _ => return None,
    };
    Some((name, verdict))
}

fn refusal(summary: &str, told: &str) -> Option<Verdict> {
    // What a server says when somebody else came between our look and our push.
    const RACES: [&str; 5] =
        ["stale info", "incorrect old value", "cannot lock ref", "failed to update ref", "fetch first"];
    const LOST: [&str; 4] = ["failed to report status", "unexpected disconnect", "unpacker error", "no match"];
    if RACES.iter().any(|race| summary.contains(race)) {
        return Some(Verdict::Stale);
    }
    if LOST.iter().any(|lost| summary.contains(lost)) {
        return None;
    }
    let why = summary.rsplit_once('(').map_or(summary, |(_, why)| why.trim_end_matches(')'));
    let told: Vec<&str> = told.split("; ").filter_map(|part| part.strip_prefix("remote:")).map(str::trim).collect();
    let told = told.join(" ");
    Some(Verdict::Refused(if told.is_empty() { why.to_owned() } else { format!("{why}: {told}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_push_has_its_verdict() {
        let of = |line: &str| verdict(line, "").map(|(name, verdict)| (name, verdict.unwrap()));
        let main = || "refs/heads/main".to_owned();
        assert_eq!(of(" \tabc:refs/heads/main\t1..2"), Some((main(), Verdict::Done(Pushed::Now))));
        assert_eq!(of("=\tabc:refs/heads/main\t[up to date]"), Some((main(), Verdict::Done(Pushed::Before))));
        assert_eq!(of("-\t:refs/heads/main\t[deleted]"), Some((main(), Verdict::Done(Pushed::Now))));
        assert_eq!(of("!\tabc:refs/heads/main\t[rejected] (stale info)"), Some((main(), Verdict::Stale)));
        assert_eq!(
            of("!\tabc:refs/heads/main\t[remote rejected] (hook declined)"),
            Some((main(), Verdict::Refused("hook declined".into())))
        );
        assert_eq!(of("To file:///x"), None);
        assert_eq!(of("Done"), None);
    }

    #[test]
    fn a_branch_that_got_no_answer_has_no_verdict() {
        let line = "!\tabc:refs/heads/main\t[remote failure] (remote failed to report status)";
        assert_eq!(verdict(line, ""), Some(("refs/heads/main".into(), None)));
    }
}
