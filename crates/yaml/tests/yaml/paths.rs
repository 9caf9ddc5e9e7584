//! Choosing values by path.

use weir_yaml::{DocumentFilter, Error, Location, NotAValue, Part, Path, Selector, Value, set};

fn at(path: &str) -> Location {
    Location::from(path.parse::<Path>().unwrap())
}

fn set_at(text: &str, location: Location) -> Result<String, Error> {
    set(text, &[(Selector::Path(location), Value::new("2.0.0"))]).map(|edited| edited.text)
}

const RELEASE: &str = "\
spec:
  chart:
    spec:
      version: 1.0.0 # chart
  values: {image: {tag: one, 'a.b/c': two}}
  containers:
    - name: sidecar
      image: three
    - image: four
      name: podinfo
  images: [five, {newTag: six}]
";

#[test]
fn a_path_chooses_one_value() {
    for (path, old) in [
        ("spec.chart.spec.version", "1.0.0"),
        ("spec.values.image.tag", "one"),
        (r#"spec.values.image["a.b/c"]"#, "two"),
        ("spec.containers[name=podinfo].image", "four"),
        ("spec.containers[0].image", "three"),
        ("spec.images[0]", "five"),
        ("spec.images[1].newTag", "six"),
    ] {
        assert_eq!(set_at(RELEASE, at(path)).unwrap(), RELEASE.replace(old, "2.0.0"), "{path}");
    }
}

#[test]
fn a_path_may_speak_of_a_part() {
    let location = Location { part: Part::Tag, ..at("image") };
    assert_eq!(set_at("image: a/b:1.0\n", location).unwrap(), "image: a/b:2.0.0\n");
}

#[test]
fn a_path_that_leads_nowhere_is_refused() {
    for path in [
        "spec.chart.version",
        "spec.images[2]",
        "spec.containers[name=x].image",
        "spec[0]",
        "spec.chart.spec.version.x",
    ] {
        assert!(matches!(set_at(RELEASE, at(path)), Err(Error::NotFound { .. })), "{path}");
    }
}

#[test]
fn a_path_to_a_collection_or_an_alias_is_refused() {
    let refused = |text, path| match set_at(text, at(path)) {
        Err(Error::NotAValue { place, found }) => (place.line, found),
        other => panic!("a refusal was expected, not {other:?}"),
    };
    assert_eq!(refused(RELEASE, "spec.chart"), (3, NotAValue::Map));
    assert_eq!(refused(RELEASE, "spec.images"), (11, NotAValue::Sequence));
    assert_eq!(refused("a: &x\n  b: 1\nc: *x\n", "c.b"), (3, NotAValue::Alias));
    assert_eq!(refused("a:\nb: 1\n", "a"), (1, NotAValue::Empty));
}

#[test]
fn a_path_that_leads_to_two_values_is_refused() {
    for (text, path) in
        [("a: 1\na: 2\n", "a"), ("l: [{n: x, v: 1}, {n: x, v: 2}]\n", "l[n=x].v"), ("a: 1\n---\na: 2\n", "a")]
    {
        assert!(matches!(set_at(text, at(path)), Err(Error::Ambiguous { .. })), "{path}");
    }
}

const DOCUMENTS: &str = "\
kind: A
metadata: {name: one, namespace: x}
v: first
---
kind: A
metadata: {name: one, namespace: y}
v: second
---
kind: B
metadata: {name: one}
v: third
";

#[test]
fn documents_are_chosen_by_kind_name_namespace_and_number() {
    let kind = |kind: &str| DocumentFilter { kind: Some(kind.to_owned()), ..DocumentFilter::default() };
    for (documents, old) in [
        (kind("B"), "third"),
        (DocumentFilter { namespace: Some("y".to_owned()), ..kind("A") }, "second"),
        (DocumentFilter { index: Some(0), ..DocumentFilter::default() }, "first"),
        (DocumentFilter { name: Some("one".to_owned()), ..kind("B") }, "third"),
    ] {
        let location = Location { documents, ..at("v") };
        assert_eq!(set_at(DOCUMENTS, location).unwrap(), DOCUMENTS.replace(old, "2.0.0"));
    }
}

#[test]
fn a_document_that_is_not_there_is_refused() {
    let documents = DocumentFilter { kind: Some("C".to_owned()), ..DocumentFilter::default() };
    assert!(matches!(set_at(DOCUMENTS, Location { documents, ..at("v") }), Err(Error::NoDocument { .. })));
}

#[test]
fn a_file_that_is_not_yaml_is_refused() {
    assert!(matches!(set_at("{{ x }}\na: 1\n", at("a")), Err(Error::NotYaml { .. })));
}

#[test]
fn markers_do_not_matter_to_a_path() {
    let text = "a: 1 # {\"$promotion\": broken\n";
    assert_eq!(set_at(text, at("a")).unwrap(), text.replace('1', "2.0.0"));
}

#[test]
fn two_wishes_for_one_value_are_refused_unless_they_agree() {
    let wish = |version: &str| (Selector::Path(at("a")), Value::new(version));
    assert!(matches!(set("a: 1\n", &[wish("2.0.0"), wish("3.0.0")]), Err(Error::Conflict { .. })));
    assert_eq!(set("a: 1\n", &[wish("2.0.0"), wish("2.0.0")]).unwrap().text, "a: 2.0.0\n");
}
