//! The definitions that are checked in are the ones that the types make.

use std::path::Path;

#[test]
fn the_checked_in_definitions_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds");
    let update = std::env::var_os("UPDATE").is_some();
    for (name, text) in weir_api::crd_yaml() {
        let file = folder.join(&name);
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == text,
            "deploy/crds/{name} is out of date: run `weir export crds --dir deploy/crds`, \
             or `UPDATE=1 cargo test -p weir-api`"
        );
    }
}
