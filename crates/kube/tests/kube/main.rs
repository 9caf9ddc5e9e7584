//! The contracts of the ports, kept on a real API server.

#[cfg(test)]
mod catalog;
#[cfg(test)]
mod finalizers;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod leaf;
#[cfg(test)]
mod leaf_access;
#[cfg(test)]
mod leaf_flux;
#[cfg(test)]
mod leaf_ground;
mod leases;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod people;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod status;
#[cfg(test)]
mod store;
#[cfg(test)]
mod story;
#[cfg(test)]
mod watch;
