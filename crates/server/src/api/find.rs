//! Finds promotions and proposals by the names that people see.

use weir_core::{
    EnvironmentName, Name, Namespace, PipelineKey, PlainProposal, Promotion, PromotionKey, promotion_name,
};
use weir_engine::{Known, World};
use weir_ports::HistoryQuery;

use crate::{problem::Problem, state::Shared};

/// How many promotions of the past are read at a time.
const STRIDE: usize = 500;

/// The one pipeline that a list is asked for. A name alone may mean several.
pub(super) fn pipeline(home: Option<&Namespace>, name: Option<Name>) -> Result<Option<PipelineKey>, Problem> {
    match (home, name) {
        (Some(home), Some(name)) => Ok(Some(PipelineKey { namespace: home.clone(), name })),
        (None, Some(_)) => Err(Problem::bad_request("`pipeline` needs `namespace`")),
        (_, None) => Ok(None),
    }
}

/// Why there is nothing to show of a pipeline.
pub(super) fn missing(shared: &Shared, key: &PipelineKey) -> Problem {
    if let Some(flaw) = shared.world().unread(key).first() {
        return Problem::conflict(format!("pipeline `{key}` cannot be read: {}", flaw.told(false)));
    }
    Problem::not_found(format!("there is no pipeline `{key}`"))
}

/// The promotion of that name, from the records or from the past.
pub(super) async fn promotion(shared: &Shared, home: &Namespace, name: &Name) -> Result<Promotion, Problem> {
    let missing = || Problem::not_found(format!("there is no promotion `{home}/{name}`"));
    let key = key(shared.world(), home, name).ok_or_else(missing)?;
    let known = shared.world().look(&key.pipeline, |known| {
        known.snapshot().promotions.iter().find(|promotion| promotion.key == key).cloned()
    });
    if let Some(promotion) = known.flatten() {
        return Ok(promotion);
    }
    let mut query = HistoryQuery {
        pipeline: Some(key.pipeline.clone()),
        namespace: None,
        environment: Some(key.environment.clone()),
        phases: Vec::new(),
        skip: 0,
        limit: STRIDE,
    };
    loop {
        let past = shared.backend.promotions(&query).await?;
        let over = past.len() < STRIDE || past.iter().any(|it| it.key.ordinal < key.ordinal);
        if let Some(found) = past.into_iter().find(|it| it.key == key) {
            return Ok(found);
        }
        if over {
            return Err(missing());
        }
        query.skip += STRIDE;
    }
}

/// The proposal of that name, from the records or from the past.
pub(super) async fn proposal(shared: &Shared, home: &Namespace, name: &Name) -> Result<PlainProposal, Problem> {
    let missing = || Problem::not_found(format!("there is no proposal `{home}/{name}`"));
    let key = key(shared.world(), home, name).ok_or_else(missing)?;
    let known = shared.world().look(&key.pipeline, |known| known.proposal(&key).cloned());
    if let Some(proposal) = known.flatten() {
        return Ok(proposal);
    }
    shared.backend.past_proposal(&key).await?.ok_or_else(missing)
}

/// The promotion that a name means. Names are made from keys, so the key whose name it is, is the one.
fn key(world: &World, home: &Namespace, name: &Name) -> Option<PromotionKey> {
    let ordinal = name.as_str().rsplit_once('-')?.1.parse().ok()?;
    let mut found = None;
    world.scan(None, |pipeline, known| {
        if pipeline.namespace == *home {
            found = environments(known).find_map(|environment| fits(pipeline, environment, ordinal, name));
        }
        found.is_none() && pipeline.namespace <= *home
    });
    found
}

fn fits(pipeline: &PipelineKey, environment: &EnvironmentName, ordinal: u64, name: &Name) -> Option<PromotionKey> {
    let key = PromotionKey { pipeline: pipeline.clone(), environment: environment.clone(), ordinal };
    (promotion_name(&key) == name.as_str()).then_some(key)
}

/// The environments of a pipeline, and those that only records tell of.
fn environments(known: &Known) -> impl Iterator<Item = &EnvironmentName> {
    let defined = known.pipeline().environments().iter().map(|environment| &environment.name);
    let promoted = known.snapshot().promotions.iter().map(|promotion| &promotion.key.environment);
    let proposed = known.proposals().map(|proposal| &proposal.key.environment);
    defined.chain(promoted).chain(proposed)
}
