//! The objects behind a workload, read when somebody wants to see them.
//!
//! From the outside in: the source, the chart that Flux made of it, the workload, and what that applied. Of what was
//! applied, only what Weir may read anyway is looked at: what runs containers, and workloads of Flux, whose own objects
//! follow. Everything else is named.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use serde_json::Value;
use weir_core::{Namespace, WorkloadKey, WorkloadKind};
use weir_ports::{TreeObject, TreeState, Unseen};

use super::{
    details::Reader,
    fault::{Class, Fault},
    inventory::{self, Entry},
    picture,
    source::Reference,
    state::state,
};

/// How many objects of one workload are shown.
const MOST: usize = 200;
/// How many objects are read in all, and how many at the same time.
const READS: usize = 200;
const AT_ONCE: usize = 8;
/// How many workloads may stand one within the other.
const DEPTH: usize = 4;

/// Reads what is behind a workload.
pub(super) struct Behind {
    reader: Reader,
    reads: AtomicUsize,
}

impl Behind {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, reads: AtomicUsize::new(0) }
    }

    /// Everything behind a workload.
    pub(super) async fn look(&self, namespace: &Namespace, workload: &WorkloadKey) -> Result<TreeObject, Unseen> {
        let (kind, home, name) = (workload.kind, namespace.as_str(), workload.name.as_str());
        let found = self.workload(kind, home, name).await?;
        let Some(object) = found else {
            return Err(Unseen::Gone(format!("there is no {kind} `{home}/{name}` any more")));
        };
        let tree = self.tree(kind, home, name, &object, 0).await?;
        let sources = self.sources(kind, home, &object).await?;
        Ok(sources.into_iter().fold(tree, |inner, source| TreeObject { leads_to: vec![inner], ..source }))
    }

    async fn workload(&self, kind: WorkloadKind, namespace: &str, name: &str) -> Result<Option<Value>, Fault> {
        self.reader.get_any(picture::resources(kind), namespace, name).await
    }

    /// What a workload is made from, innermost first.
    async fn sources(&self, kind: WorkloadKind, home: &str, workload: &Value) -> Result<Vec<TreeObject>, Fault> {
        let made = workload.pointer("/status/helmChart").and_then(Value::as_str).and_then(|it| it.split_once('/'));
        let made = made.filter(|_| kind == WorkloadKind::HelmRelease && workload.pointer("/spec/chartRef").is_none());
        let reference = match made {
            Some((namespace, name)) => Some(Reference::chart(namespace, name)),
            None => Reference::of(kind, workload),
        };
        let Some(reference) = reference else { return Ok(Vec::new()) };
        let (source, found) = self.source(&reference, home).await?;
        let mut sources = vec![source];
        if let Some((chart, reference)) = found.as_ref().and_then(|it| Some((it, Reference::of_chart(it)?))) {
            let home = chart.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or(home);
            sources.push(self.source(&reference, home).await?.0);
        }
        Ok(sources)
    }

    async fn source(&self, reference: &Reference<'_>, home: &str) -> Result<(TreeObject, Option<Value>), Fault> {
        let namespace = reference.namespace.unwrap_or(home);
        let found = match self.reader.get_any(reference.resources(), namespace, reference.name).await {
            Err(fault) if fault.class == Class::Settled => {
                return Ok((unread(reference.kind, namespace, reference.name, Some(fault.text.to_string())), None));
            }
            other => other?,
        };
        let version = found.as_ref().and_then(|it| it.pointer("/status/artifact/revision")?.as_str());
        let object = described(reference.kind, namespace, reference.name, found.as_ref(), version.map(str::to_owned));
        Ok((object, found))
    }

    /// A workload, and what it applied.
    fn tree<'a>(
        &'a self,
        kind: WorkloadKind,
        namespace: &'a str,
        name: &'a str,
        workload: &'a Value,
        depth: usize,
    ) -> BoxFuture<'a, Result<TreeObject, Fault>> {
        async move {
            let text = |path: &str| workload.pointer(path).and_then(Value::as_str).map(str::to_owned);
            let version = match kind {
                WorkloadKind::HelmRelease => {
                    text("/status/history/0/chartVersion").or_else(|| text("/status/lastAttemptedRevision"))
                }
                WorkloadKind::Kustomization => text("/status/lastAppliedRevision"),
            };
            let mut tree = described(&kind.to_string(), namespace, name, Some(workload), version);
            let Some(inventory) = workload.pointer("/status/inventory") else {
                let none = "this version of Flux keeps no list of what it applied";
                tree.message.get_or_insert_with(|| none.to_owned());
                return Ok(tree);
            };
            let entries = inventory.get("entries").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            tree.left_out = entries.len().saturating_sub(MOST);
            let elsewhere = workload.pointer("/spec/kubeConfig").is_some();
            let applied = entries.iter().take(MOST).map(|entry| self.applied(entry, elsewhere, depth).boxed());
            let applied: Vec<_> = applied.collect();
            let applied: Vec<_> = stream::iter(applied).buffered(AT_ONCE).collect().await;
            for object in applied {
                tree.leads_to.extend(object?);
            }
            tree.leads_to.sort_by(|a, b| (&a.kind, &a.namespace, &a.name).cmp(&(&b.kind, &b.namespace, &b.name)));
            Ok(tree)
        }
        .boxed()
    }

    /// Something that a workload applied.
    async fn applied(&self, entry: &Value, elsewhere: bool, depth: usize) -> Result<Option<TreeObject>, Fault> {
        let id = entry.get("id").and_then(Value::as_str).and_then(inventory::identity);
        let Some((namespace, name, group, kind)) = id else { return Ok(None) };
        if elsewhere {
            let words = "on yet another cluster, as its workload says";
            return Ok(Some(unread(kind, namespace, name, Some(words.to_owned()))));
        }
        let of_flux = picture::KINDS.into_iter().find(|it| it.to_string() == kind && picture::resource(*it).0 == group);
        let runner = Entry::of(entry);
        if of_flux.is_none() && runner.is_none()
            || depth >= DEPTH
            || self.reads.fetch_add(1, Ordering::Relaxed) >= READS
        {
            return Ok(Some(unread(kind, namespace, name, None)));
        }
        let found = match (of_flux, &runner) {
            (Some(kind), _) => self.workload(kind, namespace, name).await,
            (None, Some(entry)) => self.reader.get(&entry.resource, namespace, name).await,
            (None, None) => Ok(None),
        };
        let found = match found {
            Err(fault) if fault.class == Class::Settled => {
                return Ok(Some(unread(kind, namespace, name, Some(fault.text.to_string()))));
            }
            other => other?,
        };
        if let (Some(kind), Some(object)) = (of_flux, &found) {
            return self.tree(kind, namespace, name, object, depth + 1).await.map(Some);
        }
        let mut images: Vec<_> = found.iter().zip(&runner).flat_map(|(object, entry)| entry.images(object)).collect();
        images.sort_unstable();
        images.dedup();
        let version = (!images.is_empty()).then(|| images.join(", "));
        Ok(Some(described(kind, namespace, name, found.as_ref(), version)))
    }
}

impl From<Fault> for Unseen {
    fn from(fault: Fault) -> Self {
        Self::Unreachable(fault.text.to_string())
    }
}

/// An object that was looked for.
fn described(kind: &str, namespace: &str, name: &str, found: Option<&Value>, version: Option<String>) -> TreeObject {
    let (state, message) = found.map_or((TreeState::Missing, None), |object| state(kind, object));
    TreeObject { state, message, version, ..unread(kind, namespace, name, None) }
}

/// An object that is only named.
fn unread(kind: &str, namespace: &str, name: &str, message: Option<String>) -> TreeObject {
    TreeObject {
        kind: kind.to_owned(),
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        name: name.to_owned(),
        state: TreeState::Unread,
        version: None,
        message,
        leads_to: Vec::new(),
        left_out: 0,
    }
}
