//! Small things that several tests need.

use std::path::PathBuf;

use weir_api::{Manifest, ManifestError, Object, Pipeline};

/// A file of `docs/examples`.
pub(crate) fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The manifests of a text that has to be right.
pub(crate) fn manifests(text: &str) -> Vec<Manifest> {
    let (manifests, errors) = weir_api::read("pipeline.yaml", text);
    assert!(errors.is_empty(), "{}", lines(&errors));
    manifests
}

/// The one pipeline of a text that has to be right.
pub(crate) fn pipeline(text: &str) -> Pipeline {
    match manifests(text).pop().unwrap().object {
        Object::Pipeline(_, pipeline) => *pipeline,
        other => panic!("{other:?}"),
    }
}

/// What is wrong with a text, one line each.
pub(crate) fn errors(text: &str) -> String {
    lines(&weir_api::read("pipeline.yaml", text).1)
}

fn lines(errors: &[ManifestError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A pipeline from dev to prod with something more in its spec.
pub(crate) fn dev_to_prod(more: &str) -> String {
    let environments = "  environments:
    - {name: dev, targets: [{namespace: podinfo}]}
    - {name: prod, targets: [{namespace: podinfo-prod}]}";
    format!("{HEAD}{environments}\n{more}\n")
}

/// A pipeline whose prod has something more.
pub(crate) fn with_prod(more: &str) -> String {
    format!(
        "{HEAD}  environments:
    - name: dev
      targets: [{{namespace: podinfo}}]
    - name: prod
      targets: [{{namespace: podinfo-prod}}]
{more}\n"
    )
}

/// What every pipeline begins with.
pub(crate) const HEAD: &str = "apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata:
  name: podinfo
  namespace: default
spec:
";
