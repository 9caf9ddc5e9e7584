//! A watch of one kind that never ends.
//!
//! The list is streamed where the API server can do that, and fetched in pages where it cannot. Whatever breaks it (a
//! lost connection, a version that is too old, a missing right) is logged, and it begins again after a pause that grows,
//! with some chance in it; a connection that went silent is given up after five minutes.

use futures_util::{Stream, StreamExt as _, stream};
use kube::{
    Api, Client, Error, Resource,
    core::DeserializeGuard,
    runtime::{WatchStreamExt as _, watcher},
};
use serde::de::DeserializeOwned;

use super::fault;

/// An object that was seen. One that this version of Weir cannot read is still told, by its metadata.
pub(super) type Guarded<K> = DeserializeGuard<K>;

/// Whether a cluster has to know a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Without it nothing works.
    Required,
    /// A cluster that does not know it has no objects of it.
    Optional,
}

/// Follows all objects of a kind, on all namespaces.
pub(super) fn follow<K>(
    client: &Client,
    kind: &K::DynamicType,
    need: Need,
) -> impl Stream<Item = watcher::Event<Guarded<K>>> + Send + 'static
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
    K::DynamicType: Clone,
{
    let api: Api<Guarded<K>> = Api::all_with(client.clone(), kind);
    let name = format!("{}.{}", K::plural(kind), K::group(kind));
    let begin = Following { events: begin(api.clone(), watcher::Config::default().streaming_lists()), api, name, need };
    stream::unfold(begin, |mut following| async move {
        let events = following.next().await?;
        Some((stream::iter(events), following))
    })
    .flatten()
}

type Events<K> = stream::BoxStream<'static, watcher::Result<watcher::Event<Guarded<K>>>>;

struct Following<K: Resource> {
    api: Api<Guarded<K>>,
    events: Events<K>,
    name: String,
    need: Need,
}

fn begin<K>(api: Api<Guarded<K>>, config: watcher::Config) -> Events<K>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    watcher(api, config).default_backoff().boxed()
}

impl<K> Following<K>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    async fn next(&mut self) -> Option<Vec<watcher::Event<Guarded<K>>>> {
        match self.events.next().await? {
            Ok(event) => Some(vec![event]),
            Err(error) => Some(self.fail(&error)),
        }
    }

    fn fail(&mut self, error: &watcher::Error) -> Vec<watcher::Event<Guarded<K>>> {
        if asks_too_much(error) {
            tracing::info!(kind = self.name, "the API server streams no lists; they are fetched in pages");
            self.events = begin(self.api.clone(), watcher::Config::default());
            return Vec::new();
        }
        if self.need == Need::Optional && code(error) == Some(404) {
            tracing::debug!(kind = self.name, "the cluster does not know the kind, so there is nothing of it");
            return vec![watcher::Event::Init, watcher::Event::InitDone];
        }
        let reason = reason(error);
        tracing::warn!(kind = self.name, reason, "the watch broke off; it begins again");
        Vec::new()
    }
}

/// An API server that does not stream lists says so in these words.
fn asks_too_much(error: &watcher::Error) -> bool {
    let watcher::Error::WatchStartFailed(Error::Api(status)) = error else { return false };
    matches!(status.code, 400 | 422) && status.message.contains("sendInitialEvents")
}

fn code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(Error::Api(status))
        | watcher::Error::WatchStartFailed(Error::Api(status))
        | watcher::Error::WatchFailed(Error::Api(status))
        | watcher::Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

fn reason(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => fault::sentence(error),
        other => other.to_string(),
    }
}
