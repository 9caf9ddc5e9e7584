//! The past, page by page: deeds, and promotions with those that are no longer among the records.

use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter, types::Value};
use weir_core::{Namespace, PipelineKey, PlainProposal, Promotion, PromotionKey};
use weir_ports::{Deed, DeedQuery, HistoryQuery, Noted, RecordKey};

use super::{
    damage::Damage,
    follow::{COLUMNS, Row},
    number,
    row::{RowKey, promotion},
    signed,
};

/// Conditions that are joined, and their values.
#[derive(Default)]
struct Conditions {
    text: String,
    values: Vec<Value>,
}

impl Conditions {
    fn about(namespace: Option<&Namespace>, pipeline: Option<&PipelineKey>) -> Self {
        let mut conditions = Self::default();
        if let Some(namespace) = namespace {
            conditions.add("namespace = ?", namespace.to_string());
        }
        if let Some(pipeline) = pipeline {
            conditions.add("namespace = ?", pipeline.namespace.to_string());
            conditions.add("pipeline = ?", pipeline.name.to_string());
        }
        conditions
    }

    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.push(value.into());
    }
}

/// Promotions, newest first. A page is shorter by those that are damaged, which are noted.
pub(super) fn promotions(
    database: &Connection,
    query: &HistoryQuery,
    damage: &Damage,
) -> rusqlite::Result<Vec<Promotion>> {
    let mut conditions = Conditions::about(query.namespace.as_ref(), query.pipeline.as_ref());
    if let Some(environment) = &query.environment {
        conditions.add("environment = ?", environment.to_string());
    }
    if !query.phases.is_empty() {
        let places = vec!["?"; query.phases.len()].join(", ");
        conditions.text.extend([" AND phase IN (", &places, ")"]);
        conditions.values.extend(query.phases.iter().map(|phase| Value::from(phase.to_string())));
    }
    let index = match query {
        HistoryQuery { pipeline: Some(_), environment: Some(_), .. } => "promotions_of_environment",
        HistoryQuery { pipeline: Some(_), .. } => "promotions_of_pipeline",
        HistoryQuery { namespace: Some(_), .. } => "promotions_of_namespace",
        _ => "promotions",
    };
    let Conditions { text, mut values } = conditions;
    values.extend([size(query.limit), size(query.skip)]);
    // Which ones is found in the index alone; only they are read.
    let page = format!(
        "SELECT {COLUMNS} FROM records WHERE id IN (
             SELECT id FROM records INDEXED BY {index} WHERE kind = 'Promotion'{text}
             ORDER BY id DESC LIMIT ? OFFSET ?
         ) ORDER BY id DESC"
    );
    let mut statement = database.prepare_cached(&page)?;
    let mut found = Vec::new();
    for row in statement.query_map(params_from_iter(values), Row::of)? {
        let row = row?;
        match promotion(&row.json) {
            Ok(promotion) => found.push(promotion),
            Err(reason) => damage.found(row.key, reason),
        }
    }
    Ok(found)
}

/// The proposal of a promotion that is no longer among the records.
pub(super) fn proposal(
    database: &Connection,
    key: &PromotionKey,
    damage: &Damage,
) -> rusqlite::Result<Option<PlainProposal>> {
    let RowKey { kind, namespace, pipeline, environment, name } = RowKey::of(&RecordKey::Proposal(key.clone()));
    let last = format!(
        "SELECT {COLUMNS} FROM records INDEXED BY past_proposals
         WHERE kind = 'Proposal' AND kind = ? AND removed IS NOT NULL
         AND namespace = ? AND pipeline = ? AND environment = ? AND name = ? ORDER BY id DESC LIMIT 1"
    );
    let mut statement = database.prepare_cached(&last)?;
    let row = statement.query_row(params![kind, namespace, pipeline, environment, name], Row::of).optional()?;
    Ok(row.and_then(|row| super::row::proposal(&row.json).map_err(|reason| damage.found(row.key, reason)).ok()))
}

/// Deeds, newest first. A page is shorter by those that are damaged, which are noted.
pub(super) fn deeds(database: &Connection, query: &DeedQuery, damage: &Damage) -> rusqlite::Result<Vec<Noted>> {
    let mut conditions = Conditions::about(query.namespace.as_ref(), query.pipeline.as_ref());
    if let Some(person) = &query.by {
        conditions.add("person = ?", person.clone());
    }
    if let Some(before) = query.before {
        conditions.add("number < ?", signed(before));
    }
    let Conditions { text, mut values } = conditions;
    values.push(size(query.limit));
    let page = format!("SELECT number, json FROM deeds WHERE TRUE{text} ORDER BY number DESC LIMIT ?");
    let mut statement = database.prepare_cached(&page)?;
    let mut found = Vec::new();
    let rows = statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    for row in rows {
        let (place, json) = row?;
        match serde_json::from_str::<Deed>(&json) {
            Ok(deed) => found.push(Noted { number: number(place), deed }),
            Err(error) => damage.found(RowKey::of_deed(place), error.to_string()),
        }
    }
    Ok(found)
}

fn size(count: usize) -> Value {
    Value::from(i64::try_from(count).unwrap_or(i64::MAX))
}
