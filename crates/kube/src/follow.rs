//! A watch of one kind that never ends.
//!
//! The list is streamed where the API server can do that, and fetched in pages where it cannot. Whatever breaks it (a
//! lost connection, a version that is too old, a missing right) is told, and it begins again after a pause that grows,
//! with some chance in it; a connection that went silent is given up after five minutes.

use std::{fmt::Debug, time::Duration};

use futures_util::{Stream, StreamExt as _, stream};
use kube::{
    Api, Client, Error, Resource,
    core::DeserializeGuard,
    runtime::{
        WatchStreamExt as _,
        utils::Backoff as _,
        watcher::{self, DefaultBackoff, watcher},
    },
};
use serde::de::DeserializeOwned;

use crate::hub;

/// An object that was seen. One that this version of Weir cannot read is still told, by its metadata.
pub(crate) type Guarded<K> = DeserializeGuard<K>;

/// Whether a cluster has to know a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Without it nothing works.
    Required,
    /// A cluster that does not know it has no objects of it.
    Optional,
}

/// How a watch goes on after it broke off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// From where it was, as far as the API server still knows what happened since.
    Resume,
    /// With a new list, so that whoever follows sees that it works again.
    Afresh,
}

/// Follows all objects of a kind, on all namespaces.
pub(crate) fn follow<K>(
    client: &Client,
    kind: &K::DynamicType,
    need: Need,
) -> impl Stream<Item = watcher::Event<Guarded<K>>> + Send + 'static
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    K::DynamicType: Clone,
{
    let api: Api<Guarded<K>> = Api::all_with(client.clone(), kind);
    let name = format!("{}.{}", K::plural(kind), K::group(kind));
    attempts(api, After::Resume).flat_map(move |event| {
        stream::iter(match event {
            Ok(event) => vec![event],
            Err(error) => broke_off(&name, need, &error),
        })
    })
}

/// Follows objects, and tells of every time that it broke off.
pub(crate) fn attempts<K>(
    api: Api<K>,
    after: After,
) -> impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + 'static
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let config = watcher::Config::default().streaming_lists();
    let events = begin(api.clone(), config.clone(), after);
    let begin = Following { api, config, after, events, pauses: DefaultBackoff::default(), pause: None };
    stream::unfold(begin, |mut following| async move {
        let event = following.next().await?;
        Some((event, following))
    })
}

type Events<K> = stream::BoxStream<'static, watcher::Result<watcher::Event<K>>>;

struct Following<K> {
    api: Api<K>,
    config: watcher::Config,
    after: After,
    events: Events<K>,
    pauses: DefaultBackoff,
    /// Set when the next attempt has to wait.
    pause: Option<Duration>,
}

fn begin<K>(api: Api<K>, config: watcher::Config, after: After) -> Events<K>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let events = watcher(api, config);
    match after {
        After::Resume => events.default_backoff().boxed(),
        After::Afresh => events.boxed(),
    }
}

impl<K> Following<K>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    async fn next(&mut self) -> Option<watcher::Result<watcher::Event<K>>> {
        loop {
            if let Some(pause) = self.pause.take() {
                tokio::time::sleep(pause).await;
                self.events = self.begin();
            }
            match self.events.next().await? {
                Err(error) if asks_too_much(&error) => {
                    tracing::info!("the API server streams no lists; they are fetched in pages");
                    self.config = watcher::Config::default();
                    self.events = self.begin();
                }
                Err(error) => {
                    if self.after == After::Afresh {
                        self.pause = self.pauses.next();
                    }
                    return Some(Err(error));
                }
                Ok(event) => {
                    if matches!(event, watcher::Event::InitDone) {
                        self.pauses.reset();
                    }
                    return Some(Ok(event));
                }
            }
        }
    }

    fn begin(&self) -> Events<K> {
        begin(self.api.clone(), self.config.clone(), self.after)
    }
}

fn broke_off<K>(kind: &str, need: Need, error: &watcher::Error) -> Vec<watcher::Event<K>> {
    if need == Need::Optional && code(error) == Some(404) {
        tracing::debug!(kind, "the cluster does not know the kind, so there is nothing of it");
        return vec![watcher::Event::Init, watcher::Event::InitDone];
    }
    let reason = cause(error).map_or_else(|| error.to_string(), hub::sentence);
    tracing::warn!(kind, reason, "the watch broke off; it begins again");
    Vec::new()
}

/// An API server that does not stream lists says so in these words.
fn asks_too_much(error: &watcher::Error) -> bool {
    let watcher::Error::WatchStartFailed(Error::Api(status)) = error else { return false };
    matches!(status.code, 400 | 422) && status.message.contains("sendInitialEvents")
}

/// What the API server answered, if it answered.
pub(crate) fn code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::WatchError(status) => Some(status.code),
        other => match cause(other)? {
            Error::Api(status) => Some(status.code),
            _ => None,
        },
    }
}

/// What broke a watch off, if that is a request that failed.
pub(crate) fn cause(error: &watcher::Error) -> Option<&Error> {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => Some(error),
        watcher::Error::WatchError(_) | watcher::Error::NoResourceVersion => None,
    }
}
