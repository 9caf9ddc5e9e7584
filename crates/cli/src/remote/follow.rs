//! The event stream of a server, followed for as long as anybody wants.

use std::time::Duration;

use anyhow::{Context as _, Result};
use reqwest::Response;
use serde_json::Value;

use super::Client;

/// What the stream tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// Something changed.
    Change(Value),
    /// Some changes were missed: look at everything anew.
    Reset,
}

/// A stream that is resumed when it breaks.
pub(crate) struct Follow<'c> {
    client: &'c Client,
    response: Option<Response>,
    last: Option<String>,
    parser: Parser,
    broken: bool,
}

impl<'c> Follow<'c> {
    /// Begins to listen. What changes from now on is told.
    pub(crate) async fn begin(client: &'c Client) -> Result<Self> {
        let response = client.stream("/api/v1/events", None).await?;
        let parser = Parser::default();
        Ok(Self { client, response: Some(response), last: None, parser, broken: false })
    }

    /// The next news. A server that went away is waited for.
    pub(crate) async fn next(&mut self) -> Result<Told> {
        loop {
            if let Some(event) = self.parser.next() {
                self.last = event.id.or(self.last.take());
                match event.name.as_str() {
                    "reset" => return Ok(Told::Reset),
                    _ => return Ok(Told::Change(serde_json::from_str(&event.data).context("the stream is garbled")?)),
                }
            }
            let Some(response) = &mut self.response else {
                self.resume().await;
                continue;
            };
            match response.chunk().await {
                Ok(Some(bytes)) => self.parser.take(&bytes),
                // The server ends a stream now and then, and when it stops.
                Ok(None) | Err(_) => self.response = None,
            }
        }
    }

    async fn resume(&mut self) {
        if self.broken {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.parser = Parser::default();
        self.response = self.client.stream("/api/v1/events", self.last.as_deref()).await.ok();
        self.broken = self.response.is_none();
    }
}

/// Server-sent events, as they arrive in pieces.
#[derive(Default)]
struct Parser {
    bytes: Vec<u8>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    id: Option<String>,
    name: String,
    data: String,
}

impl Parser {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole event. Comments, which keep the stream alive, are none.
    fn next(&mut self) -> Option<Event> {
        loop {
            let end = self.bytes.windows(2).position(|pair| pair == b"\n\n")?;
            let block: Vec<u8> = self.bytes.drain(..end + 2).collect();
            let mut event = Event::default();
            for line in String::from_utf8_lossy(&block).lines() {
                let (field, value) = line.split_once(':').unwrap_or((line, ""));
                let value = value.strip_prefix(' ').unwrap_or(value);
                match field {
                    "id" => event.id = Some(value.to_owned()),
                    "event" => value.clone_into(&mut event.name),
                    "data" => event.data.push_str(value),
                    _ => {}
                }
            }
            if !event.name.is_empty() || !event.data.is_empty() {
                return Some(event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = b": hello\n\nid: 1-2\nevent: change\ndata: {\"a\":1}\n\nevent: reset\ndata: {}\n\n";
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let mut events = Vec::new();
            for piece in text.chunks(size) {
                parser.take(piece);
                events.extend(std::iter::from_fn(|| parser.next()));
            }
            let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
            assert_eq!(names, ["change", "reset"]);
            assert_eq!((events[0].id.as_deref(), events[0].data.as_str()), (Some("1-2"), "{\"a\":1}"));
        }
    }
}
