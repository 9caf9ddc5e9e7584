//! Where branches are now, on the server.
//!
//! Whoever asks while another question is under way waits for the next one, which asks for all of them at once. An
//! answer is therefore never older than the question.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{Mutex as Turn, OnceCell};
use weir_core::{BranchName, CommitId};

use crate::{
    fault::Fault,
    program::{Call, Git},
    repos::Repository,
    sign_in::{Fingerprint, SignIn},
};

/// Where branches are, by their full names. `None`: the repository has no branch at all.
type Heads = Option<HashMap<String, CommitId>>;

/// The questions to one server.
#[derive(Default)]
pub(crate) struct Looks {
    /// The next question of each who signs in. The server may show different things to different people.
    next: Mutex<HashMap<Fingerprint, Arc<Question>>>,
    turn: Turn<()>,
}

/// One question for the branches of many.
#[derive(Default)]
struct Question {
    branches: Mutex<BTreeSet<String>>,
    answer: OnceCell<Result<Heads, Fault>>,
}

impl Looks {
    /// Adds branches to the next question.
    fn join(&self, who: Fingerprint, branches: &[String]) -> Arc<Question> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let question = next.entry(who).or_default();
        question.branches.lock().unwrap_or_else(PoisonError::into_inner).extend(branches.iter().cloned());
        Arc::clone(question)
    }

    /// Closes a question that is about to be asked, so that nobody joins it any more.
    fn close(&self, who: Fingerprint, question: &Arc<Question>) -> Vec<String> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.get(&who).is_some_and(|next| Arc::ptr_eq(next, question)) {
            next.remove(&who);
        }
        question.branches.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Repository {
    /// Where branches are. `None` if the repository has no branch at all.
    pub(crate) async fn look(
        &self,
        git: &Git,
        sign_in: &SignIn,
        branches: &[BranchName],
    ) -> Result<Option<Vec<Option<CommitId>>>, Fault> {
        let wanted: Vec<String> = branches.iter().map(reference).collect();
        let who = sign_in.fingerprint;
        let question = self.looks.join(who, &wanted);
        // Whoever gets the turn first asks for all who have joined; if it is dropped, the next one does.
        let _turn = self.looks.turn.lock().await;
        let ask = || async { ask(git, sign_in, &self.looks.close(who, &question)).await };
        let heads = question.answer.get_or_init(ask).await.clone()?;
        // Whoever may list the branches may see what is in them.
        self.cache.let_in(who);
        Ok(heads.map(|heads| wanted.iter().map(|name| heads.get(name).cloned()).collect()))
    }
}

async fn ask(git: &Git, sign_in: &SignIn, branches: &[String]) -> Result<Heads, Fault> {
    let mut patterns = vec!["HEAD"];
    patterns.extend(branches.iter().map(String::as_str));
    let heads = list(git, sign_in, &patterns).await?;
    if heads.is_empty() && list(git, sign_in, &["refs/heads/*"]).await?.is_empty() {
        return Ok(None);
    }
    Ok(Some(heads))
}

/// The full name of a branch.
pub(crate) fn reference(branch: &BranchName) -> String {
    format!("refs/heads/{branch}")
}

async fn list(git: &Git, sign_in: &SignIn, patterns: &[&str]) -> Result<HashMap<String, CommitId>, Fault> {
    let arguments = ["ls-remote", "--", &sign_in.address.url];
    let call = Call::new(arguments.into_iter().chain(patterns.iter().copied())).signed_in(sign_in);
    let output = git.run(call).await?;
    if !output.succeeded() {
        return Err(Fault::told(&output.stderr, &sign_in.address.url));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let (id, name) = line.split_once('\t')?;
        Some((name.to_owned(), CommitId::new(id).ok()?))
    };
    Ok(text.lines().filter_map(line).collect())
}
