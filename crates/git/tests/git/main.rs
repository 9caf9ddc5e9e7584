//! The contract of the port, kept against the real `git` program, servers of files and of HTTP, and damage.

#[cfg(test)]
mod cache;
#[cfg(test)]
mod credentials;
#[cfg(test)]
mod deadline;
#[cfg(test)]
mod environment;
#[cfg(test)]
mod files;
#[cfg(test)]
mod http;
#[cfg(test)]
mod look;
#[cfg(test)]
mod prepare;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod push;
#[cfg(test)]
mod world;
