//! Who somebody is, and what they may do: the API server decides.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec},
    authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, Resource as _, api::PostParams};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use weir_core::{Actor, Name, Namespace};
use weir_ports::{Access, AccessError, Scope, Verb};

use super::{HubSettings, fault};

/// How many answers are kept.
const KEPT: usize = 4096;

/// Access as RBAC gives it: verbs on `pipelines.pipelines.weave.works`.
///
/// To look is `get`, and to define is `create`; the others have names of their own: `promote`, `rollback`, `pause` and
/// `approve`. What is done with one pipeline is asked for by its name, so that a role can be given for that one alone.
pub struct HubAccess {
    client: Client,
    tokens: Answers<[u8; 32], Option<Actor>>,
    rights: Answers<Question, bool>,
}

/// Who wants to do what, in which namespace, with which pipeline.
type Question = (Actor, Verb, Option<Namespace>, Option<Name>);

/// Answers that are believed for a while.
struct Answers<K, V> {
    known: Mutex<BTreeMap<K, (V, Instant)>>,
    time: Duration,
}

impl HubAccess {
    /// Asks the API server that this client talks to.
    pub fn new(client: Client, settings: &HubSettings) -> Self {
        Self { client, tokens: Answers::new(settings.answers), rights: Answers::new(settings.answers) }
    }
}

impl Access for HubAccess {
    async fn identify(&self, token: &SecretString) -> Result<Option<Actor>, AccessError> {
        let digest: [u8; 32] = Sha256::digest(token.expose_secret()).into();
        if let Some(known) = self.tokens.get(&digest) {
            return Ok(known);
        }
        let spec = TokenReviewSpec { token: Some(token.expose_secret().to_owned()), audiences: None };
        let review = TokenReview { spec, ..TokenReview::default() };
        let reviews: Api<TokenReview> = Api::all(self.client.clone());
        let answer = reviews.create(&PostParams::default(), &review).await.map_err(|error| refused(&error))?;
        let status = answer.status.filter(|status| status.authenticated == Some(true));
        let actor = status
            .and_then(|status| status.user)
            .and_then(|user| Some(Actor { name: user.username?, groups: user.groups.unwrap_or_default() }));
        self.tokens.keep(digest, actor.clone());
        Ok(actor)
    }

    async fn may(&self, who: &Actor, what: Verb, scope: Scope<'_>) -> Result<bool, AccessError> {
        let question = (who.clone(), what, scope.namespace().cloned(), scope.pipeline().cloned());
        if let Some(known) = self.rights.get(&question) {
            return Ok(known);
        }
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: Some(who.name.clone()),
                groups: Some(who.groups.clone()),
                resource_attributes: Some(ResourceAttributes {
                    group: Some(weir_api::Pipeline::group(&()).into_owned()),
                    resource: Some(weir_api::Pipeline::plural(&()).into_owned()),
                    verb: Some(verb(what).to_owned()),
                    namespace: scope.namespace().map(ToString::to_string),
                    name: scope.pipeline().map(ToString::to_string),
                    ..ResourceAttributes::default()
                }),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let answer = reviews.create(&PostParams::default(), &review).await.map_err(|error| refused(&error))?;
        let allowed = answer.status.is_some_and(|status| status.allowed);
        self.rights.keep(question, allowed);
        Ok(allowed)
    }

    fn right(&self, what: Verb) -> String {
        let (resource, group) = (weir_api::Pipeline::plural(&()), weir_api::Pipeline::group(&()));
        format!("the RBAC verb `{}` on `{resource}` of the API group `{group}`", verb(what))
    }
}

/// The verb that is asked for.
fn verb(what: Verb) -> &'static str {
    match what {
        Verb::View => "get",
        Verb::Promote => "promote",
        Verb::Rollback => "rollback",
        Verb::Pause => "pause",
        Verb::Approve => "approve",
        Verb::Define => "create",
    }
}

fn refused(error: &kube::Error) -> AccessError {
    AccessError(fault::sentence(error))
}

impl<K: Ord, V: Clone> Answers<K, V> {
    fn new(time: Duration) -> Self {
        Self { known: Mutex::default(), time }
    }

    fn get(&self, question: &K) -> Option<V> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (answer, at) = known.get(question)?;
        (at.elapsed() < self.time).then(|| answer.clone())
    }

    fn keep(&self, question: K, answer: V) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.retain(|_, (_, at)| at.elapsed() < self.time);
        }
        if known.len() < KEPT {
            known.insert(question, (answer, Instant::now()));
        }
    }
}
