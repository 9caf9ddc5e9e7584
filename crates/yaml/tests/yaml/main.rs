//! What the crate promises, by example and by law.
#![expect(clippy::unwrap_used, clippy::panic, reason = "the tests' own functions fail the test that calls them")]

mod agreement;
mod bytes;
mod finding;
mod fixtures;
mod law;
mod manifest;
mod outline;
mod parts;
mod paths;
mod property;
mod quoting;
mod refusals;

use weir_yaml::{Edited, Error, Marker, MarkerFilter, Selector, Value, set};

/// The marker that the tests use, as it is written behind a value.
macro_rules! mark {
    () => {
        r#"# {"$promotion": "apps:podinfo:prod"}"#
    };
    ($part:literal) => {
        concat!(r#"# {"$promotion": "apps:podinfo:prod:"#, $part, r#""}"#)
    };
}
use mark;

/// Chooses the values with the tests' marker.
fn marked() -> Selector {
    let marker: Marker = "apps:podinfo:prod".parse().unwrap();
    Selector::Marker(MarkerFilter::from(&marker))
}

fn set_marked(text: &str, value: &Value) -> Result<Edited, Error> {
    set(text, &[(marked(), value.clone())])
}

/// The file after its marked values were set to a version.
fn promoted(text: &str, version: &str) -> String {
    set_marked(text, &Value::new(version)).unwrap().text
}
