//! The one way in which the `git` program is run.
//!
//! A call sees nothing of the environment but what is listed here, asks nobody anything, has a process group of its
//! own, and is killed with that whole group when its deadline passes or nobody waits for it any more.

use std::{
    ffi::OsString,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{Semaphore, SemaphorePermit},
};

use crate::{fault::Fault, settings::Settings, sign_in::SignIn};

/// What a call may see of the environment: where programs are, and how to get out of the house.
const PASSED_ON: [&str; 14] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "TMPDIR",
    "USER",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// Settings of every call, of which nothing reaches the program at the other end of a `file://` address.
const CONFIG: [(&str, &str); 18] = [
    ("protocol.allow", "never"),
    ("protocol.file.allow", "always"),
    ("protocol.http.allow", "always"),
    ("protocol.https.allow", "always"),
    ("protocol.ssh.allow", "always"),
    ("protocol.version", "2"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    // A cache can always be made anew.
    ("core.fsync", "none"),
    ("core.logAllRefUpdates", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.gpgSign", "false"),
];

/// More than anybody reads of what Git says.
const LONGEST_TALK: usize = 16 * 1024;

/// The program, and how it is run.
pub(crate) struct Git {
    pub(crate) settings: Settings,
    /// The folder of all caches; nothing outside it is touched.
    pub(crate) root: PathBuf,
    room: Semaphore,
}

/// Where a program of a bare name is, looked up once. With a bare name and an environment of its own, every call would
/// copy the page tables of this process, only to find the program in the copy.
fn found(program: PathBuf) -> PathBuf {
    let is_bare = program.parent() == Some(Path::new(""));
    let folders = std::env::var_os("PATH").filter(|_| is_bare).unwrap_or_default();
    let runs = |path: &PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    let absolute = |path: &PathBuf| path.is_absolute();
    let mut places = std::env::split_paths(&folders).filter(absolute).map(|folder| folder.join(&program));
    places.find(runs).unwrap_or(program)
}

/// One call of the program.
pub(crate) struct Call<'a> {
    arguments: Vec<OsString>,
    repository: Option<&'a Path>,
    sign_in: Option<&'a SignIn>,
    input: Vec<u8>,
}

impl<'a> Call<'a> {
    pub(crate) fn new<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { arguments, repository: None, sign_in: None, input: Vec::new() }
    }

    /// With one more argument.
    pub(crate) fn argument(&mut self, argument: impl Into<OsString>) {
        self.arguments.push(argument.into());
    }

    /// In this cache.
    pub(crate) fn within(mut self, repository: &'a Path) -> Self {
        self.repository = Some(repository);
        self
    }

    /// With what the server wants to see.
    pub(crate) fn signed_in(mut self, sign_in: &'a SignIn) -> Self {
        self.sign_in = Some(sign_in);
        self
    }

    /// With this on its standard input.
    pub(crate) fn given(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }
}

/// What a call had to say.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    /// Without secrets.
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == 0
    }
}

impl Git {
    pub(crate) fn new(mut settings: Settings, root: PathBuf) -> Self {
        settings.program = found(settings.program);
        Self { room: Semaphore::new(settings.processes.max(1)), settings, root }
    }

    /// Runs a call to its end.
    pub(crate) async fn run(&self, mut call: Call<'_>) -> Result<Output, Fault> {
        let input = std::mem::take(&mut call.input);
        let running = self.start(&call).await?;
        self.by_the_deadline(running.finish(&input)).await
    }

    /// Starts a call that is talked with. It is killed when dropped.
    pub(crate) async fn start<'g>(&'g self, call: &Call<'g>) -> Result<Running<'g>, Fault> {
        let room = self.room.acquire().await.map_err(|_| Fault::Other("Git is shut down".into()))?;
        let mut command = self.command(call);
        let start = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                let program = self.settings.program.display();
                Fault::Other(format!("there is no program `{program}`; install Git"))
            }
            _ => Fault::from(error),
        };
        let mut child = command.spawn().map_err(start)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Fault::Other("Git has no standard streams".into()));
        };
        Ok(Running { stdin, stdout, stderr, group: Group(child), sign_in: call.sign_in, _room: room })
    }

    /// Waits for something, but not longer than a call may take.
    pub(crate) async fn by_the_deadline<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let after = self.settings.deadline;
        tokio::time::timeout(after, work).await.unwrap_or(Err(Fault::TimedOut { after }))
    }

    fn command(&self, call: &Call<'_>) -> Command {
        let mut command = Command::new(&self.settings.program);
        command.args(&call.arguments).current_dir(&self.root).env_clear();
        for name in PASSED_ON {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("LC_ALL", "C")
            // Nobody's `.netrc` counts.
            .env("HOME", &self.root)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_SSH_VARIANT", "ssh")
            .env("GIT_CEILING_DIRECTORIES", self.root.parent().unwrap_or(&self.root));
        if let Some(repository) = call.repository {
            command.env("GIT_DIR", repository);
        }
        let own = call.sign_in.map(|sign_in| sign_in.config.as_slice()).unwrap_or_default();
        let own = own.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut count = 0;
        for (key, value) in CONFIG.into_iter().chain(own) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), key).env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        for (key, value) in call.sign_in.map(|sign_in| sign_in.environment.as_slice()).unwrap_or_default() {
            command.env(key, value.expose_secret());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command
    }
}

/// A call under way.
pub(crate) struct Running<'g> {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    stderr: ChildStderr,
    group: Group,
    sign_in: Option<&'g SignIn>,
    _room: SemaphorePermit<'g>,
}

impl Running<'_> {
    /// Says the last thing, hears it out and waits for its end.
    pub(crate) async fn finish(self, input: &[u8]) -> Result<Output, Fault> {
        let Self { mut stdin, mut stdout, mut stderr, mut group, sign_in, _room } = self;
        let say = async move {
            // Whoever does not listen to the end has a reason, which is in what it says.
            let _ = stdin.write_all(input).await;
            let _ = stdin.shutdown().await;
        };
        let (mut data, mut talk) = (Vec::new(), Vec::new());
        let ((), heard, talked) = tokio::join!(say, stdout.read_to_end(&mut data), hear(&mut stderr, &mut talk));
        heard?;
        talked?;
        // Only now, when everything that held the streams is gone: until then the group can be killed as a whole.
        let status = group.0.wait().await?;
        let Some(code) = status.code() else {
            return Err(Fault::Other("Git was killed by somebody else; check whether there is enough memory".into()));
        };
        let talk = String::from_utf8_lossy(&talk);
        let stderr = sign_in.map_or_else(|| talk.to_string(), |sign_in| sign_in.scrub.clean(&talk));
        Ok(Output { code, stdout: data, stderr })
    }
}

/// Reads to the end and keeps the first part.
async fn hear(stream: &mut ChildStderr, kept: &mut Vec<u8>) -> io::Result<()> {
    stream.take(LONGEST_TALK as u64).read_to_end(kept).await?;
    tokio::io::copy(stream, &mut tokio::io::sink()).await?;
    Ok(())
}

/// A process and all that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // There is an id until it was waited for; until then nobody else can have it.
        let id = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}
