//! Events on Pipelines.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{
    api::{core::v1::ObjectReference, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{
    Api, Client,
    api::{PostParams, Resource},
};
use weir_core::{Phase, Promotion, promotion_name};
use weir_ports::StoreError;

use crate::hub::{
    fault,
    pipelines::{Defining, resource},
};

/// Who tells.
const CONTROLLER: &str = "pipelines.weave.works/weir";

/// What is older is not told any more. Less than the hour for which API servers keep Events.
const LATELY: SignedDuration = SignedDuration::from_mins(10);

/// How many names of Events that were told are kept, to not ask the API server again.
const KEPT: usize = 4096;

/// The Pipeline that an Event is about.
pub(in crate::hub) struct Subject {
    reference: ObjectReference,
    namespace: String,
}

impl Subject {
    pub(in crate::hub) fn of(defining: &Defining) -> Self {
        let kind = resource(defining.group);
        let metadata = &defining.object.metadata;
        let reference = ObjectReference {
            api_version: Some(kind.api_version),
            kind: Some(kind.kind),
            name: metadata.name.clone(),
            namespace: metadata.namespace.clone(),
            uid: metadata.uid.clone(),
            ..ObjectReference::default()
        };
        Self { reference, namespace: metadata.namespace.clone().unwrap_or_default() }
    }
}

/// The Events that this process told, by name.
#[derive(Clone, Default)]
pub(super) struct Announced(Arc<Mutex<BTreeSet<String>>>);

impl Announced {
    pub(super) async fn announce(
        &self,
        client: &Client,
        subject: &Subject,
        promotion: &Promotion,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let object = promotion_name(&promotion.key);
        for turn in promotion.history.iter().filter(|turn| now.duration_since(turn.at) < LATELY) {
            let name = format!("{object}.{}.{:x}", turn.phase.to_string().to_lowercase(), turn.at.as_millisecond());
            if self.lock().contains(&name) {
                continue;
            }
            let is_bad = matches!(turn.phase, Phase::Failed | Phase::Rejected | Phase::RolledBack);
            let why = turn.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            let words = Told {
                name: Some(name.clone()),
                reason: turn.phase.to_string(),
                action: "Promote".to_owned(),
                note: format!("{} into {}{why}", promotion.release, promotion.key.environment),
                is_bad,
                at: turn.at,
                related: Some(ObjectReference {
                    api_version: Some(weir_api::Promotion::api_version(&()).into_owned()),
                    kind: Some("Promotion".to_owned()),
                    name: Some(object.clone()),
                    namespace: Some(subject.namespace.clone()),
                    ..ObjectReference::default()
                }),
            };
            create(client, subject, words).await?;
            let mut told = self.lock();
            if told.len() >= KEPT {
                told.clear();
            }
            told.insert(name);
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells that somebody did something to a pipeline.
pub(in crate::hub) async fn tell(
    client: &Client,
    subject: &Subject,
    (verb, note): (&str, String),
    at: Timestamp,
) -> Result<(), StoreError> {
    let (action, reason) = (verb.to_owned(), "Asked".to_owned());
    create(client, subject, Told { name: None, reason, action, note, is_bad: false, at, related: None }).await
}

struct Told {
    /// `None`: some name.
    name: Option<String>,
    reason: String,
    action: String,
    note: String,
    is_bad: bool,
    at: Timestamp,
    related: Option<ObjectReference>,
}

async fn create(client: &Client, subject: &Subject, told: Told) -> Result<(), StoreError> {
    let prefix = subject.reference.name.clone().unwrap_or_default();
    let event = Event {
        metadata: ObjectMeta {
            generate_name: told.name.is_none().then(|| format!("{prefix}-")),
            name: told.name,
            namespace: Some(subject.namespace.clone()),
            ..ObjectMeta::default()
        },
        action: Some(told.action),
        event_time: Some(MicroTime(told.at)),
        // The API server takes so many characters.
        note: Some(told.note.chars().take(1000).collect()),
        reason: Some(told.reason),
        regarding: Some(subject.reference.clone()),
        related: told.related,
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some("weir".to_owned()),
        type_: Some(if told.is_bad { "Warning" } else { "Normal" }.to_owned()),
        ..Event::default()
    };
    let events: Api<Event> = Api::namespaced(client.clone(), &subject.namespace);
    match events.create(&PostParams::default(), &event).await {
        Ok(_) => Ok(()),
        Err(error) if fault::is(&error, 409) => Ok(()),
        Err(error) => Err(fault::unavailable(&error)),
    }
}
