//! Pieces of schema that more than one kind uses.

use schemars::{Schema, SchemaGenerator, json_schema};

use super::patterns;

/// A record of the core. Its form is the core's own business, so the schema does not repeat it.
pub(super) fn record(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// The same, always written as a whole: who wrote which part of it is of no interest, and the API server keeps no note
/// of that.
pub(super) fn whole_record(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-map-type": "atomic",
    })
}

/// A list of such records.
pub(super) fn records(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
    })
}

/// `any`, `all`, a count or a percentage. A count may be a number or a text.
pub(super) fn when(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "x-kubernetes-int-or-string": true,
        "minimum": 1,
        "maxLength": 10,
        "pattern": patterns::WHEN,
    })
}

/// A moment, in RFC 3339.
pub(super) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// How far a promotion is.
pub(super) fn phase(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "enum": [
            "Pending", "Proposed", "Delivered", "Succeeded", "Failed", "Rejected", "Superseded", "Withdrawn",
            "RolledBack",
        ],
    })
}
