//! What has changed, as a bounded list that followers can resume.

use std::{
    collections::VecDeque,
    fmt,
    str::FromStr,
    sync::{Mutex, PoisonError},
};

use tokio::sync::watch;
use weir_core::{EnvironmentName, Name, PipelineKey, PromotionKey};
use weir_ports::RecordKey;

/// How many changes are remembered for those who were away.
const REMEMBERED: usize = 4096;

/// Something that changed. Whoever wants to know how, looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The pipeline. `None`: it may concern any.
    pub pipeline: Option<PipelineKey>,
    /// What.
    pub what: What,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// How the pipeline is defined, or whether it is suspended.
    Definition,
    /// What is remembered of an environment.
    Environment(EnvironmentName),
    /// What was reported about an environment.
    Observation(EnvironmentName),
    /// What is seen of an environment.
    Sighting(EnvironmentName),
    /// A promotion.
    Promotion(PromotionKey),
    /// A proposal, by the promotion that opened it.
    Proposal(PromotionKey),
    /// A freeze.
    Freeze(Name),
    /// What is wrong with the definitions.
    Problems,
}

impl What {
    pub(super) fn of(key: &RecordKey) -> Self {
        match key {
            RecordKey::Pipeline(_) => Self::Definition,
            RecordKey::Environment(_, environment) => Self::Environment(environment.clone()),
            RecordKey::Promotion(key) => Self::Promotion(key.clone()),
            RecordKey::Observation(_, key) => Self::Observation(key.environment.clone()),
            RecordKey::Freeze(name) => Self::Freeze(name.clone()),
            RecordKey::Proposal(key) => Self::Proposal(key.clone()),
        }
    }
}

/// The place of a change in the list, opaque to whoever gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeId {
    epoch: u64,
    number: u64,
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.epoch, self.number)
    }
}

impl FromStr for ChangeId {
    type Err = Missed;

    fn from_str(text: &str) -> Result<Self, Missed> {
        let (epoch, number) = text.split_once('-').ok_or(Missed)?;
        let read = |text| u64::from_str_radix(text, 16).map_err(|_| Missed);
        Ok(Self { epoch: read(epoch)?, number: read(number)? })
    }
}

/// What came after a place in the list is no longer known: look at everything anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the changes since then are no longer known")]
pub struct Missed;

/// The last changes.
#[derive(Debug)]
pub struct Changes {
    epoch: u64,
    list: Mutex<List>,
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct List {
    number: u64,
    changes: VecDeque<Change>,
}

impl Default for Changes {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Changes {
    pub(super) fn new(epoch: u64) -> Self {
        Self { epoch, list: Mutex::default(), last: watch::Sender::new(0) }
    }

    pub(super) fn tell(&self, change: Change) {
        let mut list = self.list();
        list.number += 1;
        list.changes.push_back(change);
        if list.changes.len() > REMEMBERED {
            list.changes.pop_front();
        }
        self.last.send_replace(list.number);
    }

    /// Where the list ends now.
    pub fn end(&self) -> ChangeId {
        ChangeId { epoch: self.epoch, number: self.list().number }
    }

    /// Everything after a place in the list, with the place of each.
    pub fn since(&self, id: ChangeId) -> Result<Vec<(ChangeId, Change)>, Missed> {
        let list = self.list();
        let oldest = list.number - list.changes.len() as u64;
        if id.epoch != self.epoch || id.number < oldest || id.number > list.number {
            return Err(Missed);
        }
        let skip = usize::try_from(id.number - oldest).map_err(|_| Missed)?;
        let after = list.changes.iter().skip(skip).zip(id.number + 1..);
        Ok(after.map(|(change, number)| (ChangeId { epoch: self.epoch, number }, change.clone())).collect())
    }

    /// Returns when the list goes on after a place.
    pub async fn after(&self, id: ChangeId) {
        let mut last = self.last.subscribe();
        // It cannot be closed while `self` is there.
        let _ = last.wait_for(|number| *number > id.number || id.epoch != self.epoch).await;
    }

    fn list(&self) -> std::sync::MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems() -> Change {
        Change { pipeline: None, what: What::Problems }
    }

    #[test]
    fn a_follower_resumes_where_it_was() {
        let changes = Changes::new(7);
        changes.tell(problems());
        let seen = changes.end();
        changes.tell(problems());
        let id: ChangeId = seen.to_string().parse().unwrap();
        assert_eq!(changes.since(id).unwrap().len(), 1);
        assert_eq!(changes.since(changes.end()).unwrap(), []);
    }

    #[test]
    fn a_place_of_another_run_or_too_long_ago_is_not_known() {
        let changes = Changes::new(7);
        let begin = changes.end();
        assert_eq!(Changes::new(8).since(begin), Err(Missed));
        for _ in 0..=REMEMBERED {
            changes.tell(problems());
        }
        assert_eq!(changes.since(begin), Err(Missed));
        assert_eq!("nonsense".parse::<ChangeId>(), Err(Missed));
    }
}
