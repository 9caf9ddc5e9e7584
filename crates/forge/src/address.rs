//! Where a repository's forge is, by the address of the repository.

use percent_encoding::percent_decode_str;
use reqwest::Url;
use secrecy::SecretString;
use weir_core::RepoUrl;
use weir_ports::ForgeError;

/// A repository on a forge.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Where the forge answers, with the path that it is installed at. Holds nothing secret.
    pub(crate) site: Url,
    /// Who the repository belongs to.
    pub(crate) owner: String,
    /// Its name, without `.git`.
    pub(crate) name: String,
    /// The name that stood before the host.
    pub(crate) username: Option<SecretString>,
    /// The password that stood there.
    pub(crate) password: Option<SecretString>,
}

impl Address {
    /// Reads an address. One for SSH leads to HTTPS on the same host, as forges offer their API nowhere else.
    pub(crate) fn of(url: &RepoUrl) -> Result<Self, ForgeError> {
        let wrong = || ForgeError::Refused {
            forge: url.to_string(),
            doing: "looking for the forge",
            reason: "the address has to name an owner and a repository, as `https://HOST/OWNER/REPOSITORY.git` does"
                .to_owned(),
        };
        let whole = url.reveal();
        let (mut site, path, is_http) = match whole.split_once("://") {
            Some(("https" | "http", _)) => {
                let site = Url::parse(whole).map_err(|_| wrong())?;
                let path = site.path().to_owned();
                (site, path, true)
            }
            Some(("ssh", rest)) => {
                let (authority, path) = rest.split_once('/').ok_or_else(wrong)?;
                // The port is that of SSH.
                let host = after_user(authority);
                let host = host.rsplit_once(':').filter(|_| !host.ends_with(']')).map_or(host, |(host, _)| host);
                (secure(host).ok_or_else(wrong)?, path.to_owned(), false)
            }
            Some(_) => return Err(wrong()),
            None => {
                let (authority, path) = whole.split_once(':').ok_or_else(wrong)?;
                (secure(after_user(authority)).ok_or_else(wrong)?, path.to_owned(), false)
            }
        };
        let path = path.trim_matches('/');
        let (rest, name) = path.rsplit_once('/').ok_or_else(wrong)?;
        let (folder, owner) = rest.rsplit_once('/').map_or(("", rest), |(folder, owner)| (folder, owner));
        let name = name.strip_suffix(".git").unwrap_or(name);
        if owner.is_empty() || name.is_empty() {
            return Err(wrong());
        }
        let secret = |text: &str| {
            let text = percent_decode_str(text).decode_utf8_lossy().into_owned();
            Some(text).filter(|text| is_http && !text.is_empty()).map(SecretString::from)
        };
        let (username, password) = (secret(site.username()), site.password().and_then(secret));
        site.set_username("").and_then(|()| site.set_password(None)).map_err(|()| wrong())?;
        site.set_query(None);
        site.set_fragment(None);
        site.set_path(folder);
        Ok(Self { owner: owner.to_owned(), name: name.to_owned(), site, username, password })
    }

    /// The repository as people name it.
    pub(crate) fn repository(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

fn after_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn secure(host: &str) -> Option<Url> {
    Url::parse(&format!("https://{host}/")).ok()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        let address = Address::of(&RepoUrl::new(text).unwrap()).ok()?;
        Some((address.site.to_string(), address.repository()))
    }

    #[test]
    fn every_way_to_write_an_address_leads_to_the_forge() {
        let all = [
            ("https://git.example.org/acme/config.git", "https://git.example.org/"),
            ("https://git.example.org/acme/config", "https://git.example.org/"),
            ("https://git.example.org/acme/config/", "https://git.example.org/"),
            ("http://127.0.0.1:3000/acme/config.git", "http://127.0.0.1:3000/"),
            ("https://example.org/gitea/acme/config.git", "https://example.org/gitea"),
            ("https://example.org:8443/a/b/acme/config.git?x=y#z", "https://example.org:8443/a/b"),
            ("ssh://git@git.example.org:2222/acme/config.git", "https://git.example.org/"),
            ("ssh://git@[::1]/acme/config.git", "https://[::1]/"),
            ("ssh://git@[::1]:22/acme/config.git", "https://[::1]/"),
            ("git@git.example.org:acme/config.git", "https://git.example.org/"),
            ("git@git.example.org:/acme/config", "https://git.example.org/"),
        ];
        for (text, site) in all {
            assert_eq!(read(text), Some((site.to_owned(), "acme/config".to_owned())), "{text}");
        }
    }

    #[test]
    fn an_address_that_is_on_no_forge_says_what_is_missing() {
        let all = [
            "file:///srv/acme/config.git",
            "https://example.org/config.git",
            "ssh://host",
            "host:config",
            "ssh://h/.git",
        ];
        for text in all {
            assert_eq!(read(text), None, "{text}");
        }
        let error = Address::of(&RepoUrl::new("https://me:geheim@example.org/config").unwrap()).unwrap_err();
        assert!(error.to_string().contains("OWNER/REPOSITORY"), "{error}");
        assert!(!error.to_string().contains("geheim"), "{error}");
    }

    #[test]
    fn what_stands_before_the_host_is_taken_out_and_kept_apart() {
        let address = Address::of(&RepoUrl::new("https://me:ge%40heim@example.org/acme/config").unwrap()).unwrap();
        assert_eq!(address.site.as_str(), "https://example.org/");
        assert_eq!(address.username.as_ref().unwrap().expose_secret(), "me");
        assert_eq!(address.password.as_ref().unwrap().expose_secret(), "ge@heim");
        assert!(!format!("{address:?}").contains("heim"));
        // The user of an SSH address is nobody who could sign in elsewhere.
        assert!(Address::of(&RepoUrl::new("ssh://git@example.org/acme/config").unwrap()).unwrap().username.is_none());
    }
}
