//! What is wrong with a cluster, in words that stay the same while it lasts.

use std::{error::Error as _, sync::Arc, time::Duration};

use jiff::Timestamp;
use kube::{Error, client::AuthError, runtime::watcher};
use tokio::time::Instant;
use weir_core::Unreachable;

use crate::follow;

/// What people can do about an address that answers, and not as an API server does.
const IS_IT_ONE: &str = "is it the API server of a cluster, and is Flux installed there?";

/// What people can do about a certificate that nobody they name has signed.
const HAS_TO_SIGN: &str = "; `certificate-authority-data` of the kubeconfig has to be of who signed its certificate";

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Somebody has to change something: a definition, a kubeconfig, a right.
    Settled,
    /// The credentials are not accepted (any more).
    Unauthorized,
    /// The API server does not know what was asked for.
    Unknown,
    /// It may be over the next moment.
    Passing,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) class: Class,
    pub(super) text: Arc<str>,
}

impl Fault {
    /// Something that stays so until somebody changes it.
    pub(super) fn settled(text: impl Into<Arc<str>>) -> Self {
        Self { class: Class::Settled, text: text.into() }
    }

    /// A request failed, for which this right is needed. `server` is where it went.
    pub(super) fn of(error: &Error, server: &str, right: &str) -> Self {
        let status = match error {
            Error::Api(status) => Some((status.code, status.message.as_str())),
            _ => None,
        };
        if let Some((code, message)) = status {
            return Self::answer(code, message, server, right);
        }
        let cause = root(error);
        let hint = if cause.contains("UnknownIssuer") { HAS_TO_SIGN } else { "" };
        Self::passing(format!("{server} cannot be reached: {cause}{hint}"))
    }

    /// A watch broke off.
    pub(super) fn of_watch(error: &watcher::Error, server: &str, right: &str) -> Self {
        match error {
            watcher::Error::WatchError(status) => Self::answer(status.code, &status.message, server, right),
            other => match follow::cause(other) {
                Some(error) => Self::of(error, server, right),
                None => Self::passing(format!("{server} answers a watch with something else")),
            },
        }
    }

    /// There was no answer in time.
    pub(super) fn late(server: &str, deadline: Duration) -> Self {
        Self::passing(format!("{server} has not answered within {} s", deadline.as_secs().max(1)))
    }

    fn answer(code: u16, message: &str, server: &str, right: &str) -> Self {
        match code {
            401 => Self {
                class: Class::Unauthorized,
                text: format!("{server} does not accept the credentials that Weir has for it").into(),
            },
            403 => Self::settled(format!(
                "a right is missing on the cluster: {right}; `deploy/manifests/leaf.yaml` has all that Weir needs there"
            )),
            404 => {
                let text = format!("{server} answers `not found` to what takes the right to {right}; {IS_IT_ONE}");
                Self { class: Class::Unknown, text: text.into() }
            }
            _ => Self::passing(format!("{server} answers: {message}")),
        }
    }

    fn passing(text: String) -> Self {
        Self { class: Class::Passing, text: text.into() }
    }
}

/// The innermost cause: the layers around it say nothing to people, and change with the library.
pub(crate) fn root(error: &Error) -> String {
    let mut cause = error.source();
    let mut words = error.to_string();
    while let Some(inner) = cause {
        // It names programs and files of the kubeconfig.
        if inner.is::<AuthError>() {
            return "the credentials cannot be had in the way that the kubeconfig says".to_owned();
        }
        words = inner.to_string();
        cause = inner.source();
    }
    words
}

/// Something that is wrong, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) fault: Fault,
    pub(super) since: Timestamp,
    pub(super) begun: Instant,
}

impl Trouble {
    /// It begins.
    pub(super) fn new(fault: Fault) -> Self {
        Self { fault, since: Timestamp::now(), begun: Instant::now() }
    }

    /// Whether it has lasted long enough to be told.
    pub(super) fn shows(&self, now: Instant, grace: Duration) -> bool {
        self.fault.class == Class::Settled || now >= self.begun + grace
    }

    /// What is told of it.
    pub(super) fn told(&self) -> Unreachable {
        Unreachable { error: Arc::clone(&self.fault.text), since: self.since }
    }

    /// Takes in that something is wrong. If something was before, it began then; and as long as it is of the same kind,
    /// the words stay the same.
    pub(super) fn add(slot: &mut Option<Self>, fault: Fault) {
        match slot {
            Some(trouble) if trouble.fault.class == fault.class && fault.class != Class::Settled => {}
            Some(trouble) => trouble.fault = fault,
            None => *slot = Some(Self::new(fault)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(text: &str) -> Fault {
        Fault::passing(text.to_owned())
    }

    #[test]
    fn a_trouble_keeps_its_words_and_its_beginning_while_it_lasts() {
        let grace = Duration::from_secs(5);
        let mut slot = None;
        Trouble::add(&mut slot, passing("port 1"));
        let first = slot.clone().unwrap();
        assert!(!first.shows(Instant::now(), grace));
        assert!(first.shows(Instant::now() + grace, grace));
        Trouble::add(&mut slot, passing("port 2"));
        assert_eq!(slot.as_ref(), Some(&first));
        Trouble::add(&mut slot, Fault::settled("a right is missing"));
        let other = slot.unwrap();
        assert_eq!((other.since, &*other.fault.text), (first.since, "a right is missing"));
    }

    #[test]
    fn a_settled_fault_is_told_at_once() {
        assert!(Trouble::new(Fault::settled("no")).shows(Instant::now(), Duration::from_mins(1)));
    }
}
