//! What tests of Weir are made of.
//!
//! [`sim`] is a world of simulated ports with a seed: a store, Git repositories, definitions and a clock that lose,
//! delay, repeat and reorder whatever they may, and that crash the engine at any call. The same seed always gives the
//! same history.
//!
//! [`records`] are small records of every kind.
//!
//! `servers`, with the feature of that name, is the real world in small: Kubernetes API servers, Flux and Gitea, as
//! processes that are gone when the test is.

pub mod records;
#[cfg(feature = "servers")]
pub mod servers;
pub mod sim;
