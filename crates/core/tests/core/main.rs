//! The rules of promotion, told as stories; the laws, tried on worlds that nobody thought of.

#[cfg(test)]
mod approval;
#[cfg(test)]
mod candidate;
#[cfg(test)]
mod delivered;
#[cfg(test)]
mod deployed;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod preview;
#[cfg(test)]
mod proposal;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod story;
#[cfg(test)]
mod turn;
#[cfg(test)]
mod world;
