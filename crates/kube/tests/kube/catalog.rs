//! Pipelines from both groups, and the Secrets that they name.

use weir_kube::hub::HubCatalog;
use weir_ports::{Catalog, CatalogError, CatalogNotice, Definition};

use crate::ground::{Ground, ground, next, parsed};

fn catalog(ground: &Ground) -> HubCatalog {
    HubCatalog::new(ground.client.clone())
}

/// What comes next about a pipeline: how it is defined, if it is. `Err`: everything that is wrong here.
async fn told(
    stream: &mut (impl futures_core::Stream<Item = CatalogNotice> + Unpin),
    ground: &Ground,
) -> Result<Option<Definition>, Vec<String>> {
    loop {
        match next(stream).await {
            CatalogNotice::Defined(it) if it.pipeline.key.namespace.as_str() == ground.namespace => {
                return Ok(Some((*it).clone()));
            }
            CatalogNotice::Gone(key) if key.namespace.as_str() == ground.namespace => return Ok(None),
            CatalogNotice::Problems(problems) => {
                return Err(problems
                    .iter()
                    .map(ToString::to_string)
                    .filter(|it| it.contains(&ground.namespace))
                    .collect());
            }
            _ => {}
        }
    }
}

async fn problems(
    stream: &mut (impl futures_core::Stream<Item = CatalogNotice> + Unpin),
    ground: &Ground,
) -> Vec<String> {
    loop {
        if let Err(problems) = told(stream, ground).await
            && !problems.is_empty()
        {
            return problems;
        }
    }
}

async fn defined(
    stream: &mut (impl futures_core::Stream<Item = CatalogNotice> + Unpin),
    ground: &Ground,
) -> Option<Definition> {
    loop {
        if let Ok(definition) = told(stream, ground).await {
            return definition;
        }
    }
}

#[tokio::test]
async fn what_is_defined_is_told_then_that_this_was_all_then_what_changes() {
    let ground = ground("defined").await;
    let key = parsed(&ground.pipeline("podinfo").await);
    let mut stream = catalog(&ground).watch();
    let mut found = Vec::new();
    loop {
        match next(&mut stream).await {
            CatalogNotice::Defined(definition) => found.push(definition.pipeline.key.clone()),
            CatalogNotice::Listed => break,
            _ => {}
        }
    }
    assert!(found.contains(&key));
    let patch = r#"{"spec":{"suspend":true}}"#;
    let arguments = ["patch", "pipeline", "podinfo", "-n", &ground.namespace, "--type=merge", "-p", patch];
    ground.hub.kubectl(&arguments).await;
    assert!(defined(&mut stream, &ground).await.unwrap().pipeline.suspended);
    ground.hub.kubectl(&["delete", "pipeline", "podinfo", "-n", &ground.namespace]).await;
    assert_eq!(defined(&mut stream, &ground).await, None);
}

#[tokio::test]
async fn of_two_groups_the_newer_one_wins_and_the_other_says_so() {
    let ground = ground("rivals").await;
    ground.define("pipelines.wego.weave.works", "podinfo").await;
    let mut stream = catalog(&ground).watch();
    assert!(defined(&mut stream, &ground).await.is_some());
    let namespace = &ground.namespace;
    ground
        .hub
        .apply(&format!(
            "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: podinfo, namespace: \
             {namespace}}}, spec: {{suspend: true, environments: [{{name: dev, targets: [{{namespace: dev}}]}}]}}}}"
        ))
        .await;
    assert!(defined(&mut stream, &ground).await.unwrap().pipeline.suspended);
    let words = format!(
        "pipeline `{namespace}/podinfo` of `pipelines.wego.weave.works` has no effect: there is one of the same name in \
         `pipelines.weave.works`; delete one of the two"
    );
    assert_eq!(problems(&mut stream, &ground).await, [words]);
    ground.hub.kubectl(&["delete", "pipelines.pipelines.weave.works", "podinfo", "-n", namespace]).await;
    assert!(!defined(&mut stream, &ground).await.unwrap().pipeline.suspended, "the older one is in force again");
}

#[tokio::test]
async fn what_cannot_be_understood_is_told_and_the_last_that_was_right_stays_in_force() {
    let ground = ground("wrong").await;
    ground.pipeline("podinfo").await;
    let mut stream = catalog(&ground).watch();
    let before = defined(&mut stream, &ground).await.unwrap();
    let gate = |schedule: &str| {
        format!(
            r#"{{"spec":{{"environments":[{{"name":"dev","targets":[{{"namespace":"dev"}}]}},{{"name":"prod",
            "targets":[{{"namespace":"prod"}}],"gates":[{{"window":{{"allow":[{{"schedule":"{schedule}",
            "duration":"1h"}}]}}}}]}}]}}}}"#
        )
    };
    let namespace = &ground.namespace;
    let patch = async |schedule: &str| {
        let patch = gate(schedule);
        let arguments = ["patch", "pipeline", "podinfo", "-n", namespace, "--type=merge", "-p", &patch];
        ground.hub.kubectl(&arguments).await;
    };
    patch("61 * * * *").await;
    let found = problems(&mut stream, &ground).await;
    let start = format!("pipeline `{namespace}/podinfo` of `pipelines.weave.works`: spec.environments[1].gates[0]");
    assert!(found.len() == 1 && found[0].starts_with(&start), "{found:?}");
    patch("0 9 * * 1-5").await;
    let after = defined(&mut stream, &ground).await.unwrap();
    assert_ne!(before, after, "nothing was told in between");
}

#[tokio::test]
async fn a_pipeline_that_is_being_deleted_is_no_longer_defined() {
    let ground = ground("going").await;
    ground.pipeline("podinfo").await;
    let namespace = &ground.namespace;
    let mut stream = catalog(&ground).watch();
    assert!(defined(&mut stream, &ground).await.is_some());
    let patch = r#"{"metadata":{"finalizers":["example.org/wait"]}}"#;
    ground.hub.kubectl(&["patch", "pipeline", "podinfo", "-n", namespace, "--type=merge", "-p", patch]).await;
    ground.hub.kubectl(&["delete", "pipeline", "podinfo", "-n", namespace, "--wait=false"]).await;
    assert_eq!(defined(&mut stream, &ground).await, None);
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    ground.hub.kubectl(&["patch", "pipeline", "podinfo", "-n", namespace, "--type=merge", "-p", patch]).await;
}

#[tokio::test]
async fn a_secret_is_read_by_its_name_and_with_no_other_right() {
    let ground = ground("secret").await;
    let namespace = &ground.namespace;
    ground.hub.kubectl(&["create", "secret", "generic", "token", "--from-literal=token=geheim", "-n", namespace]).await;
    let token = ground.hub.service_account(namespace, "weir").await;
    let catalog = HubCatalog::new(ground.hub.client_with(&token).await);
    let (home, name) = (namespace.parse().unwrap(), "token".parse().unwrap());
    let refused = catalog.secret(&home, &name).await.unwrap_err().to_string();
    let words = format!(
        "reading Secret `{namespace}/token` failed: Weir may not `get` it; allow that with a Role in `{namespace}` for \
         `secrets` with `resourceNames: [token]`, bound to Weir's account"
    );
    assert_eq!(refused, words);

    let role =
        ["create", "role", "token", "--verb=get", "--resource=secrets", "--resource-name=token", "-n", namespace];
    ground.hub.kubectl(&role).await;
    let to = format!("--serviceaccount={namespace}:weir");
    ground.hub.kubectl(&["create", "rolebinding", "token", "--role=token", &to, "-n", namespace]).await;
    let secret = weir_testkit::servers::eventually("it may be read", async || catalog.secret(&home, &name).await).await;
    assert_eq!(secret.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["token"]);

    let admin = HubCatalog::new(ground.client.clone());
    let none = admin.secret(&home, &"none".parse().unwrap()).await.unwrap_err();
    assert_eq!(none, CatalogError::NoSecret { namespace: home, name: "none".parse().unwrap() });
}

#[tokio::test]
async fn a_definition_is_shown_as_it_was_written() {
    let ground = ground("written").await;
    let pipeline = ground.pipeline("podinfo").await;
    let shown = catalog(&ground).manifest(&pipeline.parse().unwrap()).await.unwrap().unwrap();
    for words in ["kind: Pipeline", "name: podinfo", "environments:"] {
        assert!(shown.contains(words), "{shown}");
    }
    for words in ["managedFields", "resourceVersion", "uid", "status", "finalizers"] {
        assert!(!shown.contains(words), "{shown}");
    }
    let missing = format!("{}/nothing", ground.namespace).parse().unwrap();
    assert_eq!(catalog(&ground).manifest(&missing).await, Ok(None));
}
