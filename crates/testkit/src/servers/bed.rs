//! Where the programs are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder that `make testbed` filled, or the one that `WEIR_TESTBED` names.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| match std::env::var_os("WEIR_TESTBED") {
        Some(folder) => folder.into(),
        None => built(),
    })
}

/// A program of the test bed by its name, such as `kubectl`.
pub fn program(name: &str) -> PathBuf {
    present(&format!("bin/{name}"))
}

/// Something in the test bed.
pub(super) fn present(what: &str) -> PathBuf {
    let path = folder().join(what);
    assert!(path.exists(), "`{what}` is not in the test bed `{}`: run `make testbed`", folder().display());
    path
}

fn built() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testbed/build");
    let output = Command::new(&script).arg("--path").output();
    let output = output.unwrap_or_else(|error| panic!("running `{}` failed: {error}", script.display()));
    assert!(output.status.success(), "`{} --path` failed: {output:?}", script.display());
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
}
