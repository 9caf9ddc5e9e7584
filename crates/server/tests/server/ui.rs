//! The web UI, as files that the program serves. What they do is shown by the tests of `ui/`.

use reqwest::Method;

use crate::house::{House, answer};

/// The page, if the program was built with it. `make` always does.
async fn page(house: &House) -> Option<String> {
    let told = house.get("/").await;
    if told.status == 404 {
        assert!(told.problem(404).contains("build it with `make`"));
        return None;
    }
    Some(told.ok(200).text)
}

#[tokio::test]
async fn people_find_the_page_where_they_are_sent() {
    let house = House::open().await;
    let Some(page) = page(&house).await else { return };
    assert!(page.contains("<title>Weir</title>"), "{page}");
    let places = ["/define", "/fleet", "/versions", "/promotions", "/proposals", "/freezes"];
    let deeper = ["/pipelines/a/b", "/pipelines/a/b/history/prod", "/promotions/a/b", "/proposals/a/b", "/drafts/a/b"];
    for place in places.into_iter().chain(deeper) {
        let told = house.get(place).await.ok(200);
        assert_eq!(told.text, page, "{place}");
        assert!(told.header("content-security-policy").contains("script-src 'self';"), "{place}");
        assert_eq!(told.header("cache-control"), "no-store", "{place}");
    }
    house.get("/nothing").await.problem(404);
    let browsed = house.request(Method::GET, "/nothing/here").header("accept", "text/html,*/*");
    let told = answer(browsed.send().await.unwrap()).await;
    assert_eq!((told.status.as_u16(), told.text == page), (404, true), "a browser gets the page, which says so");
    let asked = house.request(Method::GET, "/api/v1/nothing").header("accept", "text/html");
    answer(asked.send().await.unwrap()).await.problem(404);
}

#[tokio::test]
async fn its_files_are_kept_for_ever_and_come_compressed_to_who_takes_that() {
    let house = House::open().await;
    let Some(page) = page(&house).await else { return };
    let script = page.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(script.starts_with("/assets/"), "{script}");
    let plain = house.get(script).await.ok(200);
    assert!(plain.header("content-type").starts_with("text/javascript"));
    assert!(plain.header("cache-control").contains("immutable"));
    assert_eq!(plain.header("content-encoding"), "");
    for (accepted, encoding) in [("br, gzip", "gzip"), ("gzip;q=0.5", "gzip"), ("gzip;q=0", ""), ("br", "")] {
        let request = house.request(Method::GET, script).header("accept-encoding", accepted);
        let told = request.send().await.unwrap();
        let found = told.headers().get("content-encoding").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(found.unwrap_or_default(), encoding, "{accepted}");
    }
    house.get("/icon.svg").await.ok(200);
    house.get("/assets/none.js").await.problem(404);
    let told = answer(house.request(Method::GET, "/assets/..%2findex.html").send().await.unwrap()).await;
    told.problem(404);
}
