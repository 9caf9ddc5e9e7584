//! The watch of one kind in one scope.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::{StreamExt as _, pin_mut};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
    runtime::watcher::Event,
};
use serde_json::Value;
use weir_core::{Name, Namespace, WorkloadKind};

use super::{
    fault::Fault,
    picture::{Scope, resource},
    trim::Kept,
};
use crate::follow::{After, attempts};

/// Up to so many namespaces are watched one by one.
const NAMESPACES: usize = 20;

/// What a watch tells.
pub(super) enum WatchNews {
    /// All that there is, in the namespaces that it sees.
    Listed(Listed),
    /// A workload is like this now.
    Changed(Namespace, Name, Kept),
    /// A workload is gone.
    Gone(Namespace, Name),
    /// The watch broke off. It begins again.
    Broke(Fault),
}

/// The workloads of namespaces.
pub(super) type Listed = BTreeMap<Namespace, BTreeMap<Name, Kept>>;

/// Which watches see these namespaces.
pub(super) fn scopes(namespaces: &BTreeSet<Namespace>) -> BTreeSet<Scope> {
    if namespaces.len() > NAMESPACES {
        return BTreeSet::from([Scope::All]);
    }
    namespaces.iter().cloned().map(Scope::Namespace).collect()
}

/// A watch that is to be.
pub(super) struct Watch {
    pub(super) client: Client,
    pub(super) server: Arc<str>,
    pub(super) kind: WorkloadKind,
    pub(super) resource: ApiResource,
    pub(super) scope: Scope,
    /// What is in another namespace counts for nothing.
    pub(super) namespaces: BTreeSet<Namespace>,
}

impl Watch {
    /// Tells what it sees, until nobody listens.
    pub(super) async fn run(self, mut tell: impl AsyncFnMut(WatchNews) -> bool) {
        let api: Api<DynamicObject> = match &self.scope {
            Scope::All => Api::all_with(self.client.clone(), &self.resource),
            Scope::Namespace(one) => Api::namespaced_with(self.client.clone(), one.as_str(), &self.resource),
        };
        let right = right(self.kind, &self.scope);
        let events = attempts(api, After::Afresh);
        pin_mut!(events);
        let mut listed = Listed::new();
        while let Some(event) = events.next().await {
            let news = match event {
                Ok(Event::Init) => {
                    listed = self.namespaces.iter().map(|namespace| (namespace.clone(), BTreeMap::new())).collect();
                    continue;
                }
                Ok(Event::InitApply(object)) => {
                    if let Some((namespace, name)) = self.key(&object) {
                        listed.entry(namespace).or_default().insert(name, self.keep(object));
                    }
                    continue;
                }
                Ok(Event::InitDone) => WatchNews::Listed(std::mem::take(&mut listed)),
                Ok(Event::Apply(object)) => match self.key(&object) {
                    Some((namespace, name)) => WatchNews::Changed(namespace, name, self.keep(object)),
                    None => continue,
                },
                Ok(Event::Delete(object)) => match self.key(&object) {
                    Some((namespace, name)) => WatchNews::Gone(namespace, name),
                    None => continue,
                },
                Err(error) => WatchNews::Broke(Fault::of_watch(&error, &self.server, &right)),
            };
            if !tell(news).await {
                return;
            }
        }
    }

    fn key(&self, object: &DynamicObject) -> Option<(Namespace, Name)> {
        let namespace = Namespace::new(object.metadata.namespace.as_deref()?).ok()?;
        let name = Name::new(object.metadata.name.as_deref()?).ok()?;
        self.namespaces.contains(&namespace).then_some((namespace, name))
    }

    fn keep(&self, mut object: DynamicObject) -> Kept {
        object.metadata.managed_fields = None;
        let mut whole = object.data;
        if let Some(fields) = whole.as_object_mut() {
            // Lists leave these out of their items.
            fields.insert("apiVersion".to_owned(), self.resource.api_version.clone().into());
            fields.insert("kind".to_owned(), self.resource.kind.clone().into());
            fields.insert("metadata".to_owned(), serde_json::to_value(&object.metadata).unwrap_or(Value::Null));
        }
        Kept::of(self.kind, &whole)
    }
}

fn right(kind: WorkloadKind, scope: &Scope) -> String {
    let (_, _, plural) = resource(kind);
    match scope {
        Scope::All => {
            format!("list and watch {plural} in all namespaces, because targets are in more than {NAMESPACES} of them")
        }
        Scope::Namespace(one) => format!("list and watch {plural} in namespace `{one}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_namespaces_are_watched_at_once() {
        let named =
            |count: usize| (0..count).map(|n| Namespace::new(format!("n{n}")).unwrap()).collect::<BTreeSet<_>>();
        assert_eq!(scopes(&named(0)).len(), 0);
        assert_eq!(scopes(&named(20)).len(), 20);
        assert_eq!(scopes(&named(21)), BTreeSet::from([Scope::All]));
    }
}
