//! The examples in the documentation are what they say.

use serde_json::Value;

use crate::house::House;

/// The objects of a file, by kind.
fn objects(yaml: &str) -> Vec<(String, Value)> {
    let (manifests, errors) = weir_api::read("alert.yaml", yaml);
    assert!(errors.is_empty(), "{errors:?}");
    let each = manifests.into_iter().map(|manifest| match manifest.object {
        weir_api::Object::Other { kind, content, .. } => (kind, content.0),
        other => panic!("{other:?}"),
    });
    each.collect()
}

#[tokio::test]
async fn the_alert_posts_to_an_address_that_is_served() {
    let objects = objects(include_str!("../../../../docs/examples/alert.yaml"));
    let find = |kind: &str| &objects.iter().find(|(it, _)| it == kind).unwrap().1;
    let provider = find("Provider");
    assert_eq!(provider["spec"]["type"], "generic-hmac");
    assert_eq!(provider["spec"]["secretRef"]["name"], find("Secret")["metadata"]["name"]);
    assert_eq!(find("Alert")["spec"]["providerRef"]["name"], provider["metadata"]["name"]);
    let address = provider["spec"]["address"].as_str().unwrap();
    let path = address.strip_prefix("https://weir.example.org").unwrap();
    let house = House::open().await;
    let told = house.event(path, &crate::house::upgraded("6.2.0", 1)).send().await.unwrap();
    assert_eq!(told.status(), 202);
    let source = &find("Alert")["spec"]["eventSources"][0];
    assert_eq!((&source["kind"], &source["name"]), (&"HelmRelease".into(), &"podinfo".into()));
}
