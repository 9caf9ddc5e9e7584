use serde_json::json;

use super::*;
use crate::leaf::{
    fault::Class,
    picture::{Detail, Scope, newest},
};

const GRACE: Duration = Duration::from_secs(5);

/// A cluster that has both kinds, and whose namespace `dev` was listed.
fn listed() -> Picture {
    let mut picture = Picture { access: Access::Open, ..Picture::default() };
    for kind in KINDS {
        let served = newest(kind, &["v2", "v1"]).map(Served::As).unwrap();
        let namespaces = BTreeMap::from([("dev".parse().unwrap(), BTreeMap::new())]);
        picture.kinds.insert(kind, Kind { served, namespaces, ..Kind::default() });
    }
    picture
}

fn put(picture: &mut Picture, kind: WorkloadKind, name: &str, label: Option<&str>) -> Place {
    let (group, versions, _) = resource(kind);
    let object = json!({
        "apiVersion": format!("{group}/{}", versions[0]), "kind": kind.to_string(),
        "metadata": {"name": name, "namespace": "dev", "labels": {"pipelines.weave.works/pipeline": label}},
        "spec": {"sourceRef": {"kind": "GitRepository", "name": "git"}},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "lastAttemptedRevision": "1.0.0", "lastAppliedRevision": "1.0.0",
        },
    });
    let place = Place { kind, namespace: "dev".parse().unwrap(), name: name.parse().unwrap() };
    let objects = picture.kinds.get_mut(&kind).unwrap().namespaces.get_mut(&place.namespace).unwrap();
    objects.insert(place.name.clone(), Kept::of(kind, &object));
    place
}

fn print(picture: &Picture, place: &Place) -> u64 {
    picture.kinds[&place.kind].namespaces[&place.namespace][&place.name].fingerprint
}

fn look(picture: &Picture, app: &str, version: Option<VersionRule>) -> Look {
    look_at(Instant::now(), picture, app, version)
}

fn look_at(now: Instant, picture: &Picture, app: &str, version: Option<VersionRule>) -> Look {
    look_from(false, now, picture, app, version)
}

fn look_from(home: bool, now: Instant, picture: &Picture, app: &str, version: Option<VersionRule>) -> Look {
    let application = match app {
        "labelled" => Application::Labelled,
        other => Application::Workload(other.parse().unwrap()),
    };
    let interest = Interest { application, version, targets: BTreeMap::new() };
    let question = Question {
        pipeline: &"a/shop".parse().unwrap(),
        interest: &interest,
        namespace: &"dev".parse().unwrap(),
        home,
        now,
        grace: GRACE,
    };
    question.look(picture).0
}

fn seen(look: Look) -> Sighting {
    let Look::Seen(sighting) = look else { panic!("{look:?}") };
    sighting
}

fn error(look: Look) -> String {
    seen(look).unreachable.unwrap().error.to_string()
}

fn passing() -> Trouble {
    Trouble::new(Fault { class: Class::Passing, text: "gone".into() })
}

#[test]
fn nothing_is_said_before_everything_was_listed() {
    assert_eq!(look(&Picture::default(), "labelled", None), Look::Waiting);
    let undefined = Picture { access: Access::Undefined, ..Picture::default() };
    assert_eq!(look(&undefined, "labelled", None), Look::Undefined);
    let mut picture = listed();
    assert_eq!(seen(look(&picture, "labelled", None)), Sighting::default());
    picture.kinds.get_mut(&WorkloadKind::Kustomization).unwrap().namespaces.clear();
    assert_eq!(look(&picture, "labelled", None), Look::Waiting);
    assert_eq!(seen(look(&picture, "HelmRelease/a", None)), Sighting::default());
}

#[test]
fn a_kind_that_is_missing_matters_to_those_who_need_it() {
    let mut picture = listed();
    let lose = |picture: &mut Picture, kind| {
        picture.kinds.get_mut(&kind).unwrap().served = Served::Missing(Trouble::new(lack(kind)));
    };
    lose(&mut picture, WorkloadKind::HelmRelease);
    assert!(error(look(&picture, "HelmRelease/a", None)).contains("has no HelmReleases (helm.toolkit.fluxcd.io)"));
    assert_eq!(look_from(true, Instant::now(), &picture, "HelmRelease/a", None), Look::Undefined);
    assert_eq!(seen(look(&picture, "Kustomization/a", None)).unreachable, None);
    assert_eq!(seen(look(&picture, "labelled", None)).unreachable, None);
    let left = Trouble::new(Fault::settled("nobody watches it, so nothing ends this"));
    picture.kinds.get_mut(&WorkloadKind::HelmRelease).unwrap().troubles.insert(Scope::All, left);
    assert_eq!(seen(look(&picture, "labelled", None)).unreachable, None);
    lose(&mut picture, WorkloadKind::Kustomization);
    assert!(error(look(&picture, "labelled", None)).contains("neither"));
}

#[test]
fn a_trouble_is_told_after_a_while_and_what_was_seen_stays() {
    let mut picture = listed();
    put(&mut picture, WorkloadKind::HelmRelease, "a", None);
    picture.trouble = Some(passing());
    assert_eq!(seen(look(&picture, "HelmRelease/a", None)).unreachable, None);
    let lost = seen(look_at(Instant::now() + GRACE, &picture, "HelmRelease/a", None));
    assert_eq!((lost.unreachable.is_some(), lost.workloads.len()), (true, 1));
}

#[test]
fn a_watch_that_is_refused_matters_to_its_namespace_and_kind() {
    let mut picture = listed();
    let refused = || Trouble::new(Fault::settled("a right is missing"));
    let releases = picture.kinds.get_mut(&WorkloadKind::HelmRelease).unwrap();
    releases.troubles.insert(Scope::Namespace("prod".parse().unwrap()), refused());
    assert_eq!(seen(look(&picture, "HelmRelease/a", None)).unreachable, None);
    let releases = picture.kinds.get_mut(&WorkloadKind::HelmRelease).unwrap();
    releases.troubles.insert(Scope::All, refused());
    assert!(error(look(&picture, "HelmRelease/a", None)).contains("a right is missing"));
    assert_eq!(seen(look(&picture, "Kustomization/a", None)).unreachable, None);
    assert!(error(look(&picture, "labelled", None)).contains("a right is missing"));
}

#[test]
fn images_are_waited_for_only_if_they_decide() {
    let mut picture = listed();
    let place = put(&mut picture, WorkloadKind::HelmRelease, "a", Some("shop"));
    let by_image = || Some(VersionRule::Image("web".into()));
    assert_eq!(look(&picture, "labelled", by_image()), Look::Waiting);
    assert_eq!(seen(look(&picture, "labelled", None)).images.len(), 0);

    let trouble = Some(Trouble::new(Fault::settled("no right")));
    picture.details.entry(place.clone()).or_default().images = Detail { read: None, trouble: trouble.clone() };
    assert!(error(look(&picture, "labelled", by_image())).contains("no right"));
    assert_eq!(seen(look(&picture, "labelled", None)).unreachable, None);

    let read = |print| Detail { read: Some((print, vec!["web:7".into()])), trouble: None };
    let current = print(&picture, &place);
    picture.details.entry(place.clone()).or_default().images = read(current + 1);
    assert_eq!(look(&picture, "labelled", by_image()), Look::Waiting, "they are those of what it ran before");
    picture.details.entry(place).or_default().images = read(current);
    let sighting = seen(look(&picture, "labelled", by_image()));
    let version = &sighting.workloads.values().next().unwrap().version;
    assert_eq!(*version, weir_core::Version::Revision("7".parse().unwrap()));
    assert_eq!(sighting.images.values().next().unwrap()[..], ["web:7".into()]);
}

#[test]
fn the_source_of_a_kustomization_is_waited_for() {
    let mut picture = listed();
    let place = put(&mut picture, WorkloadKind::Kustomization, "a", Some("another"));
    assert_eq!(look(&picture, "Kustomization/a", None), Look::Waiting);
    assert_eq!(seen(look(&picture, "labelled", None)), Sighting::default(), "it belongs to another");
    let source = json!({"kind": "GitRepository", "spec": {"ref": {"tag": "1.0.0"}}});
    let current = print(&picture, &place);
    picture.details.entry(place).or_default().source = Detail { read: Some((current, source)), trouble: None };
    assert_eq!(seen(look(&picture, "Kustomization/a", None)).workloads.len(), 1);
}
