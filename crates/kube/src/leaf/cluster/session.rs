//! What runs while there is a way into a cluster: checks, watches, and what is read now and then. All of it ends when it
//! is dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIGroupList;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use weir_core::{Namespace, WorkloadKind};

use super::Report;
use crate::leaf::{
    LeafSettings,
    access::Way,
    details::{Read, Reader},
    fault::Fault,
    labels,
    picture::{Place, Scope, newest, resource},
    trim::Kept,
    watch::{Watch, WatchNews},
};

/// How much is written at the same time.
const AT_ONCE: usize = 8;

/// What happens in a session.
pub(in crate::leaf) enum News {
    /// Whether the cluster answers; and which kinds it has, if that was asked.
    Checked(Result<Option<Groups>, Fault>),
    /// What a watch tells.
    Watch(u64, WatchNews),
    /// What was read beside a workload that had this fingerprint.
    Read(Place, u64, Box<Read>),
    /// Whether a workload was labelled.
    Labelled(Place, Result<(), Fault>),
}

/// The groups that a cluster has, and their versions.
pub(in crate::leaf) struct Groups(APIGroupList);

impl Groups {
    /// The versions of the group of a kind.
    pub(super) fn versions(&self, kind: WorkloadKind) -> Vec<&str> {
        let (name, _, _) = resource(kind);
        let groups = self.0.groups.iter().filter(|group| group.name == name);
        groups.flat_map(|group| &group.versions).map(|version| version.version.as_str()).collect()
    }
}

/// Where a session reports to.
#[derive(Clone)]
pub(super) struct Outlet {
    pub(super) outbox: mpsc::Sender<Report>,
    pub(super) session: u64,
}

impl Outlet {
    /// Whether somebody listens.
    async fn tell(&self, news: News) -> bool {
        self.outbox.send(Report::Session(self.session, news)).await.is_ok()
    }
}

/// A session.
pub(super) struct Session {
    pub(super) number: u64,
    pub(super) way: Way,
    /// Whether it has answered once.
    pub(super) is_started: bool,
    client: Client,
    outlet: Outlet,
    tasks: JoinSet<()>,
    watches: BTreeMap<(WorkloadKind, Scope), Running>,
    watch_count: u64,
    permits: Arc<Semaphore>,
    /// `None`: a check is under way.
    check_at: Option<Instant>,
    discover_at: Instant,
    failures: u32,
}

struct Running {
    number: u64,
    resource: ApiResource,
    namespaces: BTreeSet<Namespace>,
    task: AbortHandle,
}

impl Session {
    pub(super) fn open(way: Way, outlet: Outlet) -> Result<Self, Fault> {
        let now = Instant::now();
        Ok(Self {
            number: outlet.session,
            client: way.client()?,
            way,
            is_started: false,
            outlet,
            tasks: JoinSet::new(),
            watches: BTreeMap::new(),
            watch_count: 0,
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            check_at: Some(now),
            discover_at: now,
            failures: 0,
        })
    }

    /// Asks the cluster whether it is there, if it is time to; and which kinds it has, if some are missing.
    pub(super) fn check_if_due(&mut self, now: Instant, discover: bool, settings: &LeafSettings) {
        while self.tasks.try_join_next().is_some() {}
        if self.check_at.is_none_or(|at| now < at) {
            return;
        }
        self.check_at = None;
        let discover = !self.is_started || (now >= self.discover_at && (discover || self.failures == 0));
        let (client, outlet) = (self.client.clone(), self.outlet.clone());
        let (server, deadline) = (Arc::clone(&self.way.server), settings.deadline);
        self.tasks.spawn(async move {
            let right = "get `/version` and `/apis`";
            let ask = async {
                if discover {
                    client.list_api_groups().await.map(|groups| Some(Groups(groups)))
                } else {
                    client.apiserver_version().await.map(|_| None)
                }
            };
            let answer = match tokio::time::timeout(deadline, ask).await {
                Ok(answer) => answer.map_err(|error| Fault::of(&error, &server, right)),
                Err(_) => Err(Fault::late(&server, deadline)),
            };
            outlet.tell(News::Checked(answer)).await;
        });
    }

    /// It has answered.
    pub(super) fn answered(&mut self, now: Instant, lacks_kinds: bool, settings: &LeafSettings) {
        self.failures = 0;
        let pause = if lacks_kinds { settings.probe.min(settings.discovery) } else { settings.probe };
        if now >= self.discover_at {
            self.discover_at = now + if lacks_kinds { settings.discovery } else { Duration::from_hours(1) };
        }
        self.check_at = Some(now + pause);
    }

    /// It has not.
    pub(super) fn failed(&mut self, now: Instant, probe: Duration) {
        let pause = Duration::from_millis(500 << self.failures.min(6)).min(probe);
        self.failures = self.failures.saturating_add(1);
        self.check_at = Some(now + pause);
    }

    /// A check shall be made by then.
    pub(super) fn check_soon(&mut self, by: Instant) {
        self.check_at = self.check_at.map(|at| at.min(by));
    }

    /// It shall be asked again which kinds there are.
    pub(super) fn discover(&mut self, now: Instant) {
        self.discover_at = now;
        self.check_soon(now);
    }

    pub(super) fn next_check(&self) -> Option<Instant> {
        self.check_at
    }

    /// What a watch sees.
    pub(super) fn watched(&self, number: u64) -> Option<(WorkloadKind, Scope)> {
        self.watches.iter().find(|(_, running)| running.number == number).map(|(key, _)| key.clone())
    }

    /// Sees to it that exactly these watches of a kind run.
    pub(super) fn watch(
        &mut self,
        kind: WorkloadKind,
        resource: Option<&ApiResource>,
        scopes: &BTreeSet<Scope>,
        namespaces: &BTreeSet<Namespace>,
    ) {
        self.watches.retain(|(of, scope), running| {
            let sees = *scope != Scope::All || running.namespaces.is_superset(namespaces);
            let stays = *of != kind || (scopes.contains(scope) && resource == Some(&running.resource) && sees);
            if !stays {
                running.task.abort();
            }
            stays
        });
        let Some(resource) = resource else { return };
        for scope in scopes {
            if self.watches.contains_key(&(kind, scope.clone())) {
                continue;
            }
            let namespaces = match scope {
                Scope::All => namespaces.clone(),
                Scope::Namespace(one) => BTreeSet::from([one.clone()]),
            };
            self.watch_count += 1;
            let number = self.watch_count;
            let watch = Watch {
                client: self.client.clone(),
                server: Arc::clone(&self.way.server),
                kind,
                resource: resource.clone(),
                scope: scope.clone(),
                namespaces: namespaces.clone(),
            };
            let outlet = self.outlet.clone();
            let tell = async move |news| outlet.tell(News::Watch(number, news)).await;
            let task = self.tasks.spawn(watch.run(tell));
            let running = Running { number, resource: resource.clone(), namespaces, task };
            self.watches.insert((kind, scope.clone()), running);
        }
    }

    /// How something on the cluster is read.
    pub(super) fn reader(&self, deadline: Duration) -> Reader {
        Reader { client: self.client.clone(), server: Arc::clone(&self.way.server), deadline }
    }

    /// Reads what a workload alone does not tell.
    pub(super) fn read(&mut self, place: &Place, kept: &Kept, source: bool, deadline: Duration) {
        let reader = self.reader(deadline);
        let (place, kept, outlet) = (place.clone(), kept.clone(), self.outlet.clone());
        self.tasks.spawn(async move {
            let read = reader.read(&place, &kept.object(), source).await;
            outlet.tell(News::Read(place, kept.fingerprint, Box::new(read))).await;
        });
    }

    /// Gives a workload labels, unless somebody else gives it others.
    pub(super) fn label(&mut self, place: &Place, object: &Value, labels: &[(&'static str, String)]) {
        let Some(version) = object["apiVersion"].as_str().and_then(|it| it.split('/').nth(1)) else { return };
        let Some(resource) = newest(place.kind, &[version]) else { return };
        let values: BTreeMap<_, _> = labels.iter().cloned().collect();
        let wanted = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            // With its identity it is never made anew by this, should it be gone.
            "metadata": {
                "name": place.name, "namespace": place.namespace, "uid": object["metadata"]["uid"], "labels": values,
            },
        });
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), place.namespace.as_str(), &resource);
        let right = format!("patch {} in namespace `{}`", resource.plural, place.namespace);
        let (permits, outlet, server) = (Arc::clone(&self.permits), self.outlet.clone(), Arc::clone(&self.way.server));
        let place = place.clone();
        self.tasks.spawn(async move {
            let Ok(_permit) = permits.acquire().await else { return };
            let parameters = PatchParams::apply(labels::MANAGER);
            let patched = api.patch_metadata(place.name.as_str(), &parameters, &Patch::Apply(&wanted)).await;
            let result = patched.map(drop).map_err(|error| Fault::of(&error, &server, &right));
            outlet.tell(News::Labelled(place, result)).await;
        });
    }
}
