//! What people see with `kubectl`, and what the API server refuses.

use std::{fs, path::Path};

use serde_json::json;
use weir_core::{ObservationKey, Outcome, Phase, Pipeline, Report, Snapshot, Turn};
use weir_kube::hub::{Published, Publisher, Shown};
use weir_ports::{Record, Store};
use weir_testkit::records::{memory, promotion, second};

use crate::ground::{Ground, ground, parsed};

async fn pipeline(ground: &Ground, name: &str) -> Pipeline {
    let object = ground.pipelines().get(name).await.unwrap();
    serde_json::from_value::<weir_api::Pipeline>(serde_json::to_value(object).unwrap()).unwrap().to_core().unwrap()
}

fn snapshot(pipeline: &str) -> Snapshot {
    let Record::Environment(_, environment, mut record) = memory(pipeline, "prod", 3) else { unreachable!() };
    let (_, target) = record.targets.pop_first().unwrap();
    record.targets.insert("podinfo-prod".parse().unwrap(), target);
    let key = ObservationKey {
        environment: environment.clone(),
        target: Some("podinfo-prod".parse().unwrap()),
        workload: "HelmRelease/podinfo".parse().unwrap(),
    };
    let outcome = Outcome::Succeeded("1.0".parse().unwrap());
    let mut snapshot = Snapshot { environments: [(environment, *record)].into(), ..Snapshot::default() };
    snapshot.observe(key, Report { at: second(4), received: second(5), outcome });
    snapshot
}

/// The same, with a newer release in the environment before.
fn ahead(snapshot: &Snapshot) -> Snapshot {
    let key = ObservationKey {
        environment: "dev".parse().unwrap(),
        target: Some("podinfo-dev".parse().unwrap()),
        workload: "HelmRelease/podinfo".parse().unwrap(),
    };
    let mut ahead = snapshot.clone();
    let outcome = Outcome::Succeeded("2.0".parse().unwrap());
    ahead.observe(key, Report { at: second(6), received: second(7), outcome });
    ahead
}

#[tokio::test]
async fn a_pipeline_that_is_understood_is_ready_and_kubectl_says_what_runs_where() {
    let ground = ground("ready").await;
    let (key, store) = (ground.pipeline("podinfo").await, ground.store());
    store.create(memory(&key, "prod", 3)).await.unwrap();
    let (pipeline, snapshot) = (pipeline(&ground, "podinfo").await, snapshot(&key));
    let shown = Shown { generation: 1, pipeline: &pipeline, snapshot: &snapshot, problems: &[], now: second(100) };
    let publisher = Publisher::new(store.clone());
    assert_eq!(publisher.publish(&shown).await.unwrap(), Published::Written);
    let wait = ["wait", "--for=condition=Ready", "pipeline/podinfo", "-n", &ground.namespace, "--timeout=10s"];
    ground.hub.kubectl(&wait).await;
    let table = ground.hub.kubectl(&["get", "pipelines", "-n", &ground.namespace]).await;
    let lines: Vec<_> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "NAME APP KIND APP NAME AGE READY STATUS");
    assert!(lines[1].ends_with("True dev -, prod 1.0"), "{}", lines[1]);

    let waits = ahead(&snapshot);
    let waits = Shown { snapshot: &waits, ..shown };
    assert_eq!(publisher.publish(&waits).await.unwrap(), Published::Written);
    let page = ground.hub.kubectl(&["describe", "pipeline", "podinfo", "-n", &ground.namespace]).await;
    assert!(page.contains("2.0 is ready, and no strategy says how it gets here"), "{page}");
    assert_eq!(publisher.publish(&waits).await.unwrap(), Published::Unchanged, "what is read back is what was written");
    assert_eq!(publisher.publish(&shown).await.unwrap(), Published::Written);

    let before = ground.version("podinfo").await;
    let later = Shown { now: second(5000), ..shown };
    assert_eq!(publisher.publish(&later).await.unwrap(), Published::Unchanged, "time passing alone writes nothing");
    assert_eq!(ground.version("podinfo").await, before);
    let memory = memory(&key, "prod", 3);
    assert_eq!(ground.store().get(&memory.key()).await.unwrap().unwrap().record, memory, "records are left alone");

    let problems = ["spec.environments[0]: nobody understands it".to_owned()];
    let broken = Shown { problems: &problems, now: second(9000), ..shown };
    assert_eq!(publisher.publish(&broken).await.unwrap(), Published::Written);
    let wait = ["wait", "--for=condition=Stalled", "pipeline/podinfo", "-n", &ground.namespace, "--timeout=10s"];
    ground.hub.kubectl(&wait).await;
    let status = ground.pipelines().get("podinfo").await.unwrap().data["status"].clone();
    assert_eq!(status["conditions"][0]["status"], "False");
    assert_eq!(status["conditions"][0]["lastTransitionTime"], "1970-01-01T02:30:00Z");
    assert_eq!(status["environments"]["prod"]["targets"][0]["revision"], "1.0");
    assert_eq!(status["environments"]["prod"]["record"]["lastOrdinal"], 3);
}

#[tokio::test]
async fn a_pipeline_of_the_older_group_says_that_the_newer_one_counts() {
    let ground = ground("shadow").await;
    ground.define("pipelines.wego.weave.works", "podinfo").await;
    let (key, store) = (ground.key("podinfo"), ground.store());
    store.create(memory(&key, "prod", 3)).await.unwrap();
    let (publisher, name) = (Publisher::new(store), parsed(&key));
    assert_eq!(publisher.shadow(&name, second(100)).await.unwrap(), Published::Gone, "it counts");
    ground.pipeline("podinfo").await;
    let publisher = Publisher::new(ground.store());
    assert_eq!(publisher.shadow(&name, second(100)).await.unwrap(), Published::Written);
    assert_eq!(publisher.shadow(&name, second(200)).await.unwrap(), Published::Unchanged);
    let status = ground.older_pipelines().get("podinfo").await.unwrap().data["status"].clone();
    let ready = &status["conditions"][0];
    assert_eq!(
        (&ready["type"], &ready["status"], &ready["reason"]),
        (&"Ready".into(), &"False".into(), &"Shadowed".into())
    );
    let words =
        format!("pipeline `{key}` of `pipelines.wego.weave.works` has no effect: there is one of the same name");
    assert!(ready["message"].as_str().unwrap().starts_with(&words), "{ready}");
    assert_eq!(status["environments"]["prod"]["record"]["lastOrdinal"], 3, "records are left alone");
}

#[tokio::test]
async fn a_target_whose_cluster_is_not_defined_says_so_in_the_status() {
    let ground = ground("undefined").await;
    let key = ground.pipeline("podinfo").await;
    let target = json!({"namespace": "podinfo", "clusterRef": {"kind": "GitopsCluster", "name": "prod-1"}});
    let patch = json!({"spec": {"environments": [{"name": "prod", "targets": [target]}]}}).to_string();
    let patch = ["patch", "pipeline", "podinfo", "-n", &ground.namespace, "--type=merge", "-p", &patch];
    ground.hub.kubectl(&patch).await;
    let pipeline = pipeline(&ground, "podinfo").await;
    let undefined = pipeline.environments()[0].targets.iter().cloned().collect();
    let snapshot = Snapshot { undefined, ..Snapshot::default() };
    let shown = Shown { generation: 2, pipeline: &pipeline, snapshot: &snapshot, problems: &[], now: second(100) };
    assert_eq!(Publisher::new(ground.store()).publish(&shown).await.unwrap(), Published::Written);
    let status = ground.pipelines().get("podinfo").await.unwrap().data["status"].clone();
    let cluster = format!("{}/prod-1", parsed(&key).namespace);
    let words = format!("there is no GitopsCluster `{cluster}`; Weir knows this target by signed events only");
    assert_eq!(status["environments"]["prod"]["targets"][0]["message"], words);

    // On Weir's own cluster it is Flux that may be missing.
    let key = ground.pipeline("local").await;
    let pipeline = self::pipeline(&ground, "local").await;
    let undefined = pipeline.environments()[0].targets.iter().cloned().collect();
    let snapshot = Snapshot { undefined, ..Snapshot::default() };
    let shown = Shown { generation: 1, pipeline: &pipeline, snapshot: &snapshot, problems: &[], now: second(100) };
    assert_eq!(Publisher::new(ground.store()).publish(&shown).await.unwrap(), Published::Written, "{key}");
    let status = ground.pipelines().get("local").await.unwrap().data["status"].clone();
    let words = "Flux is not on this cluster; Weir knows this target by signed events only";
    assert_eq!(status["environments"]["dev"]["targets"][0]["message"], words);
}

#[tokio::test]
async fn a_phase_is_told_once_as_an_event_on_the_pipeline() {
    let ground = ground("events").await;
    let (key, store) = (ground.pipeline("podinfo").await, ground.store());
    let now = jiff::Timestamp::now();
    let mut turn = promotion(&key, "prod", 3, Phase::Rejected);
    let note = Some("closed by anna".into());
    turn.history = vec![
        Turn { phase: Phase::Proposed, at: second(1), note: None },
        Turn { phase: Phase::Rejected, at: now, note },
    ];
    for publisher in [Publisher::new(store.clone()), Publisher::new(store)] {
        publisher.announce(&turn, now).await.unwrap();
        publisher.announce(&turn, now).await.unwrap();
    }
    let columns = "custom-columns=R:.reason,T:.type,P:.regarding.name,O:.related.name,N:.note";
    let arguments = ["get", "events.events.k8s.io", "-n", &ground.namespace, "--no-headers", "-o", columns];
    let told = ground.hub.kubectl(&arguments).await;
    let words: Vec<_> = told.split_whitespace().collect();
    let wanted = "Rejected Warning podinfo podinfo-prod-3 1.0 into prod: closed by anna";
    assert_eq!(words.join(" "), wanted, "the old one is not told any more");
}

#[tokio::test]
async fn wrong_objects_are_refused_by_the_api_server_in_our_words() {
    let ground = ground("refused").await;
    let object = |spec: &str| {
        let head = "apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: wrong}";
        serde_saphyr::from_str::<serde_json::Value>(&format!("{{{head}, spec: {spec}}}")).unwrap()
    };
    let target = "targets: [{namespace: a}]";
    for (spec, words) in [
        ("{environments: []}".to_owned(), "list at least one environment"),
        (
            format!("{{environments: [{{name: a, {target}}}, {{name: a, {target}}}]}}"),
            "give each environment a name of its own",
        ),
        (
            format!("{{environments: [{{name: a, {target}, promotion: {{manual: true}}}}]}}"),
            "an environment's promotion replaces the pipeline's whole: give it a `strategy` of its own",
        ),
        (
            format!(
                "{{appRef: {{apiVersion: x, kind: Kustomization, name: a}}, version: {{from: chart}}, environments: \
                 [{{name: a, {target}}}]}}"
            ),
            "a Kustomization has no chart: use `from: source` or `image`",
        ),
        (
            format!(
                "{{promotion: {{strategy: {{push: {{url: 'https://a:geheim@example.org/x.git'}}}}}}, environments: \
                 [{{name: a, {target}}}]}}"
            ),
            "put credentials into a Secret and name it in `secretRef`, not into the address",
        ),
        (
            format!(
                "{{environments: [{{name: a, {target}}}, {{name: b, {target}, gates: [{{approval: {{count: 0}}}}]}}]}}"
            ),
            "allowed: at least 1, at most 100",
        ),
        (
            format!("{{environments: [{{name: 'a b', {target}}}]}}"),
            "allowed: letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
        ),
        (
            format!(
                "{{promotion: {{when: most, strategy: {{notification: {{}}}}}}, environments: [{{name: a, {target}}}]}}"
            ),
            "allowed: `any`, `all`, a count from 1, or a percentage from `1%` to `100%`",
        ),
    ] {
        let object = serde_json::from_value(object(&spec)).unwrap();
        let refused = ground.pipelines().create(&kube::api::PostParams::default(), &object).await.unwrap_err();
        assert!(refused.to_string().contains(words), "{refused}");
        assert!(!refused.to_string().contains("geheim"), "{refused}");
    }
}

#[tokio::test]
async fn the_kinds_explain_themselves() {
    let ground = ground("explain").await;
    let page = ground.hub.kubectl(&["explain", "pipeline.spec.environments"]).await;
    for words in ["The environments, first to last", "targets", "What has to be true before a release may"] {
        assert!(page.contains(words), "{page}");
    }
}

#[tokio::test]
async fn every_example_applies_as_it_is() {
    let ground = ground("examples").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let ours = ["Pipeline", "Freeze", "GitopsCluster"];
    let mut applied = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|it| it != "yaml") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&text).unwrap();
        if !documents.iter().all(|it| it["kind"].as_str().is_some_and(|kind| ours.contains(&kind))) {
            continue;
        }
        ground.hub.apply(&text).await;
        applied += 1;
    }
    assert!(applied >= 6, "{applied} files");
}
