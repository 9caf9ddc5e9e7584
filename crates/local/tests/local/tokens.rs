//! Files of tokens.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;
use weir_core::Actor;
use weir_local::{Grant, Role, TokenEntry, Tokens};
use weir_ports::{Access, Scope, Verb};

const DEADLINE: Duration = Duration::from_secs(20);

fn everywhere(role: Role) -> Vec<Grant> {
    vec![Grant { role, namespace: None }]
}

fn make(name: &str, roles: Vec<Grant>) -> (SecretString, TokenEntry) {
    Tokens::create(name, roles, vec!["release".to_owned()], None).unwrap()
}

fn file() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("tokens.yaml");
    (folder, file)
}

/// What is said about a file with this text, without its folder.
fn refusal(text: &str) -> String {
    let (folder, file) = file();
    fs::write(&file, text).unwrap();
    let error = Tokens::open(file).err().unwrap().to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

const OPERATOR: [Verb; 5] = [Verb::View, Verb::Promote, Verb::Rollback, Verb::Pause, Verb::Define];

async fn allowed(tokens: &Tokens, who: &Actor, namespace: Option<&str>) -> Vec<Verb> {
    let namespace = namespace.map(|name| name.parse().unwrap());
    let mut verbs = Vec::new();
    let scope = namespace.as_ref().map_or(Scope::All, Scope::Namespace);
    for verb in [Verb::View, Verb::Promote, Verb::Rollback, Verb::Pause, Verb::Approve, Verb::Define] {
        if tokens.may(who, verb, scope).await.unwrap() {
            verbs.push(verb);
        }
    }
    verbs
}

#[tokio::test]
async fn a_token_is_known_by_its_hash_alone() {
    let (_folder, file) = file();
    let (token, entry) = make("ci", everywhere(Role::Viewer));
    Tokens::append(&file, &entry).unwrap();
    assert!(token.expose_secret().starts_with("weir_") && token.expose_secret().len() == 48);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&token.expose_secret()[5..]) && !format!("{entry:?}").contains(token.expose_secret()));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let tokens = Tokens::open(file).unwrap();
    let who = tokens.identify(&token).await.unwrap().unwrap();
    assert_eq!(who, Actor { name: "ci".into(), groups: vec!["release".into()] });
    assert_eq!(tokens.identify(&"weir_guess".to_owned().into()).await.unwrap(), None);
}

#[tokio::test]
async fn a_role_says_what_may_be_done_and_where() {
    let (_folder, file) = file();
    let both = vec![
        Grant { role: Role::Operator, namespace: Some("shop".parse().unwrap()) },
        Grant { role: Role::Approver, namespace: Some("bank".parse().unwrap()) },
    ];
    for (name, roles) in
        [("viewer", everywhere(Role::Viewer)), ("operator", everywhere(Role::Operator)), ("both", both)]
    {
        Tokens::append(&file, &make(name, roles).1).unwrap();
    }
    let tokens = Tokens::open(file).unwrap();
    let actor = |name: &str| Actor { name: name.to_owned(), groups: Vec::new() };
    assert_eq!(allowed(&tokens, &actor("viewer"), None).await, [Verb::View]);
    assert_eq!(allowed(&tokens, &actor("operator"), None).await, OPERATOR);
    assert_eq!(allowed(&tokens, &actor("operator"), Some("shop")).await, OPERATOR);
    assert_eq!(allowed(&tokens, &actor("both"), Some("shop")).await, OPERATOR);
    assert_eq!(allowed(&tokens, &actor("both"), Some("bank")).await, [Verb::View, Verb::Approve]);
    assert!(allowed(&tokens, &actor("both"), Some("other")).await.is_empty());
    assert!(allowed(&tokens, &actor("both"), None).await.is_empty(), "all namespaces are more than two");
    let homes = tokens.homes(&actor("both")).await.unwrap();
    assert_eq!(homes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["bank", "shop"]);
    assert!(tokens.homes(&actor("nobody")).await.unwrap().is_empty());
    assert!(allowed(&tokens, &actor("stranger"), None).await.is_empty());
}

#[tokio::test]
async fn a_token_that_expired_is_nobodys() {
    let (_folder, file) = file();
    let (token, entry) =
        Tokens::create("old", everywhere(Role::Viewer), Vec::new(), Some(Timestamp::UNIX_EPOCH)).unwrap();
    Tokens::append(&file, &entry).unwrap();
    let tokens = Tokens::open(file).unwrap();
    assert_eq!(tokens.identify(&token).await.unwrap(), None);
    let who = Actor { name: "old".into(), groups: Vec::new() };
    assert!(allowed(&tokens, &who, None).await.is_empty());
}

#[tokio::test]
async fn the_file_is_followed_and_one_that_breaks_changes_nothing() {
    let (_folder, file) = file();
    let (first, entry) = make("first", everywhere(Role::Viewer));
    Tokens::append(&file, &entry).unwrap();
    let tokens = Tokens::open(&file).unwrap();
    let until = async |token: &SecretString, known: bool| {
        let wait = async {
            while tokens.identify(token).await.unwrap().is_some() != known {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.unwrap();
    };
    let (second, entry) = make("second", everywhere(Role::Viewer));
    Tokens::append(&file, &entry).unwrap();
    until(&second, true).await;

    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, "- name: x\n").unwrap();
    let told = async {
        while tokens.problem().is_none() {
            assert!(tokens.identify(&first).await.unwrap().is_some());
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, told).await.unwrap();
    let problem = tokens.problem().unwrap();
    assert!(problem.ends_with("`hash` is missing; the tokens that were read last stay in force"), "{problem}");

    fs::write(&file, good.split("- name: second").next().unwrap()).unwrap();
    until(&second, false).await;
    until(&first, true).await;
    assert_eq!(tokens.problem(), None);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let hash = format!("sha256:{}", "0".repeat(64));
    let entry = |rest: &str| format!("- name: a\n  hash: {hash}\n{rest}");
    assert_eq!(refusal("- name: a\n"), "tokens.yaml:1:3: `hash` is missing");
    let told = refusal(&entry("  roles: [{role: admin}]\n"));
    assert!(told.starts_with("tokens.yaml:3:18: ") && told.contains("admin") && told.contains("viewer"), "{told}");
    let told = refusal(&entry("  roles: [{role: viewer}]\n  expire: 2026-01-01T00:00:00Z\n"));
    assert!(told.starts_with("tokens.yaml:4:3: ") && told.contains("expire"), "{told}");
    let told = refusal("- name: a\n  hash: 'sha256:12'\n  roles: [{role: viewer}]\n");
    assert!(told.starts_with("tokens.yaml:2:9: ") && told.contains("64 hexadecimal digits"), "{told}");
    let told = refusal(&entry("  roles: []\n"));
    assert_eq!(told, "tokens.yaml:1:3: `a` has no role: give it `viewer`, `operator` or `approver`");
    let one = entry("  roles: [{role: viewer}]\n");
    let told = refusal(&format!("{one}{}", one.replace("sha256:0", "sha256:1")));
    assert_eq!(told, "tokens.yaml:4:3: `a` is there twice: give each token a name of its own");
}

#[test]
fn what_is_in_the_file_stays_as_it_is_when_a_token_is_added() {
    let (_folder, file) = file();
    fs::write(&file, "# who may use Weir\n").unwrap();
    Tokens::append(&file, &make("a", everywhere(Role::Viewer)).1).unwrap();
    let before = fs::read_to_string(&file).unwrap() + "# the last one";
    fs::write(&file, &before).unwrap();
    Tokens::append(&file, &make("b", everywhere(Role::Approver)).1).unwrap();
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&before) && before.starts_with("# who may use Weir\n- name: a\n"), "{after}");
    let twice = Tokens::append(&file, &make("b", everywhere(Role::Viewer)).1).unwrap_err().to_string();
    assert!(twice.ends_with("`b` is there twice: give each token a name of its own"), "{twice}");
    assert_eq!(fs::read_to_string(&file).unwrap(), after);
}
