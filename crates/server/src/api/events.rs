//! What changes, as it changes: server-sent events.
//!
//! An event says what to look at again, never how it is now. Whoever was away resumes with the last id; one that is no
//! longer known gets `reset`, which means to look at everything anew. A stream ends after a while and is resumed by the
//! client, so that rights are asked for again.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
};

use axum::{
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use utoipa::{IntoParams, ToSchema};
use weir_core::{Namespace, promotion_name};
use weir_engine::{Change, ChangeId, What};
use weir_ports::{Scope, Verb};

use crate::{caller::Caller, extract::Query, problem::Problem, router::Failed, state::Shared, view::PipelineRef};

/// From where on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Since {
    /// The id of the last event that was seen, in place of the header `Last-Event-ID`.
    since: Option<String>,
}

/// Something that changed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    /// `definition`, `environment`, `sighting`, `observation`, `promotion`, `proposal`, `freeze` or `problems`.
    kind: &'static str,
    /// The pipeline. Missing: it may concern any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pipeline: Option<PipelineRef>,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    /// The name of the promotion, the proposal or the freeze.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

/// Follow what changes. Each event `change` has an id and says what to look at again; `ready` tells from where on they
/// come; `reset` means to look at everything anew.
#[utoipa::path(get, path = "/events", tag = "events", params(Since,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen")),
    responses((status = 200, content_type = "text/event-stream", body = Changed), Failed))]
pub(super) async fn events(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<Since>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let place = shared.stream()?;
    let sees_everything = caller.may(&shared, Verb::View, Scope::All).await?;
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let changes = shared.world().changes();
    let end = changes.end();
    let resumed = header.or(query.since).filter(|text| !text.is_empty());
    let resumed = resumed.map(|text| text.parse::<ChangeId>().ok().filter(|id| changes.since(*id).is_ok()));
    let (last, first) = match resumed {
        None => (end, sign("ready", end)),
        Some(Some(id)) => (id, sign("ready", id)),
        Some(None) => (end, sign("reset", end)),
    };
    let limits = &shared.settings.limits;
    let until = Instant::now() + limits.stream_timeout;
    let keep_alive = KeepAlive::new().interval(limits.keep_alive);
    let follower = Follower {
        shared: shared.clone(),
        caller,
        sees_everything,
        seen: BTreeMap::new(),
        last,
        waiting: VecDeque::from([first]),
        until,
        _place: place,
    };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<_, Infallible>(event), follower))
    });
    Ok(Sse::new(events).keep_alive(keep_alive).into_response())
}

fn sign(name: &str, id: ChangeId) -> Event {
    Event::default().event(name).id(id.to_string()).data("{}")
}

struct Follower {
    shared: Shared,
    caller: Caller,
    sees_everything: bool,
    /// The namespaces that were asked about, and whether the caller may look at them.
    seen: BTreeMap<Namespace, bool>,
    last: ChangeId,
    /// Bounded by what the world remembers: no more is taken before it is empty.
    waiting: VecDeque<Event>,
    until: Instant,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    /// The next event. `None`: the stream is over.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let shared = self.shared.clone();
            let changes = shared.world().changes();
            tokio::select! {
                () = changes.after(self.last) => {}
                () = tokio::time::sleep_until(self.until) => return None,
                () = shared.closed() => return None,
            }
            let Ok(news) = changes.since(self.last) else {
                self.last = changes.end();
                return Some(sign("reset", self.last));
            };
            for (id, change) in news {
                self.last = id;
                if let Some(changed) = self.show(change).await
                    && let Ok(event) = Event::default().event("change").id(id.to_string()).json_data(changed)
                {
                    self.waiting.push_back(event);
                }
            }
        }
    }

    /// A change, if the caller may know of it.
    async fn show(&mut self, change: Change) -> Option<Changed> {
        let everything = self.sees_everything;
        match &change.pipeline {
            Some(pipeline) if !self.sees(&pipeline.namespace).await => return None,
            None if !everything && change.what == What::Problems => return None,
            _ => {}
        }
        let (kind, environment, name) = match change.what {
            What::Definition => ("definition", None, None),
            What::Environment(environment) => ("environment", Some(environment), None),
            What::Sighting(environment) => ("sighting", Some(environment), None),
            What::Observation(environment) => ("observation", Some(environment), None),
            What::Promotion(key) => ("promotion", Some(key.environment.clone()), Some(promotion_name(&key))),
            What::Proposal(key) => ("proposal", Some(key.environment.clone()), Some(promotion_name(&key))),
            // It may belong to a namespace that they may not look at.
            What::Freeze(name) => ("freeze", None, everything.then(|| name.to_string())),
            What::Problems => ("problems", None, None),
        };
        let pipeline = change.pipeline.as_ref().map(PipelineRef::from);
        Some(Changed { kind, pipeline, environment: environment.map(|it| it.to_string()), name })
    }

    async fn sees(&mut self, home: &Namespace) -> bool {
        if self.sees_everything {
            return true;
        }
        if let Some(seen) = self.seen.get(home) {
            return *seen;
        }
        // Where it cannot be told, it is not shown.
        let seen = self.caller.may(&self.shared, Verb::View, home).await.unwrap_or(false);
        self.seen.insert(home.clone(), seen);
        seen
    }
}
