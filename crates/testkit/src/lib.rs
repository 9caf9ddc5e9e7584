//! What tests of Weir are made of.
//!
//! [`sim`] is a world of simulated ports with a seed: a store, Git repositories, definitions and a clock that lose,
//! delay, repeat and reorder whatever they may, and that crash the engine at any call. The same seed always gives the
//! same history.

pub mod sim;
