//! Pieces of schema that more than one kind uses.

use schemars::{Schema, SchemaGenerator, json_schema};

/// A Go duration, as Flux writes it.
pub(super) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";
/// As [`weir_core::EnvironmentName`].
pub(super) const ENVIRONMENT: &str = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$";
/// As [`weir_core::Name`].
pub(super) const NAME: &str = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$";
/// As [`weir_core::Namespace`].
pub(super) const NAMESPACE: &str = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$";
/// As [`weir_core::RepoUrl`].
pub(super) const REPOSITORY: &str =
    r"^(https?://\S+|ssh://\S+|file://\S+|[^-/:\s][^/:\s]*:/?[^/\s]\S*)$";
/// As [`weir_core::CommitId`].
pub(super) const COMMIT: &str = r"^([0-9a-f]{40}|[0-9a-f]{64})$";

/// A record of the core. Its form is the core's own business, so the schema does not repeat it.
pub(super) fn record(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
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
        "pattern": "^(any|all|[1-9][0-9]*|([1-9][0-9]?|100)%)$",
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
