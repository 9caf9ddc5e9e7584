//! The promotions into one environment, in the order of their turns, while a plan is made.

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;

use crate::{
    hold::Hold,
    name::EnvironmentName,
    pipeline::Pipeline,
    promotion::{Base, Declared, Intent, Phase, Promotion, ProposalState, Turn},
    release::Release,
    snapshot::Snapshot,
};

/// How many phases a record remembers. A promotion that flutters must not grow without end.
const HISTORY: usize = 32;

/// The promotions into one environment, lowest ordinal first.
pub(crate) struct Ledger<'a> {
    pub(crate) lines: Vec<Line<'a>>,
    /// The base branch, as last seen by any of them.
    pub(crate) base: Option<&'a Base>,
}

pub(crate) struct Line<'a> {
    /// Copied only when something changes.
    pub(crate) promotion: Cow<'a, Promotion>,
    /// It does not exist yet.
    pub(crate) new: bool,
}

impl<'a> Ledger<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot, pipeline: &Pipeline, environment: &EnvironmentName) -> Self {
        let ours = |promotion: &&Promotion| {
            promotion.key.environment == *environment && promotion.key.pipeline == pipeline.key
        };
        let line = |promotion| Line { promotion: Cow::Borrowed(promotion), new: false };
        let mut lines: Vec<_> = snapshot.promotions.iter().filter(ours).map(line).collect();
        lines.sort_by_key(|line| line.promotion.key.ordinal);
        let known = lines.iter().filter_map(|line| match line.promotion {
            Cow::Borrowed(promotion) => promotion.leg.facts.base.as_ref(),
            Cow::Owned(_) => None,
        });
        let base = known.max_by_key(|base| base.seen);
        Self { lines, base }
    }

    pub(crate) fn promotions(&self) -> impl Iterator<Item = &Promotion> + Clone {
        self.lines.iter().map(|line| &*line.promotion)
    }

    /// The promotion whose turn it is, if it is still on its way.
    pub(crate) fn live(&self) -> Option<&Line<'a>> {
        self.lines.last().filter(|line| line.promotion.phase.is_live())
    }

    /// The newest of the promotions that were delivered and are still what counts.
    pub(crate) fn delivered(&self) -> Option<&Promotion> {
        let counts = |phase| matches!(phase, Phase::Delivered | Phase::Succeeded | Phase::Failed);
        self.promotions().filter(|promotion| counts(promotion.phase)).last()
    }

    /// The releases that the base branch declares, as far as is known.
    pub(crate) fn declared(&self) -> &'a [Release] {
        match self.base.map(|base| &base.declares) {
            Some(Declared::Releases(releases)) => releases,
            _ => &[],
        }
    }
}

impl Line<'_> {
    /// Moves the promotion into a phase, and says why.
    pub(crate) fn turn(&mut self, phase: Phase, at: Timestamp, note: Option<Arc<str>>) {
        if self.promotion.phase == phase && !self.promotion.history.is_empty() {
            return;
        }
        let promotion = self.promotion.to_mut();
        promotion.phase = phase;
        promotion.history.push(Turn { phase, at, note });
        if promotion.history.len() > HISTORY {
            // The first turns say where it came from; the middle ones are the flutter.
            promotion.history.remove(HISTORY / 2);
        }
    }

    /// Ends the promotion: nothing holds it any more, and nothing is to be done but closing what is open.
    pub(crate) fn end(&mut self, phase: Phase, at: Timestamp, note: impl Into<Arc<str>>) {
        self.turn(phase, at, Some(note.into()));
        self.hold(Vec::new());
        self.intend(None);
    }

    pub(crate) fn hold(&mut self, holds: Vec<Hold>) {
        if self.promotion.holds != holds {
            self.promotion.to_mut().holds = holds;
        }
    }

    pub(crate) fn intend(&mut self, intent: Option<Intent>) {
        if self.promotion.leg.intent != intent {
            self.promotion.to_mut().leg.intent = intent;
        }
    }

    pub(crate) fn has_open_proposal(&self) -> bool {
        let proposal = self.promotion.leg.facts.proposal.as_ref();
        proposal.is_some_and(|proposal| proposal.state == ProposalState::Open)
    }
}
