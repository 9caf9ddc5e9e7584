//! What opens a repository.

use secrecy::SecretString;
use thiserror::Error;

/// What opens a repository: the keys of a Secret. Never shown.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// Who asks, over HTTPS. Without one, `git`, which forges take together with a token.
    pub username: Option<SecretString>,
    /// The password that goes with it.
    pub password: Option<SecretString>,
    /// An access token, used in place of a password where there is none.
    pub token: Option<SecretString>,
    /// The certificates that the server's one is checked with, in PEM form.
    pub ca_file: Option<SecretString>,
    /// A private key for SSH, without a passphrase.
    pub identity: Option<SecretString>,
    /// The keys of SSH servers, as in a `known_hosts` file.
    pub known_hosts: Option<SecretString>,
}

/// A Secret that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{key}` of the Secret cannot be used: {rule}")]
pub struct CredentialsError {
    /// Which of its keys.
    pub key: &'static str,
    /// What is allowed.
    pub rule: &'static str,
}

impl Credentials {
    /// Reads the keys of a Secret: `username`, `password`, `token`, `caFile`, `identity`, `known_hosts`. Others are
    /// left to others.
    pub fn from_secret<'a>(keys: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self, CredentialsError> {
        let mut read = Self::default();
        for (key, value) in keys {
            match key {
                "username" => read.username = Some(word("username", value)?),
                "password" => read.password = Some(word("password", value)?),
                "token" => read.token = Some(word("token", value)?),
                "caFile" => read.ca_file = Some(text("caFile", value)?),
                "identity" => read.identity = Some(text("identity", value)?),
                "known_hosts" => read.known_hosts = Some(text("known_hosts", value)?),
                _ => {}
            }
        }
        Ok(read)
    }
}

fn text(key: &'static str, value: &[u8]) -> Result<SecretString, CredentialsError> {
    match str::from_utf8(value) {
        Ok(text) if !text.trim().is_empty() => Ok(text.into()),
        Ok(_) => Err(CredentialsError { key, rule: "it is empty" }),
        Err(_) => Err(CredentialsError { key, rule: "it has to be text" }),
    }
}

/// A value of one line. The line end that editors and `echo` leave behind is not part of it.
fn word(key: &'static str, value: &[u8]) -> Result<SecretString, CredentialsError> {
    let value = value.strip_suffix(b"\n").unwrap_or(value);
    let value = value.strip_suffix(b"\r").unwrap_or(value);
    if value.iter().any(u8::is_ascii_control) {
        return Err(CredentialsError { key, rule: "it has to be one line of text" });
    }
    text(key, value)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_keys_are_those_of_the_weave_controller() {
        let keys = ["username", "password", "token", "caFile", "identity", "known_hosts"];
        let read = Credentials::from_secret(keys.map(|key| (key, key.as_bytes()))).unwrap();
        let read = [read.username, read.password, read.token, read.ca_file, read.identity, read.known_hosts];
        assert_eq!(read.each_ref().map(|value| value.as_ref().unwrap().expose_secret()), keys);
    }

    #[test]
    fn the_line_end_after_a_password_is_not_part_of_it() {
        let read = Credentials::from_secret([("password", b"geheim\r\n".as_slice())]).unwrap();
        assert_eq!(read.password.unwrap().expose_secret(), "geheim");
    }

    #[test]
    fn a_value_that_cannot_be_used_is_named_and_not_shown() {
        for value in [b"geheim\nx".as_slice(), b"geheim\xff", b"\n"] {
            let error = Credentials::from_secret([("token", value)]).unwrap_err().to_string();
            assert!(error.contains("`token`") && !error.contains("geheim"), "{error}");
        }
    }

    #[test]
    fn credentials_are_never_shown() {
        let read = Credentials::from_secret([("token", b"geheim".as_slice())]).unwrap();
        assert!(!format!("{read:?}").contains("geheim"));
    }
}
