//! Journeys on the real thing: API servers, Flux, a forge, Git, and Weir between them.

mod broken;
mod deleted;
mod fleet;
mod image;
mod killed;
mod outage;
mod rejected;
mod replicas;
mod rules;
mod stories;
