//! What people do with proposals that Weir keeps itself.

use jiff::Timestamp;
use weir_core::{
    Comment, CommitId, EnvironmentName, Hold, PlainProposal, PlainReview, PlainState, PromotionKey, Reason, Verdict,
    Wish, plan, promotion_name,
};
use weir_ports::{Clock, Journal, Record, RecordKey, RecordVersion, Store};

use super::{Act, Asked, Denied, People, not_merging};
use crate::{decide::save, world::Known};

/// What holds the promotion whose turn it is, or was last; and nothing that holds the one after it.
pub fn holds_on_turn(known: &Known, environment: &EnvironmentName, now: Timestamp) -> Vec<Hold> {
    let plan = plan(known.pipeline(), known.snapshot(), now);
    let newest = known.newest(environment);
    let promotion = newest.and_then(|newest| plan.promotion(&newest.key, known.snapshot()));
    promotion.map(|promotion| promotion.holds.clone()).unwrap_or_default()
}

impl<S: Store, J: Journal, C: Clock> People<'_, S, J, C> {
    /// Says what one thinks of a proposal, at the head that one looked at.
    pub async fn review(
        &self,
        asked: &Asked,
        key: &PromotionKey,
        head: &CommitId,
        verdict: Verdict,
    ) -> Result<PlainProposal, Denied> {
        let verb = match verdict {
            Verdict::Approved => "approve",
            Verdict::ChangesRequested => "request-changes",
        };
        self.on_open(asked, verb, key, Some(head), |proposal| {
            proposal.reviewed(PlainReview {
                by: asked.by.name.as_str().into(),
                verdict,
                head: head.clone(),
                at: self.clock.now(),
                why: asked.why.as_deref().map(Into::into),
            });
        })
        .await
    }

    /// Writes something beneath a proposal.
    pub async fn comment(&self, asked: &Asked, key: &PromotionKey, body: &str) -> Result<PlainProposal, Denied> {
        self.on_open(asked, "comment", key, None, |proposal| {
            let comment = Comment { by: asked.by.name.as_str().into(), body: body.into(), at: self.clock.now() };
            proposal.commented(comment);
        })
        .await
    }

    /// Asks Weir to merge a proposal at the head that one looked at. Refused while anything but a review holds it.
    pub async fn merge(&self, asked: &Asked, key: &PromotionKey, head: &CommitId) -> Result<PlainProposal, Denied> {
        self.open(key)?;
        let holds = self.held(key)?;
        if !holds.is_empty() {
            return Err(Denied::Held(holds));
        }
        self.on_open(asked, "merge", key, Some(head), |proposal| {
            proposal.merge = Some(Wish {
                by: asked.by.name.as_str().into(),
                at: self.clock.now(),
                head: head.clone(),
                why: asked.why.as_deref().map(Into::into),
            });
        })
        .await
    }

    /// Closes a proposal: its release is not wanted. With a head, only if it is still at that.
    pub async fn close(
        &self,
        asked: &Asked,
        key: &PromotionKey,
        head: Option<&CommitId>,
    ) -> Result<PlainProposal, Denied> {
        self.look(&key.pipeline, |known| known.newest(&key.environment).map_or(Ok(()), not_merging))??;
        self.on_open(asked, "close", key, head, |proposal| {
            proposal.state = PlainState::Closed {
                at: self.clock.now(),
                by: Some(asked.by.name.as_str().into()),
                note: asked.why.as_deref().map(Into::into),
            };
        })
        .await
    }

    /// What holds the promotion of a proposal, but for the review that a merge is.
    fn held(&self, key: &PromotionKey) -> Result<Vec<Hold>, Denied> {
        let now = self.clock.now();
        self.look(&key.pipeline, |known| {
            let changes = known.proposal(key).is_some_and(|it| it.review() == weir_core::Review::ChangesRequested);
            let mut holds = holds_on_turn(known, &key.environment, now);
            holds.retain(|hold| changes || !matches!(hold.reason, Reason::AwaitingReview { .. }));
            holds
        })
    }

    /// The proposal, which has to be open, and which state of its record that is.
    fn open(&self, key: &PromotionKey) -> Result<(PlainProposal, Option<RecordVersion>), Denied> {
        let found = self.look(&key.pipeline, |known| {
            Some((known.proposal(key).cloned()?, known.version(&RecordKey::Proposal(key.clone()))))
        })?;
        let name = promotion_name(key);
        let Some((proposal, at)) = found else { return Err(Denied::NoProposal(name)) };
        let ended = match &proposal.state {
            PlainState::Open => return Ok((proposal, at)),
            PlainState::Merged { .. } => "merged",
            PlainState::Closed { .. } => "closed",
        };
        Err(Denied::NotOpen { proposal: name, ended })
    }

    async fn on_open(
        &self,
        asked: &Asked,
        verb: &str,
        key: &PromotionKey,
        head: Option<&CommitId>,
        change: impl Fn(&mut PlainProposal) + Send + Sync,
    ) -> Result<PlainProposal, Denied> {
        let name = promotion_name(key);
        let (name, change) = (&name, &change);
        self.retry(|noted| async move {
            let (mut proposal, at) = self.open(key)?;
            if head.is_some_and(|head| *head != proposal.head) {
                return Err(Denied::Changed { proposal: name.clone(), now: proposal.head });
            }
            change(&mut proposal);
            let object = format!("proposal/{}/{name}", key.pipeline.namespace);
            let act = Act::on(&key.pipeline, verb, object).about(&proposal.head);
            self.note(&noted, asked, act).await?;
            save(Record::Proposal(Box::new(proposal.clone())), at, self.world, self.store).await?;
            Ok(proposal)
        })
        .await
    }
}
