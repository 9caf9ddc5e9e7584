//! What somebody who follows was told, so that they are told once, and told when it is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;
use weir_core::PipelineKey;
use weir_ports::{Notice, Record, RecordKey, RecordVersion, Stored};

use crate::hub::{
    kept::{Kind, Place},
    pipelines::Part,
};

/// What one who follows was told.
#[derive(Default)]
pub(super) struct Told(Mutex<Book>);

#[derive(Default)]
struct Book {
    objects: BTreeMap<(Kind, Place), (RecordKey, RecordVersion)>,
    /// What the present list of a kind has brought so far.
    listing: BTreeMap<Kind, BTreeSet<Place>>,
    parts: BTreeMap<PipelineKey, BTreeMap<Part, RecordVersion>>,
}

impl Told {
    /// This process wrote a record. Whether or not it is ever told, its end is.
    pub(super) fn expect(&self, kind: Kind, place: &Place, key: &RecordKey) {
        let untold = (key.clone(), RecordVersion(0));
        self.lock().objects.entry((kind, place.clone())).or_insert(untold);
    }

    /// A list begins, or begins anew.
    pub(super) fn begin(&self, kind: Kind) {
        self.lock().listing.insert(kind, BTreeSet::new());
    }

    /// An object is there, whatever it says.
    pub(super) fn there(&self, kind: Kind, place: &Place) {
        if let Some(listing) = self.lock().listing.get_mut(&kind) {
            listing.insert(place.clone());
        }
    }

    /// A record is like this; what to tell, if that is news.
    pub(super) fn changed(&self, kind: Kind, place: Place, record: Record, version: RecordVersion) -> Option<Notice> {
        let mut book = self.lock();
        let known = book.objects.get(&(kind, place.clone()));
        if known.is_some_and(|(_, known)| *known >= version) {
            return None;
        }
        book.objects.insert((kind, place), (record.key(), version));
        Some(Notice::Changed(Stored { record, version }))
    }

    /// An object is gone; what to tell, if anything was told of it.
    pub(super) fn gone(&self, kind: Kind, place: &Place, version: RecordVersion) -> Option<Notice> {
        let (key, known) = self.lock().objects.remove(&(kind, place.clone()))?;
        Some(Notice::Removed(key, known.max(version)))
    }

    /// A list ends: whatever it did not bring is gone.
    pub(super) fn end(&self, kind: Kind, version: RecordVersion) -> Vec<Notice> {
        let mut book = self.lock();
        let Some(there) = book.listing.remove(&kind) else { return Vec::new() };
        let gone = book.objects.extract_if(.., |(of, place), _| *of == kind && !there.contains(place));
        gone.map(|(_, (key, known))| Notice::Removed(key, known.max(version))).collect()
    }

    /// The records in the status of a pipeline are these.
    pub(super) fn parts(
        &self,
        pipeline: &PipelineKey,
        records: &BTreeMap<Part, (Value, RecordVersion)>,
        version: RecordVersion,
    ) -> Vec<Notice> {
        let mut book = self.lock();
        let told = book.parts.entry(pipeline.clone()).or_default();
        let mut notices = Vec::new();
        for (part, at) in told.extract_if(.., |part, _| !records.contains_key(part)) {
            notices.push(Notice::Removed(part.key(pipeline), at.max(version)));
        }
        for (part, (content, at)) in records {
            if told.get(part).is_some_and(|told| told >= at) {
                continue;
            }
            match part.read(pipeline, content) {
                Ok(record) => {
                    told.insert(part.clone(), *at);
                    notices.push(Notice::Changed(Stored { record, version: *at }));
                }
                Err(reason) => {
                    let key = part.key(pipeline);
                    tracing::warn!(%key, reason, "a record is kept, but cannot be read any more");
                }
            }
        }
        if told.is_empty() {
            book.parts.remove(pipeline);
        }
        notices
    }

    /// The pipelines of which a part was told.
    pub(super) fn pipelines(&self) -> Vec<PipelineKey> {
        self.lock().parts.keys().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
