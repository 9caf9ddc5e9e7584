use crate::program::{folder, weir, weir_in};

#[test]
fn all_definitions_come_as_one_yaml() {
    let ran = weir(&["export", "crds"]);
    assert_eq!(ran.code, 0);
    let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&ran.stdout).unwrap();
    assert_eq!(documents.len(), 7);
    assert!(documents.iter().all(|document| document["kind"] == "CustomResourceDefinition"));
}

#[test]
fn definitions_are_written_to_a_folder_one_file_each() {
    let place = folder(&[]);
    let ran = weir_in(place.path(), &["export", "crds", "--dir", "new/crds"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, "wrote 7 definitions to new/crds\n");
    assert!(place.path().join("new/crds/pipelines.weave.works_pipelines.yaml").is_file());
}
