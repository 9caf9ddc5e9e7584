//! Changes of one base branch, several at a time.
//!
//! Whoever wants to change a base branch gets on, and whoever gets the turn takes all who wait along: their changes are
//! put on top of each other, and go out in one push. Each is looked at for itself first: one that is no longer wanted,
//! or that would change something else than was decided on, is left behind and takes no other with it.
//!
//! Nothing runs on its own. If the one whose turn it is goes away, the others find themselves left behind and get on
//! again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{Mutex as Turn, oneshot};
use weir_core::{BranchName, CommitId, Declared, Edit, Intent, Promotion, Release};
use weir_ports::{ConfigRepos as _, Push, RepoError};

use super::{Carrier, Load, Places, Scope, Trouble};
use crate::ports::Ports;

/// The base branches that are being changed.
#[derive(Debug, Default)]
pub(crate) struct Stations(Mutex<BTreeMap<(String, BranchName), Arc<Station>>>);

#[derive(Debug, Default)]
struct Station {
    waiting: Mutex<Vec<(Passenger, oneshot::Sender<Answer>)>>,
    turn: Turn<()>,
}

type Answer = Result<Arrived, Trouble>;

/// A change that wants to go onto the base branch.
#[derive(Debug)]
pub(super) struct Passenger {
    pub(super) promotion: Promotion,
    pub(super) intent: Intent,
    pub(super) release: Release,
    /// What the base branch declared when this was decided.
    pub(super) declared: Option<Declared>,
    /// What was reviewed, if anything was.
    pub(super) reviewed: Option<Reviewed>,
}

/// A proposal as it was reviewed.
#[derive(Debug)]
pub(super) struct Reviewed {
    pub(super) parent: CommitId,
    pub(super) head: CommitId,
    pub(super) edits: Vec<Edit>,
}

/// Where the base branch is, with the change in it.
#[derive(Debug, Clone)]
pub(super) struct Arrived {
    pub(super) base: CommitId,
}

impl Stations {
    fn of(&self, load: &Load<'_>) -> Arc<Station> {
        let key = (load.access.url.reveal().to_owned(), load.repository.base.clone());
        Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
    }
}

impl Station {
    fn get_on(&self, passenger: Passenger) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push((passenger, answer));
        receiver
    }

    fn take(&self) -> Vec<(Passenger, oneshot::Sender<Answer>)> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Ports> Carrier<'_, P> {
    /// Brings a change onto the base branch, together with others.
    pub(super) async fn ride(&self, load: &Load<'_>, passenger: Passenger) -> Result<Arrived, Trouble> {
        let station = self.memory.stations.of(load);
        let mut answer = station.get_on(passenger);
        let turn = tokio::select! {
            biased;
            answered = &mut answer => return answered.unwrap_or(Err(Trouble::Stale)),
            turn = station.turn.lock() => turn,
        };
        if let Ok(answered) = answer.try_recv() {
            return answered;
        }
        let (passengers, answers): (Vec<_>, Vec<_>) = station.take().into_iter().unzip();
        for (answer, sender) in self.drive(load, &passengers).await.into_iter().zip(answers) {
            // Who no longer waits does not want to know.
            let _ = sender.send(answer);
        }
        drop(turn);
        answer.try_recv().unwrap_or(Err(Trouble::Stale))
    }

    async fn drive(&self, load: &Load<'_>, passengers: &[Passenger]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::with_capacity(passengers.len());
        let (base, mut tip, mut places) = match self.depart(load).await {
            Ok((base, places)) => (base.clone(), base, places),
            Err(error) => return passengers.iter().map(|_| Err(error.clone().into())).collect(),
        };
        for passenger in passengers {
            let added = self.add(load, passenger, &tip, &places).await;
            answers.push(match added {
                Ok(Some((commit, after))) => {
                    (tip, places) = (commit.clone(), Arc::new(after));
                    Ok(Arrived { base: commit })
                }
                Ok(None) => Ok(Arrived { base: tip.clone() }),
                Err(trouble) => Err(trouble),
            });
        }
        if tip == base {
            return answers;
        }
        // Right before the change that others see: gates may have closed, and freezes may have come.
        let aboard = || passengers.iter().zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(it, _)| it);
        let keys: Vec<_> = aboard().map(|it| it.promotion.key.clone()).collect();
        let push = Push { branch: load.repository.base.clone(), commit: Some(tip.clone()), expect: Some(base) };
        let pushed = match self.catch_up(&keys).await {
            Ok(()) if aboard().all(|it| self.wants(&it.promotion.key, &it.intent)) => {
                self.ports.repos().push(&load.access, &push).await.map_err(Trouble::from)
            }
            Ok(()) => Err(Trouble::Stale),
            Err(trouble) => Err(trouble),
        };
        match pushed {
            Ok(_) => answers.into_iter().map(|answer| answer.map(|_| Arrived { base: tip.clone() })).collect(),
            Err(trouble) => answers.into_iter().map(|answer| answer.and(Err(trouble.clone()))).collect(),
        }
    }

    /// Where the base branch is now.
    async fn depart(&self, load: &Load<'_>) -> Result<(CommitId, Arc<Places>), RepoError> {
        let branch = load.repository.base.clone();
        let head = self.ports.repos().look(&load.access, std::slice::from_ref(&branch)).await?.pop().flatten();
        let head = head.ok_or_else(|| RepoError::NoBranch { repository: load.access.url.clone(), branch })?;
        let places = self.memory.places(self.ports, &load.access, &head).await?;
        Ok((head, places))
    }

    /// Puts one change on top. `None`: there is nothing left to change.
    async fn add(
        &self,
        load: &Load<'_>,
        passenger: &Passenger,
        tip: &CommitId,
        places: &Places,
    ) -> Result<Option<(CommitId, Places)>, Trouble> {
        let Passenger { promotion, intent, release, declared, reviewed } = passenger;
        if !self.wants(&promotion.key, intent) {
            return Err(Trouble::Unwanted);
        }
        let scope = Scope { pipeline: &promotion.key.pipeline, environment: &promotion.key.environment };
        if Some(places.declared(scope, release)?) != *declared {
            return Err(Trouble::Stale);
        }
        let edited = places.edited(scope, release)?;
        if edited.edits.is_empty() {
            return Ok(None);
        }
        let commit = match reviewed {
            Some(it) if it.edits != edited.edits => return Err(Trouble::Stale),
            // Nothing has happened since the review: the base becomes the reviewed commit itself.
            Some(it) if it.parent == *tip => it.head.clone(),
            _ => self.commit(load, promotion, tip, &edited).await?,
        };
        let after = places.after(&edited);
        Ok(Some((commit, after)))
    }
}
