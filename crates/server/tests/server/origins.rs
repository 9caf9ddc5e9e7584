//! Pages of other origins are kept away from a listener that lets everybody on the machine in.

use reqwest::Method;
use serde_json::json;

use crate::house::{Answer, House, answer, soon};

impl House {
    async fn attempt(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        let request = self.request(method, path).json(&json!({}));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        answer(request.send().await.unwrap()).await
    }
}

#[tokio::test]
async fn a_name_that_was_made_to_lead_here_is_not_served() {
    let house = House::open().await;
    let port = house.address.port();
    for host in
        ["evil.example", &format!("evil.example:{port}"), "localhost:1", &format!("localhost.evil.example:{port}")]
    {
        for path in ["/api/v1/pipelines", "/api/v1/events", "/api/v1/nothing"] {
            house.attempt(Method::GET, path, &[("host", host)]).await.problem(403);
        }
    }
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        house.attempt(Method::GET, "/api/v1/pipelines", &[("host", &format!("{host}:{port}"))]).await.ok(200);
    }
}

#[tokio::test]
async fn what_can_be_reached_from_elsewhere_is_never_open() {
    let house = House::elsewhere().await;
    let refused = soon(house.running).await.unwrap().unwrap_err();
    assert!(refused.to_string().contains("everybody has to bring a token"), "{refused}");
}

#[tokio::test]
async fn a_page_of_another_origin_can_neither_read_nor_act() {
    let house = House::open().await;
    let port = house.address.port();
    let foreign = [
        ("origin", "http://evil.example".to_owned()),
        ("origin", format!("https://127.0.0.1:{port}")),
        ("origin", format!("http://localhost:{port}")),
        ("origin", "null".to_owned()),
        ("sec-fetch-site", "cross-site".to_owned()),
        ("sec-fetch-site", "same-site".to_owned()),
    ];
    for (name, value) in &foreign {
        house.attempt(Method::GET, "/api/v1/pipelines", &[(name, value)]).await.problem(403);
        let path = "/api/v1/pipelines/default/podinfo/suspend";
        house.attempt(Method::POST, path, &[(name, value)]).await.problem(403);
    }
    assert!(house.journal.told().is_empty());
    let own = format!("http://127.0.0.1:{port}");
    let own = [("origin", own.as_str()), ("sec-fetch-site", "same-origin")];
    house.attempt(Method::POST, "/api/v1/pipelines/default/podinfo/suspend", &own).await.ok(204);
}
