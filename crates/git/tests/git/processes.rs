//! What runs on behalf of the adapter.

use std::{fs, path::Path, time::Duration};

/// A running program: its id and its arguments.
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) arguments: String,
}

/// Everything that runs for the caches in a folder, which every call gets as its home.
pub(crate) fn of(caches: &Path) -> Vec<Process> {
    let home = format!("HOME={}", caches.canonicalize().unwrap().display());
    let process = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        if !environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes()) {
            return None;
        }
        let arguments = fs::read(entry.path().join("cmdline")).ok()?;
        Some(Process { id, arguments: String::from_utf8_lossy(&arguments).replace('\0', " ") })
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| process(entry.ok()?)).collect()
}

/// Waits for a condition, but not forever.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(30), wait).await.is_ok(), "never: {what}");
}
