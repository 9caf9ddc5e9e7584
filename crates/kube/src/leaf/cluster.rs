//! The task of one cluster.
//!
//! It alone changes the [`Picture`] of its cluster. Whatever may take time (requests, watches, looking for a kubeconfig)
//! runs in tasks of its own and reports; so a cluster that does not answer keeps nobody from saying so. After every
//! report it settles: it starts what is due, looks again at the targets that may have changed, and tells what it sees.

mod asks;
mod reading;
mod reports;
mod session;
mod way;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep_until},
};
use weir_core::{ClusterKey, Namespace, PipelineKey};
use weir_ports::Catalog;

use super::{
    Door, LeafSettings,
    access::{Found, Way},
    board::Board,
    look::{Look, Question},
    mail::Mail,
    picture::{KINDS, Kind, Picture, Scope, Served},
    watch,
};
use asks::Asks;
use reading::{Labelling, Reading};
use session::{News, Session};

/// Reports that wait to be read. Whoever has more waits.
const REPORTS: usize = 512;
/// What is asked for in a row is taken in at once.
const ROW: Duration = Duration::from_millis(20);
/// How soon after a check the next one may follow, when something went wrong.
const CALM: Duration = Duration::from_secs(1);

/// The task of one cluster.
pub(super) struct Cluster<C> {
    /// `None`: Weir's own.
    key: Option<ClusterKey>,
    catalog: Arc<C>,
    settings: Arc<LeafSettings>,
    board: Arc<Board>,
    mail: Arc<Mail>,
    door: Arc<Door>,
    picture: Picture,
    asks: Asks,
    reading: Reading,
    labelling: Labelling,
    session: Option<Session>,
    sessions: u64,
    /// Where the cluster was when it was seen last.
    address: Option<Arc<str>>,
    /// When it is looked for a way in again. `None`: somebody is looking.
    look_at: Option<Instant>,
    errands: JoinSet<()>,
    outbox: mpsc::Sender<Report>,
    /// When time alone changes what is told.
    wake: Option<Instant>,
}

/// What other tasks report.
pub(super) enum Report {
    /// The way in.
    Found(Found),
    /// What happened in a session.
    Session(u64, News),
}

impl<C: Catalog + 'static> Cluster<C> {
    /// Sees what is asked for in the mail, until it is dropped.
    pub(super) async fn run(
        key: Option<ClusterKey>,
        local: Option<Way>,
        catalog: Arc<C>,
        settings: Arc<LeafSettings>,
        board: Arc<Board>,
        (mail, door): (Arc<Mail>, Arc<Door>),
    ) {
        let (outbox, mut reports) = mpsc::channel(REPORTS);
        let mut picture = Picture::default();
        picture.kinds.extend(KINDS.map(|kind| (kind, Kind::default())));
        let mut cluster = Self {
            look_at: key.is_some().then(Instant::now),
            key,
            catalog,
            settings,
            board,
            mail: Arc::clone(&mail),
            door,
            picture,
            asks: Asks::default(),
            reading: Reading::default(),
            labelling: Labelling::default(),
            session: None,
            sessions: 0,
            address: None,
            errands: JoinSet::new(),
            outbox,
            wake: None,
        };
        if let Some(way) = local {
            cluster.open(way);
        }
        loop {
            let next = cluster.settle();
            tokio::select! {
                () = mail.rings() => tokio::time::sleep(ROW).await,
                report = reports.recv() => if let Some(report) = report { cluster.take(report) },
                () = sleep_until(next) => {}
            }
            // What came in meanwhile is settled together.
            for _ in 0..REPORTS {
                let Ok(report) = reports.try_recv() else { break };
                cluster.take(report);
            }
        }
    }

    /// Starts what is due and tells what is seen. Returns when it has to be done again at the latest.
    fn settle(&mut self) -> Instant {
        let now = Instant::now();
        while self.errands.try_join_next().is_some() {}
        let letters = self.mail.take();
        if !letters.is_empty() {
            self.asks.take(self.key.as_ref(), letters, now);
            self.watch();
            self.follow_members();
        }
        if self.look_at.is_some_and(|at| now >= at) {
            self.look_for_way();
        }
        let discover = self.picture.lacks_kinds();
        if let Some(session) = &mut self.session {
            session.check_if_due(now, discover, &self.settings);
        }
        if self.wake.is_some_and(|at| now >= at) {
            self.asks.touch_all();
        }
        self.tell(now);
        let mut reads = None;
        if let Some(session) = self.session.as_mut().filter(|session| session.is_started)
            && self.picture.trouble.is_none()
        {
            self.reading.start(now, session, &self.picture, self.settings.deadline);
            reads = self.reading.next();
        }
        self.wake = self.next_change(now);
        let checks = self.session.as_ref().and_then(Session::next_check);
        let next = [self.wake, self.look_at, checks, reads].into_iter().flatten().min();
        // Without anything to wait for, a look now and then does no harm.
        next.unwrap_or(now + Duration::from_mins(1)).max(now + ROW)
    }

    /// Looks again at the targets that may have changed.
    fn tell(&mut self, now: Instant) {
        let mut moved = false;
        let mut readable = Vec::new();
        for (namespace, pipeline) in self.asks.take_touched() {
            let Some(ask) = self.asks.get_mut(&namespace, &pipeline) else { continue };
            let question = Question {
                pipeline: &pipeline,
                interest: &ask.interest,
                namespace: &namespace,
                home: self.key.is_none(),
                now,
                grace: self.settings.grace,
            };
            let (look, members) = question.look(&self.picture);
            moved |= members != ask.members;
            ask.members = members;
            let sighting = match look {
                Look::Undefined => None,
                Look::Seen(sighting) => Some(sighting),
                Look::Waiting if ask.told || now < ask.asked + self.settings.patience => continue,
                Look::Waiting => Some(ask.unanswered(self.settings.patience)),
            };
            ask.told = true;
            let is_readable = sighting.as_ref().is_some_and(|it| it.unreachable.is_none());
            self.board.tell(&pipeline, &ask.interest, &ask.target, sighting);
            if self.settings.label_workloads && is_readable {
                readable.push((namespace, pipeline));
            }
        }
        // Only now it is known whose workloads all of them are.
        for (namespace, pipeline) in readable {
            self.label(&namespace, &pipeline, now);
        }
        if moved {
            self.follow_members();
        }
    }

    /// What is read beside workloads is read of those that somebody has.
    fn follow_members(&mut self) {
        self.reading.want(self.asks.members());
        self.picture.details.retain(|place, _| self.reading.wants(place));
    }

    fn label(&mut self, namespace: &Namespace, pipeline: &PipelineKey, now: Instant) {
        let (Some(session), Some(ask)) = (&mut self.session, self.asks.get(namespace, pipeline)) else { return };
        for member in ask.members.iter().filter(|member| self.asks.is_of_one(&member.place)) {
            self.labelling.start(now, session, &self.picture, &member.place, ask.labels(pipeline));
        }
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Found(found) => self.found(found),
            Report::Session(number, news) => {
                if self.session.as_ref().is_some_and(|session| session.number == number) {
                    self.news(news);
                }
            }
        }
    }

    /// Starts and ends watches, as they are needed.
    fn watch(&mut self) {
        for (kind, known) in &mut self.picture.kinds {
            let wanted = self.asks.namespaces(*kind);
            known.namespaces.retain(|namespace, _| wanted.contains(namespace));
            let scopes = watch::scopes(&wanted);
            // What a watch that was in trouble saw last is not believed until another has seen it.
            for (scope, _) in known.troubles.extract_if(.., |scope, _| !scopes.contains(scope)) {
                match scope {
                    Scope::All => known.namespaces.clear(),
                    Scope::Namespace(one) => drop(known.namespaces.remove(&one)),
                }
            }
            let Some(session) = self.session.as_mut().filter(|session| session.is_started) else { continue };
            let resource = match &known.served {
                Served::As(resource) => Some(resource),
                Served::Unknown | Served::Missing(_) => None,
            };
            session.watch(*kind, resource, &scopes, &wanted);
        }
    }

    /// When time alone changes what is told.
    fn next_change(&self, now: Instant) -> Option<Instant> {
        let picture = &self.picture;
        let watches = picture.kinds.values().flat_map(|kind| kind.troubles.values());
        let details = picture.details.values().flat_map(|it| [&it.images.trouble, &it.source.trouble]).flatten();
        let troubles = picture.trouble.iter().chain(watches).chain(details);
        let quiet = troubles.filter(|it| !it.shows(now, self.settings.grace)).map(|it| it.begun + self.settings.grace);
        quiet.chain(self.asks.untold().map(|asked| asked + self.settings.patience)).filter(|at| *at > now).min()
    }

    fn name(&self) -> String {
        self.key.as_ref().map_or_else(|| "local".to_owned(), ToString::to_string)
    }
}
