//! Who a request comes from.

use aws_lc_rs::digest;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use weir_ports::{Credentials, Scrub};

use crate::address::Address;

/// What lets a request in. Shown by nothing.
pub(crate) struct SignIn {
    /// The header that says who asks. `None`: nobody in particular.
    pub(super) authorization: Option<HeaderValue>,
    /// Certificates to trust beside the usual ones, in PEM form.
    pub(super) certificates: Option<SecretString>,
    /// Takes the credentials out of what a forge says.
    pub(super) scrub: Scrub,
}

/// Tells forges and credentials apart without holding these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fingerprint([u8; 32]);

impl SignIn {
    /// A token, else a name and a password. What stands in the address counts where the Secret has no such key.
    pub(crate) fn new(address: &Address, keys: &Credentials) -> Self {
        let username = keys.username.as_ref().or(address.username.as_ref());
        let password = keys.password.as_ref().or(address.password.as_ref());
        let basic = |name: &SecretString, password: &SecretString| {
            STANDARD.encode(format!("{}:{}", name.expose_secret(), password.expose_secret()))
        };
        let (scheme, value) = match (&keys.token, username, password) {
            (Some(token), _, _) => ("token", Some(token.clone())),
            (None, Some(name), Some(password)) => ("Basic", Some(basic(name, password).into())),
            // Alone, each of them can only be a token.
            (None, None, Some(alone)) | (None, Some(alone), None) => ("token", Some(alone.clone())),
            (None, None, None) => ("", None),
        };
        let header = value.as_ref().and_then(|value| {
            let mut header = HeaderValue::from_str(&format!("{scheme} {}", value.expose_secret())).ok()?;
            header.set_sensitive(true);
            Some(header)
        });
        let secrets = [keys.token.as_ref(), password, value.as_ref()];
        Self {
            authorization: header,
            certificates: keys.ca_file.clone(),
            scrub: Scrub::new(secrets.into_iter().flatten().cloned()),
        }
    }

    pub(crate) fn fingerprint(&self, address: &Address) -> Fingerprint {
        let header = self.authorization.as_ref().map(HeaderValue::as_bytes).unwrap_or_default();
        let certificates = self.certificates.as_ref().map(|it| it.expose_secret().as_bytes()).unwrap_or_default();
        let mut context = digest::Context::new(&digest::SHA256);
        for part in [address.site.as_str().as_bytes(), header, certificates] {
            // Where a part ends is part of it.
            context.update(&part.len().to_le_bytes());
            context.update(part);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Fingerprint(bytes)
    }
}

#[cfg(test)]
mod tests {
    use weir_core::RepoUrl;

    use super::*;

    fn sign_in(url: &str, keys: &[(&str, &str)]) -> (Option<String>, Fingerprint) {
        let address = Address::of(&RepoUrl::new(url).unwrap()).unwrap();
        let keys = Credentials::from_secret(keys.iter().map(|(key, value)| (*key, value.as_bytes()))).unwrap();
        let sign_in = SignIn::new(&address, &keys);
        let header = sign_in.authorization.as_ref().map(|header| header.to_str().unwrap().to_owned());
        assert!(!format!("{:?}", sign_in.authorization).contains("geheim"));
        (header, sign_in.fingerprint(&address))
    }

    const PLAIN: &str = "https://example.org/acme/config";

    #[test]
    fn a_token_counts_more_than_a_password_and_a_secret_more_than_the_address() {
        let token = ("token", "geheim");
        let (name, password) = (("username", "me"), ("password", "pw"));
        assert_eq!(sign_in(PLAIN, &[token, name, password]).0.unwrap(), "token geheim");
        assert_eq!(sign_in(PLAIN, &[name, password]).0.unwrap(), "Basic bWU6cHc=");
        assert_eq!(sign_in(PLAIN, &[password]).0.unwrap(), "token pw");
        assert_eq!(sign_in("https://me:pw@example.org/acme/config", &[]).0.unwrap(), "Basic bWU6cHc=");
        assert_eq!(sign_in("https://geheim@example.org/acme/config", &[]).0.unwrap(), "token geheim");
        assert_eq!(sign_in("https://you:no@example.org/acme/config", &[name, password]).0.unwrap(), "Basic bWU6cHc=");
        assert_eq!(sign_in(PLAIN, &[]).0, None);
    }

    #[test]
    fn credentials_are_told_apart_and_repositories_of_one_forge_are_not() {
        let one = sign_in(PLAIN, &[("token", "a")]).1;
        assert_eq!(one, sign_in("https://example.org/acme/other", &[("token", "a")]).1);
        assert_ne!(one, sign_in(PLAIN, &[("token", "b")]).1);
        assert_ne!(one, sign_in("https://example.com/acme/config", &[("token", "a")]).1);
        assert_ne!(one, sign_in(PLAIN, &[("token", "a"), ("caFile", "x")]).1);
    }
}
