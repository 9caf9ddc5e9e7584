//! Where branches are now, on the server.

use std::collections::HashMap;

use weir_core::{BranchName, CommitId};

use crate::{
    fault::Fault,
    program::{Call, Git},
    repos::Repository,
    sign_in::SignIn,
};

impl Repository {
    /// Where branches are. `None` if the repository has no branch at all.
    pub(crate) async fn look(
        &self,
        git: &Git,
        sign_in: &SignIn,
        branches: &[BranchName],
    ) -> Result<Option<Vec<Option<CommitId>>>, Fault> {
        let wanted: Vec<String> = branches.iter().map(reference).collect();
        let mut patterns = vec!["HEAD"];
        patterns.extend(wanted.iter().map(String::as_str));
        let heads = list(git, sign_in, &patterns).await?;
        // Whoever may list the branches may see what is in them.
        self.cache.let_in(sign_in.fingerprint);
        if heads.is_empty() && list(git, sign_in, &["refs/heads/*"]).await?.is_empty() {
            return Ok(None);
        }
        Ok(Some(wanted.iter().map(|name| heads.get(name).cloned()).collect()))
    }
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
