//! Who may talk to a cluster, and how.

use std::io;
use std::path::{Path, PathBuf};

use aws_lc_rs::encoding::{AsDer, EcPrivateKeyRfc5915Der};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::{ADMIN, Cluster, room};

pub(super) const SERVICE_ACCOUNT_KEY: &str = "service-accounts.key";
pub(super) const TOKENS: &str = "tokens.csv";
/// The API server makes it, and it brings the authority that signed it along.
const CERTIFICATE: &str = "apiserver.crt";

/// A user of a cluster.
#[derive(Debug)]
pub(super) struct User {
    name: String,
    groups: Vec<String>,
    token: String,
}

impl User {
    pub(super) fn new(name: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(|&group| group.to_owned()).collect();
        Self { name: name.to_owned(), groups, token: room::secret(16) }
    }
}

/// Writes what the API server reads when it starts.
pub(super) fn write(folder: &Path, users: &[User]) {
    let lines = users.iter().map(|User { name, groups, token }| {
        let groups = groups.join(",");
        format!("{token},{name},{name},\"{groups}\"\n")
    });
    room::write(&folder.join(TOKENS), lines.collect::<String>());

    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a key can be made");
    let key: EcPrivateKeyRfc5915Der<'_> = pair.private_key().as_der().expect("a key can be written");
    let key = STANDARD.encode(key.as_ref());
    let pem = format!("-----BEGIN EC PRIVATE KEY-----\n{key}\n-----END EC PRIVATE KEY-----\n");
    room::write(&folder.join(SERVICE_ACCOUNT_KEY), pem);
}

/// A client that signs in as the kubeconfig says.
pub(super) async fn client(kubeconfig: &str) -> Result<Client, String> {
    let config = config(kubeconfig).await?;
    Client::try_from(config).map_err(|error| error.to_string())
}

async fn config(kubeconfig: &str) -> Result<Config, String> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(|error| error.to_string())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    config.map_err(|error| error.to_string())
}

impl Cluster {
    /// A client of the administrator. It belongs to the runtime it is made on: one for every test.
    pub async fn client(&self) -> Client {
        self.client_of(ADMIN).await
    }

    /// A client of this user.
    pub async fn client_of(&self, user: &str) -> Client {
        self.client_with(self.token_of(user)).await
    }

    /// A client with this token.
    pub async fn client_with(&self, token: &str) -> Client {
        let client = client(&self.kubeconfig_with(token)).await;
        client.unwrap_or_else(|error| panic!("no client for `{}`: {error}", self.name))
    }

    /// The configuration of the administrator's client, to change before use.
    pub async fn config(&self) -> Config {
        let config = config(&self.kubeconfig()).await;
        config.unwrap_or_else(|error| panic!("no configuration for `{}`: {error}", self.name))
    }

    /// The administrator's kubeconfig, as YAML that names no files.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_of(ADMIN)
    }

    /// A user's kubeconfig.
    pub fn kubeconfig_of(&self, user: &str) -> String {
        self.kubeconfig_with(self.token_of(user))
    }

    /// A kubeconfig with this token.
    pub fn kubeconfig_with(&self, token: &str) -> String {
        let kubeconfig = self.kubeconfig_at(self.port, token);
        kubeconfig.unwrap_or_else(|error| panic!("`{}` has no certificate: {error}", self.name))
    }

    /// The administrator's kubeconfig, as a file.
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// A user's token.
    pub fn token_of(&self, user: &str) -> &str {
        let found = self.users.iter().find(|known| known.name == user);
        let found = found.unwrap_or_else(|| panic!("`{}` has no user `{user}`", self.name));
        &found.token
    }

    /// Creates a service account and returns a token of it that is good for an hour: a user for one test on a shared
    /// cluster, whose name is `system:serviceaccount:<namespace>:<name>`.
    pub async fn service_account(&self, namespace: &str, name: &str) -> String {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client().await, namespace);
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let account = ServiceAccount { metadata, ..ServiceAccount::default() };
        let spec = TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() };
        let request = TokenRequest { spec, ..TokenRequest::default() };
        let parameters = PostParams::default();
        let token = async {
            accounts.create(&parameters, &account).await?;
            accounts.create_token_request(name, &parameters, &request).await
        };
        let token = token.await.unwrap_or_else(|error| panic!("service account `{name}`: {error}"));
        token.status.expect("a token request is answered with a token").token
    }

    pub(super) fn kubeconfig_at(&self, port: u16, token: &str) -> io::Result<String> {
        let authority = STANDARD.encode(std::fs::read(self.folder.join(CERTIFICATE))?);
        let name = &self.name;
        Ok(format!(
            "\
apiVersion: v1
kind: Config
clusters:
- name: {name}
  cluster:
    server: https://127.0.0.1:{port}
    certificate-authority-data: {authority}
users:
- name: {name}
  user:
    token: {token}
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {name}
current-context: {name}
"
        ))
    }
}
