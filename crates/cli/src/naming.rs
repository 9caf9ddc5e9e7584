//! Names as people write them into files.

use std::fmt::Display;

use anyhow::{Result, anyhow};
use serde::Deserialize;
use weir_core::{FluxSuffix, NameError, Revision};

/// A version as people copy it from what Flux says. The digest that Flux appended to it is no part of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Reported(pub(crate) Revision);

impl TryFrom<String> for Reported {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Revision::from_flux(&text, FluxSuffix::Unknown).map(Self)
    }
}

/// The account of a person. An approval of nobody would count as one.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Account(pub(crate) String);

impl TryFrom<String> for Account {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(anyhow!("who? write the name of an account"));
        }
        Ok(Self(text))
    }
}

/// Names in a sentence.
pub(crate) fn listed<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_that_flux_appended_is_no_part_of_a_version() {
        assert_eq!(Reported::try_from("1.1.0+1a2b3c4d5e6f".to_owned()).unwrap().0.as_str(), "1.1.0");
    }
}
