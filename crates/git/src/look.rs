//! Where branches are now, on the server.
//!
//! Whoever asks while another question is under way waits for the next one, which asks for all of them at once. An
//! answer is therefore never older than the question.

use std::collections::{BTreeSet, HashMap};

use tokio::sync::Mutex as Turn;
use weir_core::{BranchName, CommitId};

use crate::{
    fault::Fault,
    gather::Gather,
    program::{Call, Git},
    repos::Repository,
    sign_in::{Fingerprint, SignIn},
};

/// What the full names of branches begin with.
const HEADS: &str = "refs/heads/";

/// Where branches are, by their full names. `None`: the repository has no branch at all.
type Heads = Option<HashMap<String, CommitId>>;

/// The questions to one server. It may show different things to different people.
#[derive(Default)]
pub(crate) struct Looks {
    rounds: Gather<Fingerprint, Vec<String>, Result<Heads, Fault>>,
    turn: Turn<()>,
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
        let seat = self.looks.rounds.join(who, wanted.clone());
        let _turn = self.looks.turn.lock().await;
        let ask = async |branches: Vec<Vec<String>>| ask(git, sign_in, branches.into_iter().flatten().collect()).await;
        let heads = self.looks.rounds.answer(&seat, ask).await?;
        // Whoever may list the branches may see what is in them.
        self.cache.let_in(who);
        Ok(heads.map(|heads| wanted.iter().map(|name| heads.get(name).cloned()).collect()))
    }
}

impl Repository {
    /// The branches below a name. A repository without any branch has none there.
    pub(crate) async fn below(
        &self,
        git: &Git,
        sign_in: &SignIn,
        name: &BranchName,
    ) -> Result<Vec<(BranchName, CommitId)>, Fault> {
        let folder = format!("{}/", reference(name));
        let heads = list(git, sign_in, &[&format!("{folder}*")]).await?;
        self.cache.let_in(sign_in.fingerprint);
        // A pattern fits the end of a name, too.
        let inside = |(full, head): (String, CommitId)| {
            let short = full.starts_with(&folder).then(|| full.strip_prefix(HEADS)).flatten()?;
            Some((BranchName::new(short).ok()?, head))
        };
        let mut found: Vec<_> = heads.into_iter().filter_map(inside).collect();
        found.sort();
        Ok(found)
    }
}

async fn ask(git: &Git, sign_in: &SignIn, branches: BTreeSet<String>) -> Result<Heads, Fault> {
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
    format!("{HEADS}{branch}")
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
