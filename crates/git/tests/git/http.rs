//! A Git server over HTTP: `git http-backend` behind just enough of a web server, that can be told to misbehave.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use weir_core::RepoUrl;
use weir_ports::{Credentials, RepoAccess};

/// What the server does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Answers it.
    Proper,
    /// Answers it in the way of Git before 2018: all branches at once, and no commit but their heads.
    Old,
    /// Never answers it.
    Silent,
    /// Sends half of the files, and then nothing more.
    Stalling,
    /// Refuses it with this status.
    Refusing(u16),
    /// Sends the client on to the server at this port.
    Redirecting(u16),
}

pub(crate) struct Http {
    pub(crate) port: u16,
    state: Arc<State>,
}

struct State {
    root: PathBuf,
    /// The header that is wanted, if any.
    wanted: Option<&'static str>,
    manner: Mutex<Manner>,
    /// Whether it has come to a halt in the middle of an answer.
    halted: Mutex<bool>,
    /// Whether anybody has shown credentials.
    shown: Mutex<bool>,
}

/// What a client sends for the user `weir` with the password `geheim-1`.
pub(crate) const PASSWORD: &str = "Basic d2VpcjpnZWhlaW0tMQ==";
/// What a client sends for the token `geheim-2`.
pub(crate) const TOKEN: &str = "Basic Z2l0OmdlaGVpbS0y";

impl Http {
    /// Serves all repositories in a folder.
    pub(crate) fn serve(root: &Path, wanted: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (manner, halted, shown) = (Mutex::new(Manner::Proper), Mutex::new(false), Mutex::new(false));
        let state = Arc::new(State { root: root.to_owned(), wanted, manner, halted, shown });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&shared);
                // A client that was killed breaks the connection; that is no failure of the test.
                thread::spawn(move || state.answer(stream.unwrap()).unwrap_or_default());
            }
        });
        Self { port, state }
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.state.manner.lock().unwrap() = manner;
    }

    pub(crate) fn has_halted(&self) -> bool {
        *self.state.halted.lock().unwrap()
    }

    pub(crate) fn was_shown_credentials(&self) -> bool {
        *self.state.shown.lock().unwrap()
    }

    pub(crate) fn access(&self, keys: &[(&str, &str)]) -> RepoAccess {
        self.access_as("", keys)
    }

    pub(crate) fn access_as(&self, user: &str, keys: &[(&str, &str)]) -> RepoAccess {
        let url = RepoUrl::new(format!("http://{user}127.0.0.1:{}/fleet.git", self.port)).unwrap();
        let keys = keys.iter().map(|(key, value)| (*key, value.as_bytes()));
        RepoAccess { url, credentials: Credentials::from_secret(keys).unwrap() }
    }
}

impl State {
    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream;
        let mut first = String::new();
        reader.read_line(&mut first)?;
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        *self.shown.lock().unwrap() |= headers.contains_key("authorization");
        let manner = *self.manner.lock().unwrap();
        match manner {
            Manner::Silent => return halt(&mut reader),
            Manner::Refusing(status) => {
                return write!(writer, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
            Manner::Redirecting(port) => {
                let target = first.split(' ').nth(1).unwrap_or_default();
                let answer = format!("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{port}{target}\r\n");
                return write!(writer, "{answer}Content-Length: 0\r\nConnection: close\r\n\r\n");
            }
            Manner::Old => {
                headers.remove("git-protocol");
            }
            Manner::Proper | Manner::Stalling => {}
        }
        if self.wanted.is_some_and(|wanted| headers.get("authorization").is_none_or(|given| given != wanted)) {
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n";
            return write!(writer, "{answer}Connection: close\r\n\r\n");
        }
        let (head, data) = self.backend(&first, &headers, &body);
        write!(writer, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n", data.len())?;
        if manner == Manner::Stalling && data.windows(4).any(|word| word == b"PACK") {
            writer.write_all(&data[..data.len() / 2])?;
            *self.halted.lock().unwrap() = true;
            return halt(&mut reader);
        }
        writer.write_all(&data)
    }

    fn backend(&self, first: &str, headers: &HashMap<String, String>, body: &[u8]) -> (String, Vec<u8>) {
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
        let mut child = Command::new("git")
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REQUEST_METHOD", method)
            .env("PATH_INFO", path)
            .env("QUERY_STRING", query)
            .env("REMOTE_USER", "weir")
            .env("CONTENT_TYPE", header("content-type"))
            .env("CONTENT_LENGTH", body.len().to_string())
            .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
            .env("GIT_PROTOCOL", header("git-protocol"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(body).unwrap();
        let output = child.wait_with_output().unwrap().stdout;
        let end = output.windows(4).position(|word| word == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&output[..end + 2]).into_owned();
        let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
        (format!("HTTP/1.1 {status}\r\n{head}"), output[end + 4..].to_vec())
    }
}

/// Holds the connection until the other side gives up.
fn halt(reader: &mut impl Read) -> std::io::Result<()> {
    reader.read_to_end(&mut Vec::new()).map(|_| ())
}
