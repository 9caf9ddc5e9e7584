//! What the API server refuses, in words for the person who can mend it.

use std::error::Error as _;

use kube::Error;
use weir_ports::{RecordKey, StoreError};

use crate::leaf;

/// What went wrong, in one sentence. A right that is missing is named.
pub(crate) fn sentence(error: &Error) -> String {
    let status = match error {
        Error::Api(status) => status,
        Error::Service(_) | Error::HyperError(_) => {
            return format!("the API server cannot be reached: {}", leaf::root(error));
        }
        _ => return chain(error),
    };
    match status.code {
        401 => format!("the API server does not know Weir's account: {}", status.message),
        403 => format!("a right is missing: {}; `weir install` gives Weir the rights that it needs", status.message),
        404 if status.details.as_ref().is_none_or(|details| details.name.is_empty()) => {
            format!("the cluster does not know the kind: {}; install it with `weir install`", status.message)
        }
        _ => status.message.clone(),
    }
}

/// The store cannot be used, because of this.
pub(super) fn unavailable(error: &Error) -> StoreError {
    StoreError::Unavailable(sentence(error))
}

/// A record cannot be kept or read, because of this.
pub(super) fn about(key: &RecordKey, reason: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("{key}: {reason}"))
}

/// Whether the API server answered with this code.
pub(super) fn is(error: &Error, code: u16) -> bool {
    matches!(error, Error::Api(status) if status.code == code)
}

/// What an object is lost by: somebody else wrote it, or removed it.
pub(super) fn is_moved(error: &Error) -> bool {
    is(error, 409) || is(error, 404)
}

fn chain(error: &Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        source = cause.source();
    }
    words
}
