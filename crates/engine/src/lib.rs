//! Follows the world, decides, and carries promotions out.
//!
//! [`Engine::run`] is the whole of it: it feeds [`World`] from the watches of catalog and store, and drives two loops
//! that are joined only by the record of a promotion. *Decide* plans one pipeline and writes the plan down; it is fast.
//! *Carry* takes one step of one promotion and writes down what it learnt; it may be slow, and delays nobody.
//! [`People`] is the third writer: what people ask for, agree to, and stop. [`Drafts`] are the definitions that they
//! propose; those are kept in Git alone.
//!
//! It never decides by itself (that is `weir_core::plan`), never talks to anything but its ports, spawns no task, and
//! keeps nothing that cannot be lost: all that counts is in the store and in Git.

mod access;
mod carry;
mod decide;
mod difference;
mod drafts;
mod memory;
mod people;
mod ports;
mod queue;
mod run;
mod settings;
mod world;

pub use access::NoAccess;
pub use difference::{Difference, NoDifference, difference};
pub use drafts::{Definitions, Draft, DraftError, Drafts, WholeDraft};
pub use people::{Ask, Asked, Awaited, Denied, People, holds_on_turn};
pub use ports::Ports;
pub use run::Engine;
pub use settings::Settings;
pub use world::{Change, ChangeId, Changes, Known, Missed, What, World};

/// The label of the pull requests that are ours.
const LABEL: &str = "weir";
