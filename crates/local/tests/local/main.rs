//! The contracts of the ports, kept on a real disk: SQLite files, folders of manifests, files of tokens, and damage.

#[cfg(test)]
mod backup;
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod past;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod store;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod watch;
