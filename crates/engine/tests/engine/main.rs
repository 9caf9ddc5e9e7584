//! The engine, against simulated ports.

#[cfg(test)]
mod actors;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod carrying;
#[cfg(test)]
mod drafts;
#[cfg(test)]
mod forge;
#[cfg(test)]
mod history;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod stage;
