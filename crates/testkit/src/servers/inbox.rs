//! Something to post to.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::wait::eventually;

/// A listener on loopback that says yes to everything and keeps it: the other end of a webhook.
#[derive(Debug)]
pub struct Inbox {
    address: SocketAddr,
    deliveries: Deliveries,
    task: JoinHandle<()>,
}

/// What was posted.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// With what method.
    pub method: Method,
    /// To which path and query.
    pub uri: Uri,
    /// With which headers.
    pub headers: HeaderMap,
    /// The very bytes, as signatures are made of them.
    pub body: Bytes,
}

type Deliveries = Arc<Mutex<Vec<Delivery>>>;

impl Inbox {
    /// Opens one, on the runtime of the test.
    pub async fn open() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let deliveries = Deliveries::default();
        let router = Router::new().fallback(keep).with_state(Arc::clone(&deliveries));
        let task = tokio::spawn(async move {
            // It never ends by itself.
            let _ = axum::serve(listener, router).await;
        });
        Self { address, deliveries, task }
    }

    /// Where to post to.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Everything so far.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the first delivery that is wanted.
    pub async fn first(&self, what: &str, wanted: impl Fn(&Delivery) -> bool) -> Delivery {
        eventually(what, async || {
            let deliveries = self.deliveries();
            let found = deliveries.iter().find(|delivery| wanted(delivery)).cloned();
            found.ok_or_else(|| format!("there are {} other deliveries", deliveries.len()))
        })
        .await
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Delivery {
    /// The body, or null if it is no JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header as text, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

async fn keep(State(deliveries): State<Deliveries>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) {
    let delivery = Delivery { method, uri, headers, body };
    deliveries.lock().unwrap_or_else(PoisonError::into_inner).push(delivery);
}
