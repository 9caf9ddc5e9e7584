//! HTTP.
mod backend;
mod settings;
pub use backend::Parts;
pub use settings::{Authentication, Backup, Limits, Settings, Unsigned};
