//! The contract of the server, kept over real connections; what is behind it is in memory.

#[cfg(test)]
mod access;
#[cfg(test)]
mod actions;
#[cfg(test)]
mod document;
#[cfg(test)]
mod drafts;
#[cfg(test)]
mod events;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod flood;
#[cfg(test)]
mod forge_hook;
#[cfg(test)]
mod house;
#[cfg(test)]
mod measured;
#[cfg(test)]
mod origins;
#[cfg(test)]
mod ports;
#[cfg(test)]
mod proposals;
#[cfg(test)]
mod reads;
#[cfg(test)]
mod records;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod ui;
#[cfg(test)]
mod waits;
#[cfg(test)]
mod webhook;
