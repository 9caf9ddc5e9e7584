//! The address of a repository as the `git` program gets it: without anything secret.

use secrecy::SecretString;
use sha2::{Digest, Sha256};
use weir_core::RepoUrl;

/// An address that may be seen in the list of processes, and what was taken out of it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// What the program gets as its argument.
    pub(crate) url: String,
    /// How it is reached.
    pub(crate) transport: Transport,
    /// The name that stood before the host of an HTTP address.
    pub(crate) username: Option<SecretString>,
    /// The password that stood there.
    pub(crate) password: Option<SecretString>,
}

/// How a repository is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Through a folder.
    File,
    /// By `https://` or `http://`.
    Http {
        /// The scheme and the host, which are all that may get the credentials.
        site: String,
    },
    /// By `ssh`.
    Ssh,
}

impl Address {
    pub(crate) fn of(url: &RepoUrl) -> Self {
        let whole = url.reveal();
        let Some((scheme, rest)) = whole.split_once("://") else {
            return Self { url: whole.to_owned(), transport: Transport::Ssh, username: None, password: None };
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let (name, password) = user.map_or((None, None), |user| match user.split_once(':') {
            Some((name, password)) => (Some(name), Some(password)),
            None => (Some(user), None),
        });
        let secret = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(|text| decoded(text).into());
        match scheme {
            "file" => Self { url: whole.to_owned(), transport: Transport::File, username: None, password: None },
            "ssh" => {
                let name = name.map(|name| format!("{name}@")).unwrap_or_default();
                let url = format!("ssh://{name}{host}{path}");
                Self { url, transport: Transport::Ssh, username: None, password: secret(password) }
            }
            // Without a query, which may hold a token.
            _ => Self {
                url: url.to_string(),
                transport: Transport::Http { site: format!("{scheme}://{host}") },
                username: secret(name),
                password: secret(password),
            },
        }
    }

    /// The name of the folder that caches it: readable at the start, unique by its end.
    pub(crate) fn folder(&self) -> String {
        let digest = Sha256::digest(self.url.as_bytes());
        let hash = hex(&digest[..12]);
        let last = self.url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let last = last.strip_suffix(".git").unwrap_or(last);
        let word: String =
            last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(40).collect();
        format!("{word}-{hash}.git")
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).collect()
}

/// A part of an address without its `%40`s.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| first == b'%').and_then(|code| str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn address(text: &str) -> Address {
        Address::of(&RepoUrl::new(text).unwrap())
    }

    #[test]
    fn the_program_never_gets_an_address_with_a_secret() {
        let found = address("https://me:ge%40heim@example.org:8443/a/b.git?token=x");
        assert_eq!(found.url, "https://example.org:8443/a/b.git");
        assert_eq!(found.transport, Transport::Http { site: "https://example.org:8443".into() });
        assert_eq!(found.username.unwrap().expose_secret(), "me");
        assert_eq!(found.password.unwrap().expose_secret(), "ge@heim");
        assert_eq!(address("ssh://git:geheim@example.org/a").url, "ssh://git@example.org/a");
    }

    #[test]
    fn an_address_for_ssh_keeps_its_user() {
        assert_eq!(address("git@example.org:a/b.git").url, "git@example.org:a/b.git");
        assert_eq!(address("ssh://git@example.org/a").url, "ssh://git@example.org/a");
    }

    #[test]
    fn a_cache_is_named_after_the_repository_and_not_after_who_opens_it() {
        let one = address("https://a:b@example.org/fleet.git").folder();
        assert_eq!(one, address("https://example.org/fleet.git").folder());
        assert_ne!(one, address("https://example.com/fleet.git").folder());
        assert!(one.starts_with("fleet-"), "{one}");
    }
}
