//! How people act: what they do is noted, and done anew for as long as somebody else is faster.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use weir_core::{Namespace, PipelineKey, Selector};
use weir_ports::{Clock, Deed, Journal, Store, StoreError};

use super::{Asked, Denied, People};

/// How often it is done anew because somebody else wrote the same record.
const ROUNDS: usize = 64;

/// What somebody does.
pub(crate) struct Act<'a> {
    namespace: Option<Namespace>,
    pipeline: Option<PipelineKey>,
    verb: &'a str,
    object: String,
    detail: Option<String>,
}

impl<'a> Act<'a> {
    pub(crate) fn on(pipeline: &PipelineKey, verb: &'a str, object: String) -> Self {
        let (namespace, pipeline) = (Some(pipeline.namespace.clone()), Some(pipeline.clone()));
        Self { namespace, pipeline, verb, object, detail: None }
    }

    /// On all that is selected: everything, a namespace, or one pipeline.
    pub(super) fn on_all(selected: &Selector, verb: &'a str, object: String) -> Self {
        let namespace = selected.namespace.clone();
        let pipeline = namespace.clone().zip(selected.pipeline.clone());
        let pipeline = pipeline.map(|(namespace, name)| PipelineKey { namespace, name });
        Self { namespace, pipeline, verb, object, detail: None }
    }

    pub(crate) fn about(self, detail: impl Display) -> Self {
        Self { detail: Some(detail.to_string()), ..self }
    }

    /// The deed that it is when somebody does it.
    pub(crate) fn by(self, asked: &Asked, at: Timestamp) -> Deed {
        Deed {
            at,
            by: asked.by.clone(),
            verb: self.verb.to_owned(),
            object: self.object,
            namespace: self.namespace,
            pipeline: self.pipeline,
            detail: self.detail,
            why: asked.why.clone(),
        }
    }
}

/// Writes a deed down, before it is done.
pub(crate) async fn write(journal: &impl Journal, deed: &Deed) -> Result<(), StoreError> {
    journal.note(deed).await?;
    let Deed { by, verb, object, detail, why, .. } = deed;
    tracing::info!(by = by.name, verb, object, detail, why, "somebody acts");
    Ok(())
}

/// What has been noted of an act, however often it is tried.
#[derive(Debug, Clone, Default)]
pub(super) struct Noted(Arc<Mutex<Option<Deed>>>);

impl<S: Store, J: Journal, C: Clock> People<'_, S, J, C> {
    /// Acts, and acts again if somebody else was faster. If it comes to nothing after it was noted, that is noted, too.
    pub(super) async fn retry<T, F>(&self, act: impl Fn(Noted) -> F) -> Result<T, Denied>
    where
        F: Future<Output = Result<T, Denied>> + Send,
    {
        let noted = Noted::default();
        let mut last = act(noted.clone()).await;
        for _ in 1..ROUNDS {
            let Err(Denied::Store(StoreError::Moved(key) | StoreError::Exists(key))) = &last else { break };
            if let Some(stored) = self.store.get(key).await? {
                self.world.keep(stored);
            }
            last = act(noted.clone()).await;
        }
        let deed = noted.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Err(denied), Some(deed)) = (&last, deed) {
            let detail = Some(format!("not done: {denied}"));
            self.journal.note(&Deed { detail, ..deed }).await?;
        }
        last
    }

    /// Notes what somebody does, before it is done; once, however often it is tried.
    pub(super) async fn note(&self, noted: &Noted, asked: &Asked, act: Act<'_>) -> Result<(), Denied> {
        if noted.0.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(());
        }
        let deed = act.by(asked, self.clock.now());
        write(self.journal, &deed).await?;
        *noted.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(deed);
        Ok(())
    }
}
