//! Who asks, and what they may do.

use std::collections::BTreeSet;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, header::AUTHORIZATION, request::Parts, uri::Authority},
    middleware::Next,
    response::Response,
};
use secrecy::SecretString;
use weir_core::{Actor, Namespace, PipelineKey};
use weir_engine::Asked;
use weir_ports::{Scope, Verb};

use crate::{origin, problem::Problem, settings::Authentication, state::Shared};

/// Whoever asks. Every request to the API has one.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) actor: Actor,
    may_everything: bool,
}

/// The namespaces that somebody may look at.
pub(crate) enum Visible {
    All,
    /// These. `partial`: there are others.
    Only {
        some: BTreeSet<Namespace>,
        partial: bool,
    },
}

impl Visible {
    pub(crate) fn sees(&self, namespace: &Namespace) -> bool {
        match self {
            Self::All => true,
            Self::Only { some, .. } => some.contains(namespace),
        }
    }

    /// Whether there are namespaces that they may not look at.
    pub(crate) fn is_partial(&self) -> bool {
        matches!(self, Self::Only { partial: true, .. })
    }

    /// Whether they may know of something that is about these pipelines. What is about none is for those who may look
    /// at everything.
    pub(crate) fn sees_all(&self, pipelines: &[PipelineKey]) -> bool {
        self.sees_everything() || (!pipelines.is_empty() && pipelines.iter().all(|key| self.sees(&key.namespace)))
    }

    pub(crate) fn nothing() -> Self {
        Self::Only { some: BTreeSet::new(), partial: true }
    }

    pub(crate) fn sees_everything(&self) -> bool {
        matches!(self, Self::All)
    }
}

/// Finds out who asks. Nobody passes without that.
pub(crate) async fn guard(State(shared): State<Shared>, mut request: Request, next: Next) -> Result<Response, Problem> {
    let caller = match &shared.settings.authentication {
        Authentication::Open { actor, port } => {
            origin::check(request.headers(), request.uri().authority().map(Authority::as_str), *port)?;
            Caller { actor: actor.clone(), may_everything: true }
        }
        Authentication::Tokens => {
            let token = token(request.headers())?;
            let actor = shared.backend.identify(&token).await?;
            let actor = actor.ok_or_else(|| Problem::unauthorized("the token is not known, or no longer valid"))?;
            Caller { actor, may_everything: false }
        }
    };
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

fn token(headers: &HeaderMap) -> Result<SecretString, Problem> {
    let missing = || Problem::unauthorized("send a token: `Authorization: Bearer TOKEN`");
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).ok_or_else(missing)?;
    let (scheme, token) = value.split_once(' ').ok_or_else(missing)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(missing());
    }
    Ok(token.into())
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| Problem::unauthorized("nobody asked"))
    }
}

impl Caller {
    /// What they ask for, in their words.
    pub(crate) fn asks(&self, why: Option<String>) -> Asked {
        Asked { by: self.actor.clone(), why: why.filter(|why| !why.trim().is_empty()) }
    }

    /// Refuses what they may not do.
    pub(crate) async fn must<'a>(
        &self,
        shared: &Shared,
        verb: Verb,
        scope: impl Into<Scope<'a>>,
    ) -> Result<(), Problem> {
        let scope = scope.into();
        if self.may(shared, verb, scope).await? {
            Ok(())
        } else {
            Err(Problem::forbidden(self.lacks(shared, verb, scope)))
        }
    }

    /// Which right they lack, and who has it.
    pub(crate) fn lacks(&self, shared: &Shared, verb: Verb, scope: Scope<'_>) -> String {
        let name = &self.actor.name;
        let (what, right) = (right(verb), shared.backend.right(verb));
        let place = if scope == Scope::All { "in all of them" } else { "there" };
        format!("`{name}` does not have the right to {what} {scope}; that takes {right} {place}")
    }

    /// Refuses whoever has none of these rights. What is missing is told of the last.
    pub(crate) async fn must_any(&self, shared: &Shared, any: &[Verb], scope: Scope<'_>) -> Result<(), Problem> {
        let Some((last, others)) = any.split_last() else { return Ok(()) };
        for verb in others {
            if self.may(shared, *verb, scope).await? {
                return Ok(());
            }
        }
        self.must(shared, *last, scope).await
    }

    pub(crate) async fn may<'a>(
        &self,
        shared: &Shared,
        verb: Verb,
        scope: impl Into<Scope<'a>>,
    ) -> Result<bool, Problem> {
        Ok(self.may_everything || shared.backend.may(&self.actor, verb, scope.into()).await?)
    }

    /// The namespaces that they are known to have rights in.
    pub(crate) async fn homes(&self, shared: &Shared) -> Result<BTreeSet<Namespace>, Problem> {
        Ok(shared.backend.homes(&self.actor).await?)
    }

    /// Which of these namespaces they may look at. Asked once for each.
    pub(crate) async fn sees(&self, shared: &Shared, homes: BTreeSet<Namespace>) -> Result<Visible, Problem> {
        if self.may(shared, Verb::View, Scope::All).await? {
            return Ok(Visible::All);
        }
        let (mut some, mut partial) = (BTreeSet::new(), false);
        for home in homes {
            if self.may(shared, Verb::View, &home).await? {
                some.insert(home);
            } else {
                partial = true;
            }
        }
        Ok(Visible::Only { some, partial })
    }

    /// Which namespaces they may look at, of those that have pipelines and those that they are known to have rights in;
    /// or whether they may look at the one they ask for. Whoever may look at none of them is refused.
    pub(crate) async fn looks(&self, shared: &Shared, home: Option<&Namespace>) -> Result<Visible, Problem> {
        if let Some(home) = home {
            self.must(shared, Verb::View, home).await?;
            return Ok(Visible::Only { some: BTreeSet::from([home.clone()]), partial: false });
        }
        let unread = shared.world().problems().into_iter().flat_map(|flaw| flaw.pipelines);
        let mut homes = self.homes(shared).await?;
        homes.extend(unread.map(|key| key.namespace));
        shared.world().scan(None, |key, _| {
            if !homes.contains(&key.namespace) {
                homes.insert(key.namespace.clone());
            }
            true
        });
        match self.sees(shared, homes).await? {
            Visible::Only { some, partial: true } if some.is_empty() => {
                let (name, right) = (&self.actor.name, shared.backend.right(Verb::View));
                Err(Problem::forbidden(format!(
                    "`{name}` does not have the right to view in any namespace that has pipelines; that takes {right}"
                )))
            }
            visible => Ok(visible),
        }
    }
}

/// The name of a right: what one may do with it.
pub(crate) fn right(verb: Verb) -> &'static str {
    match verb {
        Verb::View => "view",
        Verb::Promote => "promote",
        Verb::Rollback => "rollback",
        Verb::Pause => "pause",
        Verb::Approve => "approve",
        Verb::Define => "define",
    }
}
