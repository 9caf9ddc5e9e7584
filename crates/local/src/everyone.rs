//! Access for a listener that only this machine reaches.

use secrecy::SecretString;
use weir_core::Actor;
use weir_ports::{Access, AccessError, Scope, Verb};

/// Everybody may do everything, and nobody has a token.
#[derive(Debug, Clone, Copy, Default)]
pub struct Everyone;

impl Everyone {
    /// Who sits at this machine: the name that it knows them by, or `local`.
    pub fn local_user() -> Actor {
        let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
        Actor { name: name.unwrap_or_else(|| "local".to_owned()), groups: Vec::default() }
    }
}

impl Access for Everyone {
    async fn identify(&self, _: &SecretString) -> Result<Option<Actor>, AccessError> {
        Ok(None)
    }

    async fn may(&self, _: &Actor, _: Verb, _: Scope<'_>) -> Result<bool, AccessError> {
        Ok(true)
    }

    fn right(&self, _: Verb) -> String {
        "nothing".to_owned()
    }
}
