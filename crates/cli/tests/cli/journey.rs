//! The real program, from an event to the last environment, with real Git; and killed at every step of the way.

use std::{thread, time::Duration};

use serde_json::Value;

use crate::server::{Running, Site, until};

/// qa is merged by Weir, prod by people after somebody approved.
const ENVIRONMENTS: &str = "  - {name: dev, targets: [{namespace: app}]}
  - name: qa
    targets: [{namespace: app, clusterRef: {kind: GitopsCluster, name: qa}}]
    promotion:
      merge: auto
      strategy: {pull-request: {type: git, url: 'URL', baseBranch: main}, secretRef: {name: events}}
  - name: prod
    targets: [{namespace: app, clusterRef: {kind: GitopsCluster, name: prod}}]
    gates: [{approval: {}}]
";

fn site() -> Site {
    Site::new(ENVIRONMENTS, &["qa", "prod"])
}

/// The open proposal for prod. That for qa may still be open for a moment after a crash.
fn open_proposal(server: &Running) -> Option<(String, String)> {
    let found = server.get("/api/v1/proposals?state=open");
    let first = found["items"].as_array()?.iter().find(|it| it["environment"] == "prod")?;
    let text = |name: &str| first.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((text("name"), text("head")))
}

/// The steps of the journey: what is done, and what is then waited for. Doing a step twice does no harm.
type Step = (&'static str, fn(&Running, &Site), fn(&Running, &Site) -> bool);

const STEPS: [Step; 5] = [
    (
        "dev runs 1.1.0, and Weir brings it to qa",
        |server, _| assert_eq!(server.report("dev", "1.1.0", &[]).code, 202),
        |_, site| site.declared("qa") == "1.1.0",
    ),
    (
        "qa runs 1.1.0, and it waits for approval before prod",
        |server, _| assert_eq!(server.report("qa?cluster=qa", "1.1.0", &[]).code, 202),
        |server, _| server.weir(&["get", "pipelines"]).contains("AwaitingApproval") || !server.phase("prod").is_empty(),
    ),
    (
        "somebody approves, and a proposal is opened",
        |server, _| {
            // After a crash it may be approved already.
            let _ = server.try_weir(&["approve", "app", "prod"]);
        },
        |server, _| open_proposal(server).is_some() || server.phase("prod") != "Pending",
    ),
    (
        "somebody merges it",
        |server, _| {
            if let Some((name, _)) = open_proposal(server) {
                let _ = server.try_weir(&["proposal", "merge", &name]);
            }
        },
        |_, site| site.declared("prod") == "1.1.0",
    ),
    (
        "prod runs 1.1.0",
        |server, _| assert_eq!(server.report("prod?cluster=prod", "1.1.0", &[]).code, 202),
        |server, _| server.phase("prod") == "Succeeded",
    ),
];

/// Nothing was done twice, and nothing is left behind.
fn check(server: &Running, site: &Site) {
    until("no branch is left", || site.git(&["branch", "--format=%(refname:short)"]).trim() == "main");
    let log = site.git(&["log", "--format=%s", "main"]);
    assert_eq!(log.lines().collect::<Vec<_>>(), ["Promote app 1.1.0 to prod", "Promote app 1.1.0 to qa", "x"]);
    let proposals = server.get("/api/v1/proposals?state=all");
    assert_eq!(proposals["items"].as_array().unwrap().len(), 2, "{proposals:#}");
    let promotions = server.get("/api/v1/promotions");
    assert_eq!(promotions["items"].as_array().unwrap().len(), 2, "{promotions:#}");
}

#[test]
fn a_release_goes_from_an_event_to_the_last_environment() {
    let site = site();
    let server = site.start();
    server.ready();
    for (what, step, done) in STEPS {
        step(&server, &site);
        until(what, || done(&server, &site));
    }
    check(&server, &site);
    let log = server.log();
    assert!(!log.contains("a key that nobody guesses"), "{log}");
    server.stop();
}

#[test]
fn a_server_that_is_killed_at_every_step_carries_on() {
    // Right away, while it is being done, and when it is done.
    for pause in [Some(0), Some(15), Some(40), Some(90), None] {
        let site = site();
        let mut server = site.start();
        server.ready();
        for (what, step, done) in STEPS {
            step(&server, &site);
            match pause {
                Some(pause) => thread::sleep(Duration::from_millis(pause)),
                None => until(what, || done(&server, &site)),
            }
            server.kill();
            server = site.start();
            server.ready();
            // What was accepted is not lost: nothing is said again.
            if what.contains("approves") || what.contains("merges") {
                step(&server, &site);
            }
            until(&format!("{what}, killed after {pause:?}"), || done(&server, &site));
        }
        check(&server, &site);
        server.stop();
    }
}

#[test]
fn an_answer_that_is_waited_for_names_the_proposal() {
    let environments = "  - {name: dev, targets: [{namespace: app}]}
  - {name: prod, targets: [{namespace: app, clusterRef: {kind: GitopsCluster, name: prod}}]}
";
    let site = Site::new(environments, &["prod"]);
    let server = site.start();
    server.ready();
    let answer = server.report("dev", "1.1.0", &[("Prefer", "wait=30")]);
    assert_eq!(answer.code, 201, "{}", answer.body);
    assert!(answer.headers["location"].ends_with("/proposals/default/app-prod-1"), "{:?}", answer.headers);
    let diff = server.weir(&["proposal", "diff", "app-prod-1"]);
    assert!(diff.contains("-version: 1.0.0") && diff.contains("+version: 1.1.0"), "{diff}");
    server.stop();
}
