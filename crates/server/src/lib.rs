//! HTTP: webhooks, the REST API with its document, the event stream, the web UI, probes and metrics; and who may use them.
//!
//! [`Server::new`] takes [`Parts`] and [`Settings`]; [`Server::serve`] serves a listener until it shall stop. What is
//! shown comes from `weir_engine::World`, in memory; what people do goes through `weir_engine::People`; what Flux reports
//! is stored, and nothing else is ever written here. It decides nothing, and knows no TLS.
//!
//! Every error is `application/problem+json`. Whatever is more than the server bears is turned away at once with
//! `Retry-After`; whatever was accepted is stored. Neither tokens nor signatures nor Secrets are ever shown or logged.

mod api;
mod backend;
mod caller;
mod extract;
mod hex;
mod metrics;
mod origin;
mod page;
mod prefer;
mod probes;
mod problem;
mod router;
mod serve;
mod settings;
mod state;
mod ui;
mod view;
mod webhook;

pub use backend::Parts;
pub use metrics::{Metrics, Timed};
pub use serve::Server;
pub use settings::{Authentication, Backup, Limits, Settings, Unsigned};
