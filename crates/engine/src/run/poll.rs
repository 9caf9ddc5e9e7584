//! A look at a repository now and then, to notice what others do there.
//!
//! One look serves all promotions of a repository; only those for which something changed are carried on.

use jiff::{SignedDuration, Timestamp};
use weir_core::{
    BranchName, Checks, CommitId, ForgeKind, Name, Namespace, PipelineKey, Promotion, PromotionKey, ProposalState,
    Repository,
};
use weir_ports::{Clock as _, ConfigRepos as _, Forge as _, ForgeAccess, Ownership as _, RepoAccess};

use super::{Engine, Job, Outcome};
use crate::{access::access, carry::Trouble, ports::Ports, world::Known};

/// How far the clock of a forge may be behind ours.
const SLACK: SignedDuration = SignedDuration::from_mins(2);

/// A repository, and what opens it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RepositoryKey {
    address: String,
    secret: Option<(Namespace, Name)>,
}

/// A promotion, and where the branches were when it was last looked at.
struct Interest {
    promotion: PromotionKey,
    repository: Repository,
    namespace: Namespace,
    base: Option<CommitId>,
    /// The branch of the proposal, and where it should be: nowhere, if the proposal is over.
    branch: Option<(BranchName, Option<CommitId>)>,
    /// Somebody else has written to the branch, or a check is under way: whatever happens next counts.
    restless: bool,
    /// The forge that its open pull request is on.
    forge: Option<ForgeKind>,
    /// When something last happened to the promotion.
    last: Timestamp,
}

/// How long to wait where nothing has happened for so long: whoever reviews at all often does so soon.
fn rhythm(usual: SignedDuration, quiet: SignedDuration) -> SignedDuration {
    match quiet.as_mins() {
        ..5 => usual / 3,
        5..60 => usual,
        60..1440 => usual * 2,
        _ => usual * 4,
    }
}

impl<P: Ports> Engine<P> {
    /// The repositories of a pipeline in which something is to be noticed.
    pub(super) fn repositories(&self, pipeline: &PipelineKey) -> Vec<RepositoryKey> {
        let interests = self.world.look(pipeline, interests).unwrap_or_default();
        let mut keys: Vec<_> = interests.iter().map(Interest::repository).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// When to look again, not all at once; with many repositories no more than one a second.
    pub(super) fn next_poll(&self, now: Timestamp, repositories: usize, quiet: SignedDuration) -> Timestamp {
        let least = SignedDuration::from_secs(i64::try_from(repositories).unwrap_or(i64::MAX));
        let pause = rhythm(self.settings.poll, quiet).max(least);
        let share = i32::try_from(self.ports.clock().random() % 100).unwrap_or_default();
        now.checked_add(pause - pause / 500 * share).unwrap_or(now)
    }

    pub(super) async fn poll(&self, key: &RepositoryKey) -> Outcome {
        let mut found = Vec::new();
        let mut all = std::collections::BTreeSet::new();
        self.world.scan(None, |pipeline, known| {
            if !self.ports.ownership().owns(pipeline) {
                return true;
            }
            for interest in interests(known) {
                let repository = interest.repository();
                if repository == *key {
                    found.push(interest);
                }
                all.insert(repository);
            }
            true
        });
        if found.is_empty() {
            return Outcome::default();
        }
        let repository = &found[0].repository.url;
        let moved = match self.moved(&found).await {
            Ok(moved) => {
                if self.memory.is_new_trouble(repository.reveal(), None) {
                    tracing::info!(%repository, "the repository can be looked at again");
                }
                moved
            }
            Err(trouble) => {
                if self.memory.is_new_trouble(repository.reveal(), Some(&trouble.to_string())) {
                    tracing::warn!(%repository, %trouble, "the repository cannot be looked at");
                }
                Vec::new()
            }
        };
        let now = self.ports.clock().now();
        let last = found.iter().map(|interest| interest.last).max().unwrap_or(now);
        let next = Some(self.next_poll(now, all.len(), now.duration_since(last)));
        Outcome { next, also: moved.into_iter().map(Job::Carry).collect(), ..Outcome::default() }
    }

    /// The promotions for which a branch is no longer where it was.
    async fn moved(&self, found: &[Interest]) -> Result<Vec<PromotionKey>, Trouble> {
        let Some(first) = found.first() else { return Ok(Vec::new()) };
        let access = access(&*self.ports, &first.namespace, &first.repository).await?;
        let mut branches: Vec<_> = found.iter().flat_map(Interest::branches).collect();
        branches.sort();
        branches.dedup();
        let heads = self.ports.repos().look(&access, &branches).await?;
        let at = |name: &BranchName| {
            let place = branches.binary_search(name).ok()?;
            heads.get(place)?.as_ref()
        };
        let there = self.changed_there(found, &access).await?;
        let changed = |interest: &&Interest| {
            interest.restless
                || interest.branch.as_ref().is_some_and(|(name, _)| there.contains(name))
                || at(&interest.repository.base) != interest.base.as_ref()
                || interest.branch.as_ref().is_some_and(|(name, head)| at(name) != head.as_ref())
        };
        Ok(found.iter().filter(changed).map(|interest| interest.promotion.clone()).collect())
    }

    /// The branches whose pull requests changed since they were last asked for.
    async fn changed_there(&self, found: &[Interest], access: &RepoAccess) -> Result<Vec<BranchName>, Trouble> {
        let Some(kind) = found.iter().find_map(|interest| interest.forge) else { return Ok(Vec::new()) };
        let RepoAccess { url, credentials } = access.clone();
        let now = self.ports.clock().now();
        let begin = self.memory.asked(url.reveal(), now);
        let Some(since) = begin.and_then(|begin| begin.checked_sub(SLACK).ok()) else {
            // Nothing is known of the time before: everything may have changed.
            return Ok(found.iter().filter_map(|it| it.branch.as_ref()).map(|(name, _)| name.clone()).collect());
        };
        Ok(self.ports.forge().changed(&ForgeAccess { kind, url, credentials }, since).await?)
    }
}

impl Interest {
    fn repository(&self) -> RepositoryKey {
        let secret = self.repository.secret.clone().map(|name| (self.namespace.clone(), name));
        RepositoryKey { address: self.repository.url.reveal().to_owned(), secret }
    }

    fn branches(&self) -> impl Iterator<Item = BranchName> {
        [Some(self.repository.base.clone()), self.branch.as_ref().map(|(name, _)| name.clone())].into_iter().flatten()
    }
}

/// The promotions of a pipeline whose turn it is, or was last, and whose branches were looked at.
fn interests(known: &Known) -> Vec<Interest> {
    let pipeline = known.pipeline();
    let interest = |environment: &weir_core::Environment| {
        let strategy = &environment.promotion.as_ref()?.strategy;
        let promotion: &Promotion = known.newest(&environment.name)?;
        let facts = &promotion.leg.facts;
        let proposal = facts.proposal.as_ref().filter(|proposal| proposal.state == ProposalState::Open);
        Some(Interest {
            promotion: promotion.key.clone(),
            repository: strategy.repository()?.clone(),
            namespace: pipeline.key.namespace.clone(),
            base: Some(facts.base.as_ref()?.commit.clone()),
            restless: proposal.is_some_and(|it| it.changed_by.is_some() || it.checks != Checks::Passing),
            forge: strategy.forge().filter(|_| proposal.is_some()),
            last: promotion.history.last().map(|turn| turn.at).unwrap_or_default(),
            branch: facts.branch.as_ref().map(|it| (it.name.clone(), proposal.map(|proposal| proposal.head.clone()))),
        })
    };
    pipeline.environments().iter().filter_map(interest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_just_happened_is_looked_at_more_often() {
        let usual = SignedDuration::from_secs(30);
        let pauses = [1, 10, 90, 3000].map(|mins| rhythm(usual, SignedDuration::from_mins(mins)).as_secs());
        assert_eq!(pauses, [10, 30, 60, 120]);
    }
}
