//! More than the server bears, and clients that are too slow.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use weir_ports::CatalogNotice;

use crate::house::{House, soon, upgraded};

const DEV: &str = "/promotion/default/podinfo/dev";

impl House {
    async fn raw(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that is cut may end with an error.
    let _ = soon(stream.read_to_end(&mut text)).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// A request whose body does not come.
fn stuck(path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{{")
}

#[tokio::test]
async fn events_that_are_too_many_are_turned_away_at_once_and_the_rest_is_served() {
    let house = House::with(|settings| settings.limits.events = 1).await;
    let waiting = house.raw(&stuck(DEV)).await;
    soon(async {
        loop {
            let told = house.report("dev", &upgraded("6.2.0", 1)).await;
            if told.status == 503 {
                told.problem(503);
                assert_eq!(told.header("retry-after"), "2");
                return;
            }
        }
    })
    .await;
    house.get("/api/v1/status").await.ok(200);
    house.get("/readyz").await.ok(200);
    drop(waiting);
    soon(async { while house.report("dev", &upgraded("6.3.0", 2)).await.status != 202 {} }).await;
}

#[tokio::test]
async fn requests_that_are_too_many_do_not_keep_events_and_probes_away() {
    let house = House::with(|settings| settings.limits.requests = 1).await;
    let port = house.address.port();
    let body = stuck("/api/v1/freezes").replace("localhost", &format!("localhost:{port}"));
    let _waiting = house.raw(&body).await;
    soon(async { while house.get("/api/v1/status").await.status != 503 {} }).await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    house.get("/healthz").await.ok(200);
    house.get("/metrics").await.ok(200);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_cut() {
    let house = House::with(|settings| settings.limits.body_timeout = Duration::from_millis(50)).await;
    let stream = house.raw(&stuck(DEV)).await;
    let text = rest(stream).await;
    assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("connection: close"), "{text}");
    assert!(text.contains("urn:weir:problem:too-slow"), "{text}");
}

#[tokio::test]
async fn a_head_that_does_not_come_is_cut() {
    let house = House::with(|settings| settings.limits.head_timeout = Duration::from_millis(50)).await;
    let begun = house.raw("POST /promotion/default/podinfo/dev HTTP/1.1\r\nhost: x\r\nx-slow: ").await;
    let text = rest(begun).await;
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 408 "), "{text}");
    // Who says nothing at all is cut too.
    assert_eq!(rest(house.raw("").await).await, "");
}

#[tokio::test]
async fn a_body_longer_than_it_says_or_in_pieces_is_not_read_beyond_the_limit() {
    let house = House::with(|settings| settings.limits.body = 10).await;
    let head = format!("POST {DEV} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    let text = rest(house.raw(&format!("{head}8\r\n12345678\r\n8\r\n12345678\r\n")).await).await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut() {
    let house = House::with(|settings| {
        settings.limits.streams = 1;
        settings.limits.write_timeout = Duration::from_millis(100);
    })
    .await;
    let port = house.address.port();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut deaf = socket.connect(house.address).await.unwrap();
    let request = format!("GET /api/v1/events HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n");
    deaf.write_all(request.as_bytes()).await.unwrap();
    // Its place is taken until so much waits for it that no more can be sent.
    soon(async { while house.get("/api/v1/events?since=x").await.status != 503 {} }).await;
    soon(async {
        loop {
            for _ in 0..4000 {
                house.world.define(CatalogNotice::Problems(Vec::new()));
            }
            let request = house.request(reqwest::Method::GET, "/api/v1/events");
            if request.send().await.unwrap().status() == 200 {
                return;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(deaf);
}

#[tokio::test]
async fn no_more_connections_are_open_than_may_be() {
    let house = House::with(|settings| settings.limits.connections = 1).await;
    let first = house.raw("").await;
    let second = house.raw("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    drop(first);
    assert!(rest(second).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up() {
    let house = House::with(|settings| settings.limits.request_timeout = Duration::from_millis(20)).await;
    let request = house.event(DEV, &upgraded("6.2.0", 1)).header("prefer", "wait=60");
    let told = crate::house::answer(soon(request.send()).await.unwrap()).await;
    told.problem(503);
    // What was stored is stored all the same.
    assert_eq!(house.get("/api/v1/versions").await.json["items"].as_array().unwrap().len(), 1);
}
