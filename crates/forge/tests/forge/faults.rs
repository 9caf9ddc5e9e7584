//! How a forge in trouble is met. A real one cannot be had to fail when it should.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use weir_forge::{Forges, Pace};
use weir_ports::{Forge as _, ForgeError, PullRequest};

use crate::place::{access, between, branch};

const SECRET: &str = "geheim-token";
const NONE: &str = "200 OK\r\nx-total-count: 0\r\n\r\n[]";

/// A server that answers what it is told to, and keeps what it was asked. The last answer is repeated.
struct Trouble {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Trouble {
    async fn new(answers: &[&str]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers) = (Arc::clone(&asked), answers.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream, &kept, &answers).await;
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    async fn changed(&self, forges: &Forges) -> Result<Vec<weir_core::BranchName>, ForgeError> {
        let access = access(&format!("http://{}/sub/acme/config.git", self.address), &[("token", SECRET)]);
        let done = forges.changed(&access, jiff::Timestamp::UNIX_EPOCH).await;
        assert!(!format!("{done:?}").contains(SECRET), "{done:?}");
        done.inspect_err(|error| assert!(!error.to_string().contains(SECRET), "{error}"))
    }
}

async fn serve(mut stream: TcpStream, asked: &Mutex<Vec<String>>, answers: &[String]) {
    let mut request = vec![0; 8192];
    let length = stream.read(&mut request).await.unwrap_or_default();
    let place = {
        let mut asked = asked.lock().unwrap();
        asked.push(String::from_utf8_lossy(&request[..length]).into_owned());
        asked.len() - 1
    };
    let answer = answers.get(place).or(answers.last()).unwrap();
    // An empty answer is a connection that breaks.
    if let Some((head, body)) = answer.split_once("\r\n\r\n") {
        let length = body.len();
        let text = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        drop(stream.write_all(text.as_bytes()).await);
    }
}

fn quick() -> Forges {
    Forges::new(Pace {
        timeout: Duration::from_secs(2),
        pause: Duration::from_millis(10),
        wait: Duration::from_secs(2),
        ..Pace::default()
    })
}

#[tokio::test]
async fn what_may_be_repeated_is_repeated() {
    let server = Trouble::new(&["503 Busy\r\n\r\n", "", NONE]).await;
    assert!(server.changed(&quick()).await.unwrap().is_empty());
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    let request = asked[0].to_lowercase();
    assert!(request.starts_with("get /sub/api/v1/repos/acme/config/issues?type=pulls"), "{request}");
    assert!(request.contains(&format!("authorization: token {SECRET}")), "{request}");
    assert!(request.contains(&format!("user-agent: weir/{}", env!("CARGO_PKG_VERSION"))), "{request}");
    assert!(!request.lines().next().unwrap().contains(SECRET), "{request}");
}

#[tokio::test]
async fn it_is_not_repeated_for_ever() {
    let server = Trouble::new(&["502 Bad Gateway\r\n\r\n<html>nginx</html>"]).await;
    let error = server.changed(&quick()).await.unwrap_err();
    assert!(matches!(&error, ForgeError::Unreachable { reason, .. } if reason == "502 Bad Gateway"), "{error:?}");
    assert_eq!(server.asked().len(), 3);
    let server = Trouble::new(&[""]).await;
    assert!(matches!(server.changed(&quick()).await, Err(ForgeError::Unreachable { .. })));
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn what_changes_something_is_sent_once() {
    let pull = r#"{"number":1,"state":"open","title":"t","head":{"label":"h","sha":"1111111111111111111111111111111111111111","repo_id":1},"base":{"label":"main","sha":"2","repo_id":1}}"#;
    let found = format!("200 OK\r\n\r\n{pull}");
    let server = Trouble::new(&[&found, "200 OK\r\n\r\n{}", "503 Busy\r\n\r\n", &found]).await;
    let access = access(&format!("http://{}/acme/config.git", server.address), &[("token", SECRET)]);
    let head = weir_core::CommitId::new("1".repeat(40)).unwrap();
    let error = quick().merge(&access, "1", &head).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{error:?}");
    assert_eq!(server.asked().iter().filter(|asked| asked.starts_with("POST")).count(), 1);
}

#[tokio::test]
async fn a_short_wait_is_kept() {
    let server = Trouble::new(&["503 Busy\r\nretry-after: 1\r\n\r\n", NONE]).await;
    let begun = Instant::now();
    server.changed(&quick()).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn where_fewer_requests_are_wanted_none_is_sent() {
    for limit in ["429 Slow\r\nretry-after: 2\r\n\r\n", "503 Busy\r\nretry-after: 30\r\n\r\n"] {
        let server = Trouble::new(&[limit, NONE]).await;
        let forges = quick();
        let error = server.changed(&forges).await.unwrap_err();
        let ForgeError::RateLimited { until, .. } = error else { panic!("{error:?}") };
        assert!(until > jiff::Timestamp::now());
        assert!(
            matches!(server.changed(&forges).await, Err(ForgeError::RateLimited { until: same, .. }) if same == until)
        );
        assert_eq!(server.asked().len(), 1, "the second was not sent");
        // Other credentials have a budget of their own.
        let other = access(&format!("http://{}/acme/config.git", server.address), &[("token", "another")]);
        assert!(forges.changed(&other, jiff::Timestamp::UNIX_EPOCH).await.is_ok());
    }
}

#[tokio::test]
async fn after_the_time_it_is_spoken_to_again() {
    let server = Trouble::new(&["429 Slow\r\nretry-after: 1\r\n\r\n", NONE]).await;
    let forges = quick();
    assert!(server.changed(&forges).await.is_err());
    weir_testkit::servers::eventually("the time is over", async || server.changed(&forges).await).await;
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let list = r#"[{"number":3,"body":""}]"#;
    let pull = r#"{"number":3,"state":"open","head":{"label":"promote","sha":"1","repo_id":1},"base":{"label":"main","sha":"2","repo_id":1}}"#;
    let first = format!("200 OK\r\netag: \"abc\"\r\nx-total-count: 1\r\n\r\n{list}");
    let second = format!("200 OK\r\n\r\n{pull}");
    let server = Trouble::new(&[&first, &second, "304 Not Modified\r\n\r\n"]).await;
    let forges = quick();
    for _ in 0..2 {
        assert_eq!(server.changed(&forges).await.unwrap(), [branch("promote")]);
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[2].to_lowercase().contains("if-none-match: \"abc\""), "{}", asked[2]);
}

#[tokio::test]
async fn credentials_are_taken_out_of_what_the_forge_says() {
    let server = Trouble::new(&[&format!("403 No\r\n\r\n{{\"message\":\"{SECRET} may not\"}}")]).await;
    let error = server.changed(&quick()).await.unwrap_err();
    assert!(matches!(&error, ForgeError::Unauthorized { reason, .. } if reason == "*** may not"), "{error:?}");
}

#[tokio::test]
async fn nothing_is_sent_on_to_another_server() {
    let other = Trouble::new(&[NONE]).await;
    let server = Trouble::new(&[&format!("307 Elsewhere\r\nlocation: http://{}/x\r\n\r\n", other.address)]).await;
    let error = server.changed(&quick()).await.unwrap_err();
    assert!(matches!(error, ForgeError::Refused { .. }), "{error:?}");
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_told_so() {
    let server = Trouble::new(&["200 OK\r\n\r\n<html>sign in</html>"]).await;
    let error = server.changed(&quick()).await.unwrap_err();
    assert!(matches!(&error, ForgeError::Unreachable { reason, .. } if reason.contains("cannot be read")), "{error:?}");
}

#[tokio::test]
async fn a_forge_that_is_away_is_told_so() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://me:{SECRET}@{address}/acme/config.git");
    let found: Result<Option<PullRequest>, _> = quick().find(&access(&url, &[]), &between("promote")).await;
    let error = found.unwrap_err();
    assert!(!error.to_string().contains(SECRET) && error.to_string().contains(&address.to_string()), "{error}");
    assert!(matches!(error, ForgeError::Unreachable { .. }));
}
