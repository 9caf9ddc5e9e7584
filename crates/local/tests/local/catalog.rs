//! A folder of manifests, followed as it changes.

use std::{fs, future::poll_fn, path::Path, pin::Pin, time::Duration};

use futures_core::Stream;
use secrecy::ExposeSecret;
use tempfile::TempDir;
use weir_local::FolderCatalog;
use weir_ports::{Catalog, CatalogError, CatalogNotice};

const DEADLINE: Duration = Duration::from_secs(20);
const RHYTHM: Duration = Duration::from_millis(5);

fn pipeline(name: &str, environment: &str) -> String {
    pipeline_of("pipelines.weave.works", name, environment)
}

fn pipeline_of(group: &str, name: &str, environment: &str) -> String {
    format!(
        "apiVersion: {group}/v1alpha1\nkind: Pipeline\nmetadata:\n  name: {name}\nspec:\n  appRef:\n    apiVersion: \
         helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    name: podinfo\n  environments:\n    - name: \
         {environment}\n      targets:\n        - namespace: {environment}\n"
    )
}

fn secret(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  token: {value}\n")
}

/// A folder, and the notices about it.
struct World {
    folder: TempDir,
    catalog: FolderCatalog,
    notices: Pin<Box<dyn Stream<Item = CatalogNotice> + Send>>,
}

impl World {
    async fn new(files: &[(&str, &str)]) -> (Self, Vec<String>) {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let catalog = FolderCatalog::open_with(folder.path(), RHYTHM).unwrap();
        let notices = Box::pin(catalog.watch());
        let mut world = Self { folder, catalog, notices };
        let mut listed = Vec::new();
        loop {
            match world.next().await {
                told if told == "listed" => return (world, listed),
                told => listed.push(told),
            }
        }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// The next notice, in short: the pipeline and its first environment, with files by their names alone.
    async fn next(&mut self) -> String {
        let next = poll_fn(|context| self.notices.as_mut().poll_next(context));
        match tokio::time::timeout(DEADLINE, next).await.unwrap().unwrap() {
            CatalogNotice::Defined(it) => format!("{} {}", it.pipeline.key, it.pipeline.environments()[0].name),
            CatalogNotice::Gone(key) => format!("{key} gone"),
            CatalogNotice::Problems(problems) => {
                let folder = format!("{}/", self.folder.path().display());
                let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
                problems.join(" | ").replace(&folder, "")
            }
            CatalogNotice::Listed => "listed".to_owned(),
        }
    }

    async fn token(&self, name: &str) -> Option<String> {
        let secret = self.catalog.secret(&"default".parse().unwrap(), &name.parse().unwrap()).await.ok()?;
        let value = secret.get("token")?.expose_secret().to_vec();
        Some(String::from_utf8(value).unwrap())
    }

    /// Waits until a Secret has a value; that is not told.
    async fn token_becomes(&self, name: &str, value: &str) {
        let wait = async {
            while self.token(name).await.as_deref() != Some(value) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(DEADLINE, wait).await.unwrap();
    }
}

#[tokio::test]
async fn pipelines_of_both_groups_are_listed_and_other_files_do_no_harm() {
    let older = pipeline_of("pipelines.wego.weave.works", "older", "dev");
    let both = format!("{}---\n{}", pipeline("b", "dev"), pipeline("c", "dev"));
    let (world, told) = World::new(&[
        ("a.yaml", &both),
        ("b.yml", &older),
        ("c.json", r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}"#),
        ("values.yaml", "replicas: 2\n"),
        (".hidden.yaml", "not: [yaml"),
        ("README.md", "not: [yaml"),
    ])
    .await;
    assert_eq!(told, ["default/b dev", "default/c dev", "default/older dev"]);
    assert_eq!(world.catalog.definitions().len(), 3);
}

#[tokio::test]
async fn a_file_that_changes_appears_or_goes_is_followed() {
    let (mut world, told) = World::new(&[("a.yaml", &pipeline("a", "dev"))]).await;
    assert_eq!(told, ["default/a dev"]);
    world.write("a.yaml", &pipeline("a", "qa"));
    assert_eq!(world.next().await, "default/a qa");
    fs::create_dir(world.folder.path().join("more")).unwrap();
    world.write("more/b.yaml", &pipeline("b", "dev"));
    assert_eq!(world.next().await, "default/b dev");
    fs::remove_file(world.folder.path().join("a.yaml")).unwrap();
    assert_eq!(world.next().await, "default/a gone");
}

#[tokio::test]
async fn a_file_that_is_renamed_changes_nothing() {
    let (mut world, _) = World::new(&[("a.yaml", &pipeline("a", "dev"))]).await;
    fs::rename(world.folder.path().join("a.yaml"), world.folder.path().join("z.yaml")).unwrap();
    world.write("b.yaml", &pipeline("b", "dev"));
    assert_eq!(world.next().await, "default/b dev", "nothing was told of the other");
}

#[tokio::test]
async fn what_a_broken_file_said_last_stays_in_force() {
    let good = format!("{}---\n{}", pipeline("a", "dev"), secret("git", "first"));
    let (mut world, _) = World::new(&[("a.yaml", &good)]).await;
    world.write("a.yaml", &good.replace("first", "second").replace("kind: HelmRelease", "kind: HelmChart"));
    let told = world.next().await;
    assert!(told.starts_with("a.yaml:8:11: spec.appRef.kind: found `HelmChart`, "), "{told}");
    assert_eq!(world.catalog.definitions().len(), 1);
    assert_eq!(world.token("git").await.as_deref(), Some("first"));

    world.write("b.yaml", &pipeline("b", "dev"));
    assert_eq!(world.next().await, "default/b dev", "other files are followed meanwhile");
    world.write("a.yaml", &good.replace("first", "third").replace("name: dev", "name: qa"));
    assert_eq!(world.next().await, "default/a qa");
    assert_eq!(world.next().await, "", "all is well");
    assert_eq!(world.token("git").await.as_deref(), Some("third"));
}

#[tokio::test]
async fn what_an_emptied_file_said_last_stays_in_force_until_it_is_deleted() {
    let (mut world, _) = World::new(&[("a.yaml", &pipeline("a", "dev"))]).await;
    world.write("a.yaml", "");
    let told = world.next().await;
    assert_eq!(told, "a.yaml: is empty; what it said last stays in force until the file is deleted");
    assert_eq!(world.catalog.definitions().len(), 1);
    fs::remove_file(world.folder.path().join("a.yaml")).unwrap();
    assert_eq!(world.next().await, "default/a gone");
}

#[tokio::test]
async fn a_file_that_is_broken_from_the_start_is_told_and_the_others_work() {
    let (mut world, told) = World::new(&[("a.yaml", "a: [\n"), ("b.yaml", &pipeline("b", "dev"))]).await;
    assert_eq!(told.len(), 2);
    assert_eq!(told[0], "default/b dev");
    assert!(told[1].starts_with("a.yaml:"), "{}", told[1]);
    world.write("a.yaml", &pipeline("a", "dev"));
    assert_eq!(world.next().await, "default/a dev");
    assert_eq!(world.next().await, "");
}

#[tokio::test]
async fn of_two_files_with_the_same_pipeline_the_first_is_in_force_and_the_other_is_told() {
    let (mut world, told) = World::new(&[("b.yaml", &pipeline("a", "qa")), ("a.yaml", &pipeline("a", "dev"))]).await;
    let words =
        "b.yaml:1:1: Pipeline `default/a` has no effect: it is defined at a.yaml:1:1 already; delete one of the two";
    assert_eq!(told, ["default/a dev", words]);
    fs::remove_file(world.folder.path().join("a.yaml")).unwrap();
    assert_eq!(world.next().await, "default/a qa");
    assert_eq!(world.next().await, "");
}

#[tokio::test]
async fn the_newer_group_wins_wherever_it_is_written() {
    let older = pipeline_of("pipelines.wego.weave.works", "a", "qa");
    let (_world, told) = World::new(&[("a.yaml", &older), ("b.yaml", &pipeline("a", "dev"))]).await;
    assert_eq!(told[0], "default/a dev");
    assert!(told[1].starts_with("a.yaml:1:1: pipeline `default/a` of `pipelines.wego.weave.works` has no effect"));
}

#[tokio::test]
async fn a_freeze_in_a_file_has_no_effect_and_that_is_told() {
    let freeze = "apiVersion: pipelines.weave.works/v1alpha1\nkind: Freeze\nmetadata: {name: x}\nspec: {reason: no}\n";
    let freeze = freeze.replace("reason: no", "reason: it is Friday");
    let (_world, told) = World::new(&[("a.yaml", &freeze)]).await;
    assert_eq!(told, ["a.yaml:1:1: freezes are made with `weir freeze`; this one has no effect"]);
}

#[tokio::test]
async fn a_secret_is_read_as_it_is_now() {
    let encoded =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: packed, namespace: default}\ndata: {token: Z2VoZWlt}\n";
    let (world, _) = World::new(&[("a.yaml", &secret("git", "first")), ("b.yaml", encoded)]).await;
    assert_eq!(world.token("packed").await.as_deref(), Some("geheim"));
    world.write("a.yaml", &secret("git", "second"));
    world.token_becomes("git", "second").await;
    fs::remove_file(world.folder.path().join("a.yaml")).unwrap();
    let (namespace, name) = ("default".parse().unwrap(), "git".parse().unwrap());
    let gone = async {
        while world.catalog.secret(&namespace, &name).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, gone).await.unwrap();
    let missing = world.catalog.secret(&namespace, &name).await.unwrap_err();
    assert_eq!(missing, CatalogError::NoSecret { namespace, name });
}

#[tokio::test]
async fn a_secret_that_is_wrong_is_told_without_its_value() {
    let wrong = "apiVersion: v1\nkind: Secret\nmetadata: {name: git}\ndata: {token: '!geheim!'}\n";
    let number = "apiVersion: v1\nkind: Secret\nmetadata: {name: git}\nstringData: {token: 4711}\n";
    let (_world, told) = World::new(&[("a.yaml", wrong), ("b.yaml", number)]).await;
    assert_eq!(
        told,
        ["a.yaml:1:1: data.token: is not base64; encode it, or write it as `stringData` | b.yaml:1:1: \
          stringData.token: write a text; put it in quotes"]
    );
}

/// What a volume of Kubernetes does: a new folder, and a link that is swapped to it.
#[tokio::test]
async fn a_volume_of_kubernetes_is_followed_when_its_link_is_swapped() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let fill = |version: &str, text: &str| {
        let name = format!("..{version}");
        fs::create_dir(folder.path().join(&name)).unwrap();
        fs::write(folder.path().join(&name).join("a.yaml"), text).unwrap();
        symlink(&name, folder.path().join("..data_tmp")).unwrap();
        fs::rename(folder.path().join("..data_tmp"), folder.path().join("..data")).unwrap();
    };
    fill("1", &pipeline("a", "dev"));
    symlink("..data/a.yaml", folder.path().join("a.yaml")).unwrap();
    symlink(".", folder.path().join("loop")).unwrap();
    let catalog = FolderCatalog::open_with(folder.path(), RHYTHM).unwrap();
    assert_eq!((catalog.definitions().len(), catalog.problems()), (1, Vec::new()));
    let notices = Box::pin(catalog.watch());
    let mut world = World { folder: TempDir::new().unwrap(), catalog, notices };
    assert_eq!(world.next().await, "default/a dev");
    assert_eq!(world.next().await, "listed");
    fill("2", &pipeline("a", "qa"));
    assert_eq!(world.next().await, "default/a qa");
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_takes_nothing_away() {
    let (mut world, _) = World::new(&[("a.yaml", &pipeline("a", "dev"))]).await;
    let (here, away) = (world.folder.path().to_owned(), world.folder.path().with_extension("away"));
    fs::rename(&here, &away).unwrap();
    let told = world.next().await;
    assert!(told.contains("cannot be read: ") && told.ends_with("what was read last stays in force"), "{told}");
    assert_eq!(world.catalog.definitions().len(), 1);
    fs::rename(&away, &here).unwrap();
    assert_eq!(world.next().await, "");
}

#[test]
fn a_folder_that_is_missing_is_an_error_at_the_start() {
    let error = FolderCatalog::open(Path::new("/nowhere/at/all")).err().unwrap();
    let words = "reading the manifests in `/nowhere/at/all` failed; name a folder that Weir may read";
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn a_definition_is_shown_and_nothing_else_of_its_file() {
    let (one, two) = (pipeline("one", "dev"), pipeline("two", "qa"));
    let (world, _) =
        World::new(&[("both.yaml", &format!("---\n{one}---\n{}---\n{two}", secret("key", "geheim")))]).await;
    let shown = async |name: &str| world.catalog.manifest(&format!("default/{name}").parse().unwrap()).await;
    let words = shown("one").await.unwrap().unwrap();
    assert!(words.contains("kind: Pipeline") && words.contains("name: one") && words.contains("name: dev"), "{words}");
    for name in ["one", "two"] {
        assert!(!shown(name).await.unwrap().unwrap().contains("geheim"));
    }
    assert_eq!(shown("three").await, Ok(None));
    // A Secret stands where the pipeline stood, and the file is wrong.
    fs::write(world.folder.path().join("both.yaml"), format!("---\n{}---\n{one}  x: y\n", secret("key", "geheim")))
        .unwrap();
    let words = shown("one").await.unwrap_err().to_string();
    assert!(words.starts_with("reading the definition of `default/one` failed: "), "{words}");
    assert!(!words.contains("geheim"), "{words}");
}
