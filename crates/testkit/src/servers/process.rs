//! One server: a process with a log.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{bed, room, wait::PATIENCE};

/// Puts down the process id where the guard finds it, then becomes the server.
const SIGN_IN: &str = r#": > "$1/$$" && shift && exec "$@""#;
const ADDRESS_TAKEN: &str = "address already in use";
const ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(50);
const TAIL_LINES: usize = 30;

/// What to start.
#[derive(Debug)]
pub(super) struct Launch {
    /// The name of the log.
    pub(super) name: String,
    /// The name of the program in the test bed.
    pub(super) program: &'static str,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(&'static str, String)>,
}

/// A running server. Ends when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    log: Log,
}

#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// Where this run begins: a server that is started again writes to the same file.
    begin: u64,
}

/// A command with the test bed's own environment: nothing of the user's settings, and a home in the room.
pub(super) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", room::new_folder("home")).env("TMPDIR", room::new_folder("tmp"));
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

impl Process {
    /// Starts what `plan` says and waits until `ready` does. A plan whose ports somebody else was quicker to take is made
    /// anew.
    pub(super) async fn start<P>(
        mut plan: impl FnMut() -> (Launch, P),
        mut ready: impl AsyncFnMut(&P) -> Result<(), String>,
    ) -> (Self, P) {
        for _ in 0..ATTEMPTS {
            let (launch, details) = plan();
            if let Some(process) = Self::attempt(&launch, async || ready(&details).await).await {
                return (process, details);
            }
        }
        panic!("every port that was free a moment before was taken, {ATTEMPTS} times");
    }

    /// `None` if a port was taken.
    async fn attempt(launch: &Launch, mut ready: impl AsyncFnMut() -> Result<(), String>) -> Option<Self> {
        let mut process = Self::spawn(launch);
        let name = &launch.name;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = ready().await;
            if let Ok(Some(status)) = process.child.try_wait() {
                let log = process.log.text();
                if log.contains(ADDRESS_TAKEN) {
                    return None;
                }
                panic!("`{name}` ended before it was ready: {status}\n{}", process.log.tail());
            }
            match answer {
                Ok(()) => return Some(process),
                Err(error) if Instant::now() > deadline => {
                    panic!("`{name}` is not ready after {} s: {error}\n{}", PATIENCE.as_secs(), process.log.tail())
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn spawn(launch: &Launch) -> Self {
        let path = room::folder().join("logs").join(format!("{}.log", launch.name));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.unwrap_or_else(|error| panic!("opening `{}` failed: {error}", path.display()));
        let begin = file.metadata().map_or(0, |metadata| metadata.len());
        let errors = file.try_clone().expect("a file can be had twice");
        let child = command("sh")
            .args(["-c", SIGN_IN, "sh"])
            .arg(room::folder().join("processes"))
            .arg(bed::program(launch.program))
            .args(&launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .process_group(0)
            .spawn();
        let child = child.unwrap_or_else(|error| panic!("starting `{}` failed: {error}", launch.program));
        Self { child, log: Log { path, begin } }
    }

    /// Where it writes.
    pub(super) fn log(&self) -> &Path {
        &self.log.path
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The group, for what it started itself. Killed, not asked: that is what tests of an outage want, and nothing
        // here has anything to lose.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        let _ = fs::remove_file(room::folder().join("processes").join(self.child.id().to_string()));
    }
}

impl Log {
    /// What this run wrote.
    fn text(&self) -> String {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.begin))?;
            file.read_to_end(&mut bytes)
        });
        match read {
            Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("(reading the log failed: {error})"),
        }
    }

    fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<_> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        format!("the end of `{}`:\n{tail}", self.path.display())
    }
}

/// Whether a server answers there with success.
pub(super) async fn answers(url: &str) -> Result<(), String> {
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build();
    let client = client.map_err(|error| error.to_string())?;
    let answer = client.get(url).send().await.and_then(reqwest::Response::error_for_status);
    answer.map(drop).map_err(|error| format!("`{url}`: {error}"))
}
