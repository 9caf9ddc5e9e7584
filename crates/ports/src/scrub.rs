//! Takes what is secret out of what others said.

use secrecy::{ExposeSecret, SecretString};

/// The values that must never be seen.
#[derive(Debug, Clone, Default)]
pub struct Scrub(Vec<SecretString>);

const INSTEAD: &str = "***";

impl Scrub {
    /// Takes these out. Empty ones are none.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut secrets: Vec<SecretString> =
            secrets.into_iter().filter(|secret| !secret.expose_secret().is_empty()).collect();
        // A secret may contain another one, whose removal would leave the rest of it behind.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self(secrets)
    }

    /// The text without secrets, and without what stands before the host of an address.
    pub fn clean(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.0 {
            clean = clean.replace(secret.expose_secret(), INSTEAD);
        }
        without_user_info(&clean)
    }
}

fn without_user_info(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after.find(|c: char| c == '/' || c.is_whitespace() || matches!(c, '\'' | '"' | '`'));
        let (authority, after) = after.split_at(end.unwrap_or(after.len()));
        clean.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out() {
        let scrub = Scrub::new(["geheim".into(), "geheimnis".into(), "".into()]);
        assert_eq!(scrub.clean("a geheimnis, a geheim"), "a ***, a ***");
    }

    #[test]
    fn what_stands_before_a_host_is_taken_out() {
        let scrub = Scrub::default();
        assert_eq!(
            scrub.clean("unable to access 'https://me:geheim@example.org/a': no; ssh://git@b c@d"),
            "unable to access 'https://example.org/a': no; ssh://b c@d"
        );
    }
}
