//! How credentials get to the `git` program: through the environment of that one call and private files, never through
//! its arguments.

use std::{
    fs::{OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use weir_ports::{RepoAccess, Scrub};

use crate::address::{Address, Transport};

/// Private folders are named so, and left behind by nothing but a killed process.
pub(crate) const PRIVATE: &str = "private-";

/// Answers Git's question for a name and a password from the environment. The shell gets no secret as an argument, as
/// `printf` is part of it.
const HELPER: &str = concat!(
    "!weir() { test \"$1\" = get && ",
    "printf 'username=%s\\npassword=%s\\n' \"$WEIR_GIT_USERNAME\" \"$WEIR_GIT_PASSWORD\"; }; weir"
);

/// What a call needs to be let in. The private files live as long as this does.
pub(crate) struct SignIn {
    /// The address without credentials.
    pub(crate) address: Address,
    /// Takes the credentials out of what Git says.
    pub(crate) scrub: Scrub,
    /// Tells credentials apart without holding them.
    pub(crate) fingerprint: Fingerprint,
    /// Further settings of Git.
    pub(crate) config: Vec<(String, String)>,
    /// Further variables of the environment.
    pub(crate) environment: Vec<(&'static str, SecretString)>,
    _files: Option<TempDir>,
}

/// Tells credentials apart without holding them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint([u8; 32]);

impl SignIn {
    /// Writes the private files, if there are any, into a folder of their own below `root`.
    pub(crate) fn new(access: &RepoAccess, root: &Path) -> io::Result<Self> {
        let address = Address::of(&access.url);
        let keys = &access.credentials;
        let password = keys.password.clone().or_else(|| keys.token.clone()).or_else(|| address.password.clone());
        let username = keys.username.clone().or_else(|| address.username.clone()).unwrap_or_else(|| "git".into());
        let secrets = [&keys.password, &keys.token, &keys.identity, &address.password];
        let scrub = Scrub::new(secrets.into_iter().flatten().cloned());
        let parts = [&keys.identity, &keys.ca_file, &keys.known_hosts];
        let fingerprint =
            fingerprint([Some(&username), password.as_ref()].into_iter().chain(parts.map(Option::as_ref)));
        let (mut config, mut environment, mut files) = (Vec::new(), Vec::new(), None);
        match &address.transport {
            Transport::File => {}
            Transport::Http { site } => {
                if let Some(password) = password {
                    config.push((format!("credential.{site}.helper"), HELPER.into()));
                    // Spares a refused first request, with a Git that knows of it.
                    config.push(("http.proactiveAuth".into(), "basic".into()));
                    environment.push(("WEIR_GIT_USERNAME", username));
                    environment.push(("WEIR_GIT_PASSWORD", password));
                }
                if let Some(certificates) = &keys.ca_file {
                    let folder = private_folder(root)?;
                    let path = private_file(&folder, "ca", certificates)?;
                    config.push(("http.sslCAInfo".into(), path.display().to_string()));
                    files = Some(folder);
                }
            }
            Transport::Ssh => {
                let folder = private_folder(root)?;
                let file = |name, value: &Option<SecretString>| {
                    value.as_ref().map(|value| private_file(&folder, name, value)).transpose()
                };
                let identity = file("identity", &keys.identity)?;
                let known_hosts = file("known_hosts", &keys.known_hosts)?;
                let command = ssh_command(identity.as_deref(), known_hosts.as_deref());
                environment.push(("GIT_SSH_COMMAND", command.into()));
                files = Some(folder);
            }
        }
        Ok(Self { address, scrub, fingerprint, config, environment, _files: files })
    }
}

fn fingerprint<'s>(parts: impl Iterator<Item = Option<&'s SecretString>>) -> Fingerprint {
    let mut digest = Sha256::new();
    for part in parts {
        let part = part.map_or("", |part| part.expose_secret());
        digest.update(part.len().to_le_bytes());
        digest.update(part.as_bytes());
    }
    Fingerprint(digest.finalize().into())
}

/// Nobody is asked anything, nothing of the account's own `ssh` settings counts, and an unknown server is refused.
fn ssh_command(identity: Option<&Path>, known_hosts: Option<&Path>) -> String {
    let nothing = Path::new("/dev/null");
    let option = |name: &str, path: &Path| {
        let value = format!("{name}=\"{}\"", path.display());
        format!(" -o '{}'", value.replace('\'', r"'\''"))
    };
    let mut command = "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes".to_owned();
    command += " -o IdentityAgent=none -o ConnectTimeout=15";
    command += &option("IdentityFile", identity.unwrap_or(nothing));
    command += &option("UserKnownHostsFile", known_hosts.unwrap_or(nothing));
    command += &option("GlobalKnownHostsFile", nothing);
    command
}

fn private_folder(root: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(PRIVATE).permissions(Permissions::from_mode(0o700)).tempdir_in(root)
}

fn private_file(folder: &TempDir, name: &str, value: &SecretString) -> io::Result<PathBuf> {
    let path = folder.path().join(name);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let value = value.expose_secret();
    file.write_all(value.as_bytes())?;
    // A private key without a line end at its end is none, for ssh.
    if !value.ends_with('\n') {
        file.write_all(b"\n")?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use weir_core::RepoUrl;
    use weir_ports::Credentials;

    use super::*;

    fn sign_in(url: &str, keys: &[(&str, &str)], root: &Path) -> SignIn {
        let keys = keys.iter().map(|(key, value)| (*key, value.as_bytes()));
        let credentials = Credentials::from_secret(keys).unwrap();
        SignIn::new(&RepoAccess { url: RepoUrl::new(url).unwrap(), credentials }, root).unwrap()
    }

    #[test]
    fn a_password_goes_to_its_own_site_only() {
        let root = TempDir::new().unwrap();
        let made = sign_in("https://example.org/a.git", &[("password", "geheim")], root.path());
        assert!(made.config.iter().any(|(key, _)| key == "credential.https://example.org.helper"));
        assert!(!made.config.iter().any(|(_, value)| value.contains("geheim")));
        let sent: Vec<&str> = made.environment.iter().map(|(_, value)| value.expose_secret()).collect();
        assert_eq!(sent, ["git", "geheim"]);
    }

    #[test]
    fn a_password_goes_before_a_token_and_the_secret_before_the_address() {
        let root = TempDir::new().unwrap();
        let sent = |keys: &[(&str, &str)]| {
            let made = sign_in("https://a:in-address@example.org/a.git", keys, root.path());
            made.environment.iter().map(|(_, value)| value.expose_secret().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(sent(&[("password", "p"), ("token", "t")]), ["a", "p"]);
        assert_eq!(sent(&[("token", "t"), ("username", "b")]), ["b", "t"]);
        assert_eq!(sent(&[]), ["a", "in-address"]);
    }

    #[test]
    fn ssh_asks_nobody_and_trusts_only_what_the_secret_names() {
        let root = TempDir::new().unwrap();
        let keys = [("identity", "KEY"), ("known_hosts", "example.org ssh-ed25519 AAAA")];
        let made = sign_in("git@example.org:a.git", &keys, root.path());
        let command = made.environment[0].1.expose_secret().to_owned();
        for option in ["BatchMode=yes", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "-F none"] {
            assert!(command.contains(option), "{command}");
        }
        let folder = fs::read_dir(root.path()).unwrap().next().unwrap().unwrap().path();
        let rights = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((rights(&folder), rights(&folder.join("identity"))), (0o700, 0o600));
        assert_eq!(fs::read_to_string(folder.join("identity")).unwrap(), "KEY\n");
        assert!(command.contains(&format!("IdentityFile=\"{}\"", folder.join("identity").display())), "{command}");
        drop(made);
        assert!(!folder.exists());
    }

    #[test]
    fn without_known_hosts_no_server_is_trusted() {
        let root = TempDir::new().unwrap();
        let made = sign_in("ssh://git@example.org/a.git", &[("identity", "KEY")], root.path());
        assert!(made.environment[0].1.expose_secret().contains("UserKnownHostsFile=\"/dev/null\""));
    }

    #[test]
    fn other_credentials_have_another_fingerprint() {
        let root = TempDir::new().unwrap();
        let of = |keys: &[(&str, &str)]| sign_in("https://example.org/a", keys, root.path()).fingerprint;
        assert_eq!(of(&[("token", "a")]), of(&[("token", "a")]));
        assert_ne!(of(&[("token", "a")]), of(&[("token", "b")]));
        assert_ne!(of(&[("token", "a")]), of(&[]));
    }
}
