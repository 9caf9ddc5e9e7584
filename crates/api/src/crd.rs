//! The `CustomResourceDefinition`s, made from the types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::{Map, Value, json};

use crate::kinds::{
    Freeze, GitopsCluster, Observation, OlderPipeline, Pipeline, Promotion, Proposal, patterns::in_words,
};

/// The definitions of all kinds, as they are installed on a cluster.
///
/// What breaks a `pattern` or a bound is refused by the API server in words of its own, so each is a rule with a sentence
/// here, wherever people write.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut crds = defined();
    for crd in &mut crds {
        crd.metadata.labels = Some([(PART_OF.to_owned(), "weir".to_owned())].into());
        change_schema(crd, |schema| {
            if let Some(spec) = schema.pointer_mut("/properties/spec") {
                each(spec, &speak);
            }
        });
    }
    crds
}

/// The label of all that is part of something larger, which for these is `weir`.
pub const PART_OF: &str = "app.kubernetes.io/part-of";

/// The definitions of all kinds, as the types say them.
pub(crate) fn defined() -> Vec<CustomResourceDefinition> {
    let mut pipeline = Pipeline::crd();
    let mut older = OlderPipeline::crd();
    for crd in [&mut pipeline, &mut older] {
        tidy(crd);
        // As in the Weave controller: a status that nobody has written yet is about no generation at all.
        default_status(crd, &json!({ "observedGeneration": -1 }));
    }
    let mut others = [Promotion::crd(), Observation::crd(), Freeze::crd(), Proposal::crd(), GitopsCluster::crd()];
    others.iter_mut().for_each(tidy);
    [pipeline, older].into_iter().chain(others).collect()
}

/// The definitions of all kinds as YAML files: name and text.
pub fn crd_yaml() -> Vec<(String, String)> {
    let file = |crd: CustomResourceDefinition| {
        let name = format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural);
        let text = serde_saphyr::to_string(&crd).ok()?;
        Some((name, format!("# Made by `weir export crds`. Do not edit.\n{text}")))
    };
    crds().into_iter().filter_map(file).collect()
}

/// The schema of the one version of a definition.
pub(crate) fn schema(crd: &CustomResourceDefinition) -> Value {
    let version = crd.spec.versions.first();
    let props = version.and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref());
    serde_json::to_value(props).unwrap_or_default()
}

/// Takes out of a derived schema what the types do not mean: that `null` is a value, and that a field which may be left
/// out is then filled in. An empty list that the API server fills in would be refused by the rules that want one entry.
fn tidy(crd: &mut CustomResourceDefinition) {
    change_schema(crd, |schema| {
        each(schema, &plain);
        if let Some(root) = schema.as_object_mut() {
            root.remove("title");
        }
    });
}

/// Changes a schema, and all those within it.
fn each(schema: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    let Some(object) = schema.as_object_mut() else { return };
    change(object);
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(|inner| each(inner, change));
    }
    for word in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(word) {
            each(inner, change);
        }
    }
}

fn plain(object: &mut Map<String, Value>) {
    for word in ["nullable", "default"] {
        object.remove(word);
    }
    if let Some(text) = object.get_mut("description")
        && let Some(words) = text.as_str()
    {
        *text = words.split_whitespace().collect::<Vec<_>>().join(" ").into();
    }
}

/// Says what a pattern means, and the bounds of a number.
fn speak(object: &mut Map<String, Value>) {
    let bound = |word: &str| object.get(word).and_then(Value::as_f64);
    let bounds = [("minimum", ">=", "at least"), ("maximum", "<=", "at most")];
    let bounds: Vec<_> = bounds.iter().filter_map(|(word, sign, say)| Some((bound(word)?, *sign, *say))).collect();
    let within: Vec<_> = bounds.iter().map(|(bound, sign, _)| format!("self {sign} {bound}")).collect();
    let pattern = object.get("pattern").and_then(Value::as_str);
    let rule = match pattern.and_then(|pattern| Some((pattern, in_words(pattern)?))) {
        // A number or a text, whose words speak of both.
        Some((pattern, words)) if !within.is_empty() => {
            (format!("type(self) == int ? {} : self.matches(r'{pattern}')", within.join(" && ")), words.to_owned())
        }
        Some((pattern, words)) => (format!("self.matches(r'{pattern}')"), words.to_owned()),
        None if !within.is_empty() => {
            let words: Vec<_> = bounds.iter().map(|(bound, _, say)| format!("{say} {bound}")).collect();
            (within.join(" && "), words.join(", "))
        }
        None => return,
    };
    let (rule, words) = rule;
    let rule = json!({ "rule": rule, "message": format!("allowed: {words}") });
    for word in ["pattern", "minimum", "maximum"] {
        object.remove(word);
    }
    match object.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut) {
        Some(rules) => rules.push(rule),
        None => drop(object.insert("x-kubernetes-validations".to_owned(), json!([rule]))),
    }
}

fn default_status(crd: &mut CustomResourceDefinition, default: &Value) {
    change_schema(crd, |schema| {
        if let Some(status) = schema.pointer_mut("/properties/status").and_then(Value::as_object_mut) {
            status.insert("default".to_owned(), default.clone());
        }
    });
}

fn change_schema(crd: &mut CustomResourceDefinition, change: impl Fn(&mut Value)) {
    for version in &mut crd.spec.versions {
        let Some(props) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) else {
            continue;
        };
        let Ok(mut schema) = serde_json::to_value(&*props) else { continue };
        change(&mut schema);
        if let Ok(changed) = serde_json::from_value(schema) {
            *props = changed;
        }
    }
}
