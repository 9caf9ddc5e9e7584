//! The way into a cluster: its definition, the Secret that it names, the kubeconfig in that.

use std::{sync::Arc, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};
use weir_core::{ClusterKey, Name};
use weir_ports::{Catalog, CatalogError, Secret};

use super::{LeafSettings, fault::Fault, kubeconfig};

/// The keys of a Secret that may hold the kubeconfig. The first that is there counts.
const KEYS: [&str; 3] = ["value", "value.yaml", "kubeconfig"];

/// How long definitions may take to be read.
const DEADLINE: Duration = Duration::from_secs(30);

/// A hash of a kubeconfig.
pub(super) type Digest = [u8; 32];

/// A way into a cluster.
#[derive(Clone)]
pub(super) struct Way {
    /// Tells it from another one. `None`: it is always the same.
    pub(super) digest: Option<Digest>,
    /// How the API server is called in sentences.
    pub(super) server: Arc<str>,
    /// Where it is.
    pub(super) address: Arc<str>,
    entry: Entry,
}

#[derive(Clone)]
enum Entry {
    Local(Client),
    Remote(Box<Config>),
}

impl Way {
    /// Weir's own cluster.
    pub(super) fn local(client: Client) -> Self {
        Self { digest: None, server: "Weir's own cluster".into(), address: "".into(), entry: Entry::Local(client) }
    }

    /// A new client.
    pub(super) fn client(&self) -> Result<Client, Fault> {
        match &self.entry {
            Entry::Local(client) => Ok(client.clone()),
            // The reason might show what is in the kubeconfig.
            Entry::Remote(config) => Client::try_from(Config::clone(config)).map_err(|_| {
                Fault::settled("the kubeconfig cannot be used: its certificates, its key or its token are not valid")
            }),
        }
    }
}

/// What was found where the way should be.
pub(super) enum Found {
    /// No such cluster is defined.
    Undefined,
    /// It cannot be looked at the moment. Whoever is in can stay.
    Unavailable(Fault),
    /// There is no way.
    Closed(Fault),
    /// The way that was known already.
    Same,
    /// Another.
    Way(Box<Way>),
}

/// Looks for the way into a cluster. `known` is the way that is known already.
pub(super) async fn find<C: Catalog>(
    catalog: &C,
    cluster: &ClusterKey,
    known: Option<Digest>,
    settings: &LeafSettings,
) -> Found {
    let look = async {
        let name = match catalog.kubeconfig(cluster).await {
            Ok(Some(name)) => name,
            Ok(None) => return Found::Undefined,
            Err(error) => return Found::Unavailable(Fault::settled(error.to_string())),
        };
        match catalog.secret(&cluster.namespace, &name).await {
            Ok(secret) => open(cluster, &name, &secret, known, settings).await,
            Err(error @ CatalogError::NoSecret { .. }) => Found::Closed(Fault::settled(error.to_string())),
            Err(error @ CatalogError::Unavailable { .. }) => Found::Unavailable(Fault::settled(error.to_string())),
        }
    };
    let late = || format!("reading GitopsCluster `{cluster}` and its Secret takes more than {} s", DEADLINE.as_secs());
    tokio::time::timeout(DEADLINE, look).await.unwrap_or_else(|_| Found::Unavailable(Fault::settled(late())))
}

async fn open(
    cluster: &ClusterKey,
    name: &Name,
    secret: &Secret,
    known: Option<Digest>,
    settings: &LeafSettings,
) -> Found {
    let home = &cluster.namespace;
    let Some(value) = KEYS.iter().find_map(|key| secret.get(key)) else {
        let keys = KEYS.map(|key| format!("`{key}`")).join(", ");
        return Found::Closed(Fault::settled(format!("Secret `{home}/{name}` has none of the keys {keys}")));
    };
    let bytes = value.expose_secret();
    let digest: Digest = Sha256::digest(bytes).into();
    if known == Some(digest) {
        return Found::Same;
    }
    let refused = |reason: String| {
        Found::Closed(Fault::settled(format!("the kubeconfig in Secret `{home}/{name}` cannot be used: {reason}")))
    };
    let checked = match kubeconfig::checked(bytes, settings) {
        Ok(checked) => checked,
        Err(reason) => return refused(reason),
    };
    match config(checked).await {
        Some(config) => {
            let port = config.cluster_url.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
            let server = format!("`{}{port}`", config.cluster_url.host().unwrap_or("the API server")).into();
            let address = config.cluster_url.to_string().into();
            Found::Way(Box::new(Way { digest: Some(digest), server, address, entry: Entry::Remote(Box::new(config)) }))
        }
        // The reason might show what is in it.
        None => refused("its `server`, or its certificates, are not valid".to_owned()),
    }
}

async fn config(kubeconfig: Kubeconfig) -> Option<Config> {
    const CONNECT: Duration = Duration::from_secs(10);
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.ok()?;
    // What the environment says about proxies is meant for other things.
    config.proxy_url = None;
    config.connect_timeout = Some(CONNECT);
    // Everything here is tried again anyway, and nothing is to be waited for.
    config.default_retry = false;
    Some(config)
}
