//! The folder that all servers of a test process live in, and the guard that clears it.
//!
//! The guard is a shell that reads from a pipe of which only the test process holds the other end. Whatever ends the
//! test process closes the pipe; then the guard kills the servers' process groups and removes the folder. A server is
//! started by way of a shell that first puts its process id down in `processes/` and then becomes the server. The guard
//! begins with renaming that folder, so a server that comes too late finds no place to put its id, and never starts.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

const GUARD: &str = r#"
trap '' HUP INT TERM
cd "$1" || exit 1
while read -r _; do :; done
mv processes closed
ids=$(ls closed)
tries=100
while [ "$tries" -gt 0 ]; do
  left=
  for id in $ids; do
    kill -s KILL -- "-$id" && left=yes
  done
  [ -n "$left" ] || break
  # Not for ever: where nobody reaps the dead, they look alive.
  tries=$((tries - 1))
  sleep 0.05
done
cd /
[ -n "$2" ] || rm -rf "$1"
"#;

/// Ports below those that the system gives to outgoing connections: a server that is stopped for a while finds its own
/// free again.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

#[derive(Debug)]
struct Room {
    folder: PathBuf,
    /// Holds the pipe. It is never waited for: it lives longer than this process.
    _guard: Child,
}

/// The folder of this test process, with the servers' logs in `logs/`. It goes when the process does, unless
/// `WEIR_TESTBED_KEEP` names a folder to put it in, and to leave it in.
pub fn folder() -> &'static Path {
    static ROOM: OnceLock<Room> = OnceLock::new();
    &ROOM.get_or_init(Room::open).folder
}

/// A name that nobody else has: the given one with a random end.
pub fn unique(name: &str) -> String {
    format!("{name}-{}", secret(4))
}

/// So many random bytes, as hexadecimal digits.
pub(super) fn secret(bytes: usize) -> String {
    use std::fmt::Write;
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).expect("the system gives random bytes");
    random.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes it all");
        text
    })
}

/// A new folder in the room.
pub(super) fn new_folder(name: &str) -> PathBuf {
    let path = folder().join(name);
    fs::create_dir_all(&path).unwrap_or_else(|error| panic!("creating `{}` failed: {error}", path.display()));
    path
}

/// Writes a file that only we may read.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) {
    use std::os::unix::fs::PermissionsExt;
    let written = fs::write(path, content).and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o600)));
    written.unwrap_or_else(|error| panic!("writing `{}` failed: {error}", path.display()));
}

/// A port on loopback that was free just now. No two calls get the same one until all were given out.
pub fn free_port() -> u16 {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    let next = NEXT.get_or_init(|| {
        let mut random = [0; 2];
        getrandom::fill(&mut random).expect("the system gives random bytes");
        AtomicU16::new(u16::from_ne_bytes(random))
    });
    let width = PORTS.end - PORTS.start;
    (0..width)
        .map(|_| PORTS.start + next.fetch_add(1, Ordering::Relaxed) % width)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("one of 20,000 ports is free")
}

impl Room {
    fn open() -> Self {
        let keep = std::env::var_os("WEIR_TESTBED_KEEP");
        let parent = keep.as_ref().map_or_else(std::env::temp_dir, PathBuf::from);
        fs::create_dir_all(&parent).unwrap_or_else(|error| panic!("creating `{}` failed: {error}", parent.display()));
        let parent = parent.canonicalize().expect("the folder is there");
        let folder = tempfile::Builder::new().prefix("weir-testbed-").tempdir_in(&parent);
        let folder = folder.unwrap_or_else(|error| panic!("no room in `{}`: {error}", parent.display()));
        let folder = folder.keep();
        for inside in ["logs", "processes"] {
            fs::create_dir(folder.join(inside)).expect("a new folder takes another");
        }
        let guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(&folder)
            .arg(keep.unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let guard = guard.unwrap_or_else(|error| panic!("starting the servers' guard failed: {error}"));
        Self { folder, _guard: guard }
    }
}
