//! How the `git` program is run.

use std::{path::PathBuf, time::Duration};

/// How the `git` program is run. [`Settings::default`] is right but for tests and unusual servers.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The program; looked up in `PATH` if it is a bare name. At least version 2.32.
    pub program: PathBuf,
    /// How long one call of it may take. Then it is killed, with all that it started.
    pub deadline: Duration,
    /// How long a push waits for others to go along.
    pub gather: Duration,
    /// How many calls run at a time.
    pub processes: usize,
    /// The largest file that is read, in bytes.
    pub largest_file: u64,
    /// After how many fetches and commits a cache is tidied up.
    pub tidy_after: u32,
    /// Whether a repository may be a folder of this machine. Not where those who define pipelines are not those whose
    /// folders these are.
    pub allow_folders: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            program: "git".into(),
            deadline: Duration::from_mins(2),
            gather: Duration::from_millis(10),
            processes: 16,
            largest_file: 8 * 1024 * 1024,
            tidy_after: 256,
            allow_folders: true,
        }
    }
}
