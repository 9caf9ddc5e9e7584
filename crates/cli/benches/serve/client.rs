//! Whoever reports deployments, over a connection that stays open.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use aws_lc_rs::hmac;
use jiff::Timestamp;
use serde_json::json;

pub(crate) const KEY: &str = "a key that nobody guesses";

/// A connection that stays open.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Client {
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), host: address.to_owned() }
    }

    /// Reports a deployment, signed as Flux signs it.
    pub(crate) fn report(&mut self, number: usize, body: &(String, String), headers: &str) -> (u16, String) {
        let (body, signature) = body;
        let path = format!("/promotion/default/app-{number}/dev");
        self.request("POST", &path, &format!("X-Signature: {signature}\r\n{headers}"), body)
    }

    pub(crate) fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut code, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server hung up");
            let text = line.trim_end();
            if text.is_empty() {
                break;
            } else if code == 0 {
                code = text.split(' ').nth(1).unwrap().parse().unwrap();
            } else if let Some((name, value)) = text.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (code, String::from_utf8(body).unwrap())
    }
}

/// The event that a version was deployed, and its signature.
pub(crate) fn event(number: usize, version: u32) -> (String, String) {
    let app = format!("app-{number}");
    let object = json!({
        "kind": "HelmRelease", "namespace": "dev", "name": app, "apiVersion": "helm.toolkit.fluxcd.io/v2",
    });
    let body = json!({
        "involvedObject": object, "severity": "info", "timestamp": Timestamp::now().to_string(),
        "message": "said Helm", "reason": "UpgradeSucceeded", "reportingController": "helm-controller",
        "metadata": { "helm.toolkit.fluxcd.io/revision": format!("2.0.{version}") },
    })
    .to_string();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, KEY.as_bytes()), body.as_bytes());
    let mut signature = "sha256=".to_owned();
    for byte in tag.as_ref() {
        write!(signature, "{byte:02x}").unwrap();
    }
    (body, signature)
}
