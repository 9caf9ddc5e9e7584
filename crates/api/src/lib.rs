//! The Kubernetes kinds of Weir.
mod crd;
mod kinds;
pub use crd::*;
pub use kinds::*;
