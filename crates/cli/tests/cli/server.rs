//! A real server in a process of its own, with a real repository, and what is done with it.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use assert_cmd::cargo::cargo_bin;
use aws_lc_rs::hmac;
use serde_json::{Value, json};
use tempfile::TempDir;

const KEY: &str = "a key that nobody guesses";

/// The pipeline, up to its environments.
const HEAD: &str = "apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: app, namespace: default}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: app}
  promotion:
    strategy:
      pull-request: {type: git, url: 'URL', baseBranch: main}
      secretRef: {name: events}
  environments:
";

/// Everything that outlives a server: its folders and the repository.
pub(crate) struct Site {
    folder: TempDir,
}

/// A server that runs.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: String,
    log: Arc<Mutex<String>>,
}

/// What an HTTP request was answered with.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Site {
    /// A pipeline through these environments, as YAML in which `URL` is the repository, and a repository with a value for
    /// each of the names.
    pub(crate) fn new(environments: &str, names: &[&str]) -> Self {
        let values: Vec<_> = names.iter().map(|name| ((*name).to_owned(), format!("default:app:{name}"))).collect();
        Self::declaring(environments, &values)
    }

    /// The same, with a repository of these files, each with the marker of its value.
    pub(crate) fn declaring(environments: &str, values: &[(String, String)]) -> Self {
        let site = Self { folder: TempDir::new().unwrap() };
        fs::create_dir(site.path("manifests")).unwrap();
        let url = format!("file://{}", site.path("config.git").display());
        let pipeline = format!("{HEAD}{environments}").replace("URL", &url);
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: events, namespace: default}}\nstringData: {{hmac-key: {KEY}}}\n"
        );
        fs::write(site.path("manifests/app.yaml"), pipeline).unwrap();
        fs::write(site.path("manifests/secret.yaml"), secret).unwrap();
        let mut import = "commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n".to_owned();
        for (name, marker) in values {
            let text = format!("version: 1.0.0 # {{\"$promotion\": \"{marker}\"}}\n");
            import.extend([format!("M 100644 inline {name}.yaml\ndata {}\n", text.len()), text, "\n".to_owned()]);
        }
        git(&site.path(""), &["init", "--quiet", "--bare", "--initial-branch=main", "config.git"], "");
        git(&site.path("config.git"), &["fast-import", "--quiet"], &import);
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs Git on the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path("config.git"), arguments, "")
    }

    /// What the base branch says about an environment.
    pub(crate) fn declared(&self, name: &str) -> String {
        let text = self.git(&["show", &format!("main:{name}.yaml")]);
        text.split([' ', '\n']).nth(1).unwrap_or_default().to_owned()
    }

    pub(crate) fn start(&self) -> Running {
        self.start_with(&[])
    }

    pub(crate) fn start_with(&self, arguments: &[&str]) -> Running {
        let mut command = Command::new(cargo_bin("weir"));
        command.arg("serve").arg("--manifests").arg(self.path("manifests")).arg("--data").arg(self.path("data"));
        command.args(arguments);
        Self::spawn(command, 0)
    }

    /// The same on the cluster of a kubeconfig.
    pub(crate) fn start_on(&self, kubeconfig: &Path) -> Running {
        self.start_at(kubeconfig, 0, &[])
    }

    /// The same on a port, which tells it from its replicas.
    pub(crate) fn start_at(&self, kubeconfig: &Path, port: u16, arguments: &[&str]) -> Running {
        let mut command = Command::new(cargo_bin("weir"));
        let cache = self.path(&format!("cache-{port}"));
        command.arg("serve").arg("--data").arg(cache).args(arguments).env("KUBECONFIG", kubeconfig);
        Self::spawn(command, port)
    }

    fn spawn(mut command: Command, port: u16) -> Running {
        let mut child = command
            .args(["--listen", &format!("127.0.0.1:{port}"), "--log-format", "json", "--poll", "1s"])
            .env_remove("WEIR_SERVER")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("the server did not start: {}", log.lock().unwrap()) };
            log.lock().unwrap().extend([line.as_str(), "\n"]);
            let said: Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(address) = said.pointer("/fields/address").and_then(Value::as_str) {
                break address.to_owned();
            }
        };
        let told = log.clone();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                told.lock().unwrap().extend([line.as_str(), "\n"]);
            }
        });
        Running { child, address, log }
    }
}

/// A test that fails leaves nothing running.
impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

impl Running {
    /// Kills it as the machine would by losing its power.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        until("it stops", || self.child.try_wait().unwrap().is_some());
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.try_request(method, path, headers, body).unwrap()
    }

    pub(crate) fn try_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect(&self.address)?;
        let headers: String = headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let code = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let headers =
            lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Ok(Answer { code: code.unwrap_or_default(), headers: headers.collect(), body: body.to_owned() })
    }

    /// Reports a deployment, signed as Flux signs it.
    pub(crate) fn report(&self, environment: &str, version: &str, headers: &[(&str, &str)]) -> Answer {
        self.report_of("app", environment, version, headers)
    }

    /// The same, of another pipeline.
    pub(crate) fn report_of(
        &self,
        pipeline: &str,
        environment: &str,
        version: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let body = event(version, "UpgradeSucceeded");
        let signature = sign(&body);
        let mut all = vec![("X-Signature", signature.as_str())];
        all.extend(headers);
        self.request("POST", &format!("/promotion/default/{pipeline}/{environment}"), &all, &body)
    }

    /// Reads something that is JSON.
    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.request("GET", path, &[], "");
        assert_eq!(answer.code, 200, "{path}: {}", answer.body);
        answer.json()
    }

    /// Runs a command against it.
    pub(crate) fn weir(&self, arguments: &[&str]) -> String {
        let output = self.try_weir(arguments);
        assert!(output.status.success(), "{arguments:?}: {}\n{}", String::from_utf8_lossy(&output.stderr), self.log());
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn try_weir(&self, arguments: &[&str]) -> std::process::Output {
        let server = format!("http://{}", self.address);
        Command::new(cargo_bin("weir")).args(arguments).env("WEIR_SERVER", server).output().unwrap()
    }

    /// The phase of the newest promotion into an environment.
    pub(crate) fn phase(&self, environment: &str) -> String {
        let found = self.get(&format!("/api/v1/pipelines/default/app/environments/{environment}"));
        found.pointer("/promotion/phase").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub(crate) fn ready(&self) {
        until("it is ready", || self.try_request("GET", "/readyz", &[], "").is_ok_and(|answer| answer.code == 200));
    }
}

pub(crate) fn event(version: &str, reason: &str) -> String {
    let object = json!({
        "kind": "HelmRelease", "namespace": "app", "name": "app", "apiVersion": "helm.toolkit.fluxcd.io/v2",
    });
    let metadata = json!({ "helm.toolkit.fluxcd.io/revision": version });
    let at = jiff::Timestamp::now().to_string();
    json!({
        "involvedObject": object, "severity": "info", "timestamp": at, "message": "said Helm", "reason": reason,
        "metadata": metadata, "reportingController": "helm-controller",
    })
    .to_string()
}

pub(crate) fn sign(body: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, KEY.as_bytes()), body.as_bytes());
    let digits: Vec<_> = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={}", digits.concat())
}

/// Waits for a condition, but not forever.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn git(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}
