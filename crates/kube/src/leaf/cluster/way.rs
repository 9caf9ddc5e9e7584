//! Finding the way into a cluster, going in, and leaving.

use std::sync::{Arc, PoisonError};

use tokio::time::Instant;
use weir_ports::Catalog;

use super::{
    Cluster, Report,
    reading::Reading,
    session::{Outlet, Session},
};
use crate::leaf::{
    access::{self, Found, Way},
    fault::{Fault, Trouble},
    picture::{Access, Kind},
};

impl<C: Catalog + 'static> Cluster<C> {
    pub(super) fn look_for_way(&mut self) {
        let Some(key) = self.key.clone() else { return };
        self.look_at = None;
        let known = self.session.as_ref().and_then(|session| session.way.digest);
        let (catalog, settings, outbox) = (Arc::clone(&self.catalog), Arc::clone(&self.settings), self.outbox.clone());
        self.errands.spawn(async move {
            let found = access::find(&*catalog, &key, known, &settings).await;
            // Nobody listens to a cluster that is no longer wanted.
            let _ = outbox.send(Report::Found(found)).await;
        });
    }

    pub(super) fn found(&mut self, found: Found) {
        let now = Instant::now();
        let again = match &found {
            Found::Same | Found::Way(_) => self.settings.kubeconfig,
            Found::Undefined | Found::Unavailable(_) | Found::Closed(_) => self.settings.undefined,
        };
        self.look_at = Some(now + again);
        match found {
            Found::Same => {}
            Found::Undefined => {
                self.leave();
                self.forget();
                self.picture.access = Access::Undefined;
            }
            // Nobody who is in is thrown out because the door cannot be seen at the moment.
            Found::Unavailable(_) if self.session.is_some() => {}
            Found::Unavailable(fault) | Found::Closed(fault) => self.close(fault),
            Found::Way(way) => {
                if self.address.as_ref().is_some_and(|address| *address != way.address) {
                    self.forget();
                }
                self.address = Some(Arc::clone(&way.address));
                self.open(*way);
            }
        }
        self.asks.touch_all();
    }

    fn close(&mut self, fault: Fault) {
        self.leave();
        let mut trouble = match std::mem::take(&mut self.picture.access) {
            Access::Closed(trouble) => Some(trouble),
            _ => self.picture.trouble.take(),
        };
        Trouble::add(&mut trouble, fault);
        if let Some(trouble) = trouble {
            self.picture.access = Access::Closed(trouble);
        }
    }

    pub(super) fn open(&mut self, way: Way) {
        match std::mem::replace(&mut self.picture.access, Access::Open) {
            Access::Closed(trouble) => self.picture.trouble = Some(trouble),
            Access::Undefined => self.asks.begin_again(),
            Access::Unknown | Access::Open => {}
        }
        self.leave();
        self.sessions += 1;
        let outlet = Outlet { outbox: self.outbox.clone(), session: self.sessions };
        match Session::open(way, outlet) {
            Ok(session) => {
                *self.door.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(session.reader(self.settings.deadline));
                self.session = Some(session);
            }
            Err(fault) => self.close(fault),
        }
    }

    fn leave(&mut self) {
        self.session = None;
        self.door.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.reading.interrupt();
        self.labelling.interrupt();
    }

    fn forget(&mut self) {
        self.picture.trouble = None;
        self.picture.details.clear();
        self.reading = Reading::default();
        for kind in self.picture.kinds.values_mut() {
            *kind = Kind::default();
        }
        // Whose workloads there are is found anew.
        self.asks.forget_members();
    }
}
