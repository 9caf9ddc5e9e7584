//! The Kubernetes kinds of Weir.
mod convert;
mod crd;
mod kinds;
mod manifest;
mod validate;
pub use convert::*;
pub use crd::*;
pub use kinds::*;
pub use manifest::*;
pub use validate::{Violation, validate};
