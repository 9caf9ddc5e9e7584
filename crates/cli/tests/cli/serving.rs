//! A server as somebody runs it: who gets in, what is kept, what happens when files are wrong.

use std::{fs, process::Command};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use crate::{
    program::weir,
    server::{Site, event, sign, until},
};

const ENVIRONMENTS: &str = "  - {name: dev, targets: [{namespace: app}]}
  - name: prod
    targets: [{namespace: app, clusterRef: {kind: GitopsCluster, name: prod}}]
    gates: [{approval: {}}]
";

fn site() -> Site {
    Site::new(ENVIRONMENTS, &["prod"])
}

#[test]
fn a_listener_that_others_reach_needs_tokens() {
    let site = site();
    let (manifests, data) = (site.path("manifests"), site.path("data"));
    let folders = [manifests.to_str().unwrap(), data.to_str().unwrap()];
    let ran = weir(&["serve", "--manifests", folders[0], "--data", folders[1], "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("weir token create") && ran.stderr.contains("--tokens"), "{}", ran.stderr);
}

#[test]
fn what_its_definition_suspends_nobody_resumes() {
    let site = site();
    let server = site.start();
    server.ready();
    until("the pipeline is listed", || server.weir(&["get", "pipelines"]).contains("app"));
    let told = |verb: &str| String::from_utf8_lossy(&server.try_weir(&[verb, "app"]).stderr).trim().to_owned();
    assert_eq!(told("suspend"), "default/app is suspended");
    assert_eq!(told("resume"), "default/app goes on");
    let file = site.path("manifests/app.yaml");
    let text = fs::read_to_string(&file).unwrap().replace("spec:\n", "spec:\n  suspend: true\n");
    fs::write(file, text).unwrap();
    until("its definition suspends it", || {
        server.get("/api/v1/pipelines/default/app")["suspendedByDefinition"] == true
    });
    assert_eq!(told("resume"), "default/app stays suspended: its definition says so");
}

#[test]
fn a_token_opens_what_its_role_allows_and_no_more() {
    let site = site();
    let file = site.path("tokens.yaml");
    let file = file.to_str().unwrap();
    let token = |name: &str, role: &str| {
        let ran = weir(&["token", "create", name, "--role", role, "--file", file]);
        assert_eq!(ran.code, 0, "{}", ran.shown());
        ran.stdout.trim().to_owned()
    };
    let (viewer, approver) = (token("vera", "viewer"), token("anna", "approver"));
    let kept = fs::read_to_string(file).unwrap();
    assert!(!kept.contains(&viewer) && kept.contains("vera"), "only the hash is kept");
    let server = site.start_with(&["--tokens", file]);
    server.ready();
    assert_eq!(server.request("GET", "/api/v1/pipelines", &[], "").code, 401);
    let try_as = |token: &str, arguments: &[&str]| {
        let address = format!("http://{}", server.address);
        let mut command = Command::new(cargo_bin("weir"));
        command.args(arguments).env("WEIR_SERVER", address).env("WEIR_TOKEN", token).output().unwrap()
    };
    until("the pipeline is listed", || {
        String::from_utf8_lossy(&try_as(&viewer, &["get", "pipelines"]).stdout).contains("app")
    });
    assert_eq!(server.report("dev", "1.1.0", &[]).code, 202, "events bring a signature, not a token");
    until("it waits for approval", || {
        String::from_utf8_lossy(&try_as(&viewer, &["get", "pipelines"]).stdout).contains("AwaitingApproval")
    });
    let denied = try_as(&viewer, &["approve", "app", "prod"]);
    assert!(!denied.status.success(), "a viewer looks");
    let agreed = try_as(&approver, &["approve", "app", "prod"]);
    assert!(agreed.status.success(), "{}", String::from_utf8_lossy(&agreed.stderr));
    let audit = try_as(&viewer, &["get", "audit"]);
    let audit = String::from_utf8_lossy(&audit.stdout);
    assert!(audit.contains("anna") && audit.contains("approve"), "{audit}");
    for secret in [&viewer, &approver] {
        assert!(!server.log().contains(secret.as_str()), "a token is in the log");
    }
    server.stop();
}

#[test]
fn a_second_server_is_told_who_has_the_folder() {
    let site = site();
    let server = site.start();
    let (manifests, data) = (site.path("manifests"), site.path("data"));
    let folders = [manifests.to_str().unwrap(), data.to_str().unwrap()];
    let ran = weir(&["serve", "--manifests", folders[0], "--data", folders[1], "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("process"), "{}", ran.stderr);
    server.stop();
}

#[test]
fn a_backup_is_everything_as_it_was() {
    let site = site();
    let server = site.start();
    server.ready();
    assert_eq!(server.report("dev", "1.1.0", &[]).code, 202);
    until("it is on its way", || server.phase("prod") == "Pending");
    let copy = site.path("copy.db");
    server.weir(&["backup", copy.to_str().unwrap()]);
    let again = server.try_weir(&["backup", copy.to_str().unwrap()]);
    assert!(!again.status.success(), "nothing is overwritten");
    server.stop();
    fs::remove_dir_all(site.path("data")).unwrap();
    fs::create_dir(site.path("data")).unwrap();
    fs::rename(copy, site.path("data/weir.db")).unwrap();
    let server = site.start();
    server.ready();
    assert_eq!(server.phase("prod"), "Pending");
    server.stop();
}

#[test]
fn a_broken_file_is_reported_and_the_last_good_one_stays_in_force() {
    let site = site();
    let server = site.start();
    server.ready();
    let file = site.path("manifests/app.yaml");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("environments:", "environments: [")).unwrap();
    let problems = || server.get("/api/v1/status").get("problems").cloned().unwrap_or_default();
    until("it is reported", || problems().to_string().contains("app.yaml:"));
    assert_eq!(server.report("dev", "1.1.0", &[]).code, 202, "the pipeline is still there");
    fs::write(&file, good).unwrap();
    until("it is mended", || problems().as_array().is_some_and(Vec::is_empty));
    server.stop();
}

#[test]
fn what_is_no_event_of_the_pipeline_is_refused() {
    let site = site();
    let server = site.start();
    server.ready();
    let post = |path: &str, body: &str, signature: &str| {
        server.request("POST", path, &[("X-Signature", signature)], body).code
    };
    let body = event("1.1.0", "UpgradeSucceeded");
    assert_eq!(post("/promotion/default/nothing/dev", &body, &sign(&body)), 404);
    assert_eq!(post("/promotion/default/app/nothing", &body, &sign(&body)), 422);
    assert_eq!(post("/promotion/default/app/dev", &body, "sha256=00"), 401);
    assert_eq!(post("/promotion/default/app/dev", "{", &sign("{")), 400);
    let failed = event("1.1.0", "UpgradeFailed");
    assert_eq!(post("/promotion/default/app/dev", &failed, &sign(&failed)), 202);
    let ran = server.get("/api/v1/promotions");
    assert_eq!(ran["items"], Value::Array(Vec::new()), "a failure promotes nothing");
    server.stop();
}

#[test]
fn a_server_that_is_not_there_says_what_to_do() {
    let ran = weir(&["get", "pipelines", "--server", "http://127.0.0.1:1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("weir serve") && ran.stderr.contains("--server"), "{}", ran.stderr);
}
