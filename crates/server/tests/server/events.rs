//! What changes, as it changes.

use serde_json::{Value, json};
use weir_core::Phase;
use weir_ports::CatalogNotice;

use crate::{
    house::{House, soon, upgraded},
    records::{PODINFO, SHOP, promotion},
};

/// One event of a stream.
#[derive(Debug, Clone)]
struct Told {
    name: String,
    id: String,
    data: Value,
}

struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    async fn open(house: &House, last: Option<&str>) -> Self {
        let request = house.request(reqwest::Method::GET, "/api/v1/events");
        let request = last.into_iter().fold(request, |request, id| request.header("last-event-id", id));
        let response = soon(request.send()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next event. `None`: the stream is over.
    async fn next(&mut self) -> Option<Told> {
        soon(async {
            loop {
                if let Some((event, rest)) = self.text.split_once("\n\n") {
                    let (event, rest) = (event.to_owned(), rest.to_owned());
                    self.text = rest;
                    let field = |name: &str| {
                        let line = event.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
                        line.unwrap_or_default().to_owned()
                    };
                    if !field("event").is_empty() {
                        let data = serde_json::from_str(&field("data")).unwrap();
                        return Some(Told { name: field("event"), id: field("id"), data });
                    }
                    continue;
                }
                let chunk = self.response.chunk().await.ok().flatten()?;
                self.text.push_str(str::from_utf8(&chunk).unwrap());
            }
        })
        .await
    }
}

#[tokio::test]
async fn a_change_says_what_to_look_at_again() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, None).await;
    assert_eq!(stream.next().await.unwrap().name, "ready");
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let told = stream.next().await.unwrap();
    assert_eq!(told.name, "change");
    let pipeline = json!({"namespace": "default", "name": "podinfo"});
    assert_eq!(told.data, json!({"kind": "observation", "pipeline": pipeline, "environment": "dev"}));
    house.promotion(&promotion(PODINFO, "qa", 1, "6.2.0", Phase::Pending)).await;
    let told = stream.next().await.unwrap();
    let wanted = json!({"kind": "promotion", "pipeline": pipeline, "environment": "qa", "name": "podinfo-qa-1"});
    assert_eq!(told.data, wanted);
}

#[tokio::test]
async fn whoever_was_away_resumes_where_they_were() {
    let house = House::open().await;
    let mut stream = Stream::open(&house, None).await;
    stream.next().await.unwrap();
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let seen = stream.next().await.unwrap();
    drop(stream);
    house.report("prod", &upgraded("6.2.0", 1)).await.ok(202);
    let mut stream = Stream::open(&house, Some(&seen.id)).await;
    assert_eq!(stream.next().await.unwrap().name, "ready");
    assert_eq!(stream.next().await.unwrap().data["environment"], "prod");
    let again = house.request(reqwest::Method::GET, &format!("/api/v1/events?since={}", seen.id)).send().await.unwrap();
    let mut stream = Stream { response: again, text: String::new() };
    stream.next().await.unwrap();
    assert_eq!(stream.next().await.unwrap().data["environment"], "prod");
}

#[tokio::test]
async fn an_id_that_is_not_known_means_to_look_at_everything_anew() {
    let house = House::open().await;
    for id in ["nonsense", "8-1", "7-ffffff"] {
        let mut stream = Stream::open(&house, Some(id)).await;
        let reset = stream.next().await.unwrap();
        assert_eq!(reset.name, "reset", "{id}");
        house.world.define(CatalogNotice::Problems(Vec::new()));
        let next = stream.next().await.unwrap();
        assert_eq!(next.data["kind"], "problems");
        assert_ne!(next.id, reset.id);
    }
}

#[tokio::test]
async fn nobody_hears_of_namespaces_that_they_may_not_view() {
    let mut house = House::tokens().await;
    house.act_as("team-a-view");
    let mut stream = Stream::open(&house, None).await;
    stream.next().await.unwrap();
    house.promotion(&promotion(PODINFO, "qa", 1, "6.2.0", Phase::Pending)).await;
    house.world.define(CatalogNotice::Problems(vec![weir_ports::Flaw::remark(Vec::new(), "x")]));
    house.act_as("admin");
    house.post("/api/v1/freezes", json!({"name": "hidden", "reason": "x"})).await.ok(201);
    house.promotion(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Pending)).await;
    assert_eq!(stream.next().await.unwrap().data, json!({"kind": "freeze"}));
    assert_eq!(stream.next().await.unwrap().data["pipeline"]["name"], "shop");
}

#[tokio::test]
async fn no_more_follow_than_may_and_the_place_is_free_again_afterwards() {
    let house = House::with(|settings| settings.limits.streams = 1).await;
    let mut stream = Stream::open(&house, None).await;
    stream.next().await.unwrap();
    let told = house.get("/api/v1/events").await;
    told.problem(503);
    assert_eq!(told.header("retry-after"), "2");
    drop(stream);
    soon(async {
        loop {
            // A change makes the server notice that nobody reads any more.
            house.world.define(CatalogNotice::Problems(Vec::new()));
            let request = house.request(reqwest::Method::GET, "/api/v1/events").send();
            if request.await.unwrap().status() == 200 {
                return;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_stream_ends_after_a_while_and_when_the_server_stops() {
    let brief = House::with(|settings| settings.limits.stream_timeout = std::time::Duration::from_millis(1)).await;
    let mut stream = Stream::open(&brief, None).await;
    assert_eq!(stream.next().await.unwrap().name, "ready");
    assert!(stream.next().await.is_none());

    let house = House::open().await;
    let mut stream = Stream::open(&house, None).await;
    stream.next().await.unwrap();
    house.stop().await;
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_stream_without_news_gives_signs_of_life() {
    let house = House::with(|settings| settings.limits.keep_alive = std::time::Duration::from_millis(5)).await;
    let mut stream = Stream::open(&house, None).await;
    stream.next().await.unwrap();
    soon(async {
        while !stream.text.contains(":\n") {
            let chunk = stream.response.chunk().await.unwrap().unwrap();
            stream.text.push_str(str::from_utf8(&chunk).unwrap());
        }
    })
    .await;
}
