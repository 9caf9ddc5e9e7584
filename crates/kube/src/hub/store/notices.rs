//! What the watches of all kinds tell, as one stream.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use kube::runtime::watcher::Event;
use weir_api::{Freeze, Observation, PipelineGroup, Promotion, Proposal};
use weir_core::PipelineKey;
use weir_ports::{Notice, Record, RecordVersion};

use super::{HubStore, objects::sentences, told::Told};
use crate::follow::{Guarded, Need, follow};
use crate::hub::{
    kept::{Kept, Kind, Place},
    pipelines::{GROUPS, PipelineObject, key, resource, version},
};

/// A kind that is followed. All of them have to be listed before everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Pipelines(PipelineGroup),
    Records(Kind),
}

/// What an object of a kind says.
struct Seen {
    place: Place,
    version: RecordVersion,
    /// `None`: it says nothing yet, or nothing that can be read.
    record: Option<Record>,
}

enum Step {
    Begin,
    There(Seen),
    Gone(Seen),
    End,
    Pipeline(Box<Event<Guarded<PipelineObject>>>),
}

pub(super) fn notices(store: HubStore, told: Arc<Told>) -> impl Stream<Item = Notice> + Send + 'static {
    let client = store.client();
    let mut steps: Vec<BoxStream<'static, (Source, Step)>> = vec![
        records::<Promotion>(client, Kind::Promotion),
        records::<Observation>(client, Kind::Observation),
        records::<Freeze>(client, Kind::Freeze),
        records::<Proposal>(client, Kind::Proposal),
    ];
    for group in GROUPS {
        let need = if group == PipelineGroup::Weave { Need::Required } else { Need::Optional };
        let events = follow::<PipelineObject>(client, &resource(group), need);
        let step = move |event| (Source::Pipelines(group), Step::Pipeline(Box::new(event)));
        steps.push(events.map(step).boxed());
    }
    let sources = steps.len();
    let mut teller = Teller { store, told, sources, listed: BTreeSet::new(), listing: BTreeMap::new() };
    stream::select_all(steps).flat_map(move |(source, step)| stream::iter(teller.take(source, step)))
}

fn records<K: Kept>(client: &kube::Client, kind: Kind) -> BoxStream<'static, (Source, Step)> {
    let step = move |event| {
        let step = match event {
            Event::Init => Step::Begin,
            Event::InitApply(object) | Event::Apply(object) => Step::There(seen::<K>(object)),
            Event::Delete(object) => Step::Gone(seen::<K>(object)),
            Event::InitDone => Step::End,
        };
        (Source::Records(kind), step)
    };
    follow::<K>(client, &(), Need::Required).map(step).boxed()
}

fn seen<K: Kept>(object: Guarded<K>) -> Seen {
    let (metadata, record) = match object.0 {
        Ok(object) => {
            (object.meta().clone(), object.record().map(|record| record.map_err(|wrong: Vec<_>| sentences(&wrong))))
        }
        Err(invalid) => (invalid.metadata, Some(Err(invalid.error))),
    };
    let place = Place::of(&metadata);
    let record = record.and_then(|record| match record {
        Ok(record) => Some(record),
        Err(reason) => {
            let Place { namespace, name } = &place;
            let kind = K::kind(&());
            tracing::warn!(%kind, namespace, name, reason, "a record is kept, but cannot be read any more");
            None
        }
    });
    Seen { place, version: RecordVersion(version(&metadata)), record }
}

/// Turns what the watches tell into notices.
struct Teller {
    store: HubStore,
    told: Arc<Told>,
    sources: usize,
    listed: BTreeSet<Source>,
    /// The present list of a group: when it began, and what it has brought so far.
    listing: BTreeMap<PipelineGroup, (u64, BTreeSet<PipelineKey>)>,
}

impl Teller {
    fn take(&mut self, source: Source, step: Step) -> Vec<Notice> {
        match (source, step) {
            (Source::Records(kind), step) => self.record(kind, step),
            (Source::Pipelines(group), Step::Pipeline(event)) => self.pipeline(group, *event),
            (Source::Pipelines(_), _) => Vec::new(),
        }
    }

    fn record(&mut self, kind: Kind, step: Step) -> Vec<Notice> {
        match step {
            Step::Begin => self.told.begin(kind),
            Step::There(seen) => {
                self.store.pipelines().saw(seen.version.0);
                self.told.there(kind, &seen.place);
                let notice = seen.record.and_then(|record| self.told.changed(kind, seen.place, record, seen.version));
                return notice.into_iter().collect();
            }
            Step::Gone(seen) => {
                self.store.pipelines().saw(seen.version.0);
                return self.told.gone(kind, &seen.place, seen.version).into_iter().collect();
            }
            Step::End => {
                let mut notices = self.told.end(kind, self.newest());
                notices.extend(self.list(Source::Records(kind)));
                return notices;
            }
            Step::Pipeline(_) => {}
        }
        Vec::new()
    }

    fn pipeline(&mut self, group: PipelineGroup, event: Event<Guarded<PipelineObject>>) -> Vec<Notice> {
        let pipelines = self.store.pipelines();
        match event {
            Event::Init => {
                self.listing.insert(group, (pipelines.newest(), BTreeSet::new()));
                Vec::new()
            }
            Event::InitApply(object) | Event::Apply(object) => {
                let metadata = metadata(&object).clone();
                let Some(key) = key(&metadata) else { return Vec::new() };
                if let Some((_, there)) = self.listing.get_mut(&group) {
                    there.insert(key.clone());
                }
                match object.0 {
                    Ok(object) => pipelines.observe(group, object),
                    Err(invalid) => {
                        let reason = invalid.error;
                        tracing::warn!(pipeline = %key, %group, reason, "a Pipeline cannot be read; what it said stays");
                    }
                }
                self.tell(&key)
            }
            Event::Delete(object) => {
                let metadata = metadata(&object);
                let Some(key) = key(metadata) else { return Vec::new() };
                pipelines.gone(group, &key, version(metadata));
                self.tell(&key)
            }
            Event::InitDone => {
                let (begun, there) = self.listing.remove(&group).unwrap_or_default();
                for (key, of) in pipelines.all() {
                    if of == group && !there.contains(&key) {
                        pipelines.gone(group, &key, begun);
                    }
                }
                let mut notices: Vec<_> = self.told.pipelines().iter().flat_map(|key| self.tell(key)).collect();
                notices.extend(self.list(Source::Pipelines(group)));
                notices
            }
        }
    }

    /// What is new in the status of a pipeline.
    fn tell(&self, key: &PipelineKey) -> Vec<Notice> {
        self.told.parts(key, &self.store.pipelines().records(key), self.newest())
    }

    /// A kind was listed. When all were, for the first time, that is told.
    fn list(&mut self, source: Source) -> Option<Notice> {
        let is_news = self.listed.insert(source) && self.listed.len() == self.sources;
        is_news.then_some(Notice::Listed)
    }

    fn newest(&self) -> RecordVersion {
        RecordVersion(self.store.pipelines().newest())
    }
}

fn metadata(object: &Guarded<PipelineObject>) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
    match &object.0 {
        Ok(object) => &object.metadata,
        Err(invalid) => &invalid.metadata,
    }
}
