//! Runs the program.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// How a run ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Everything that a person would want to see of it.
    pub(crate) fn shown(&self) -> String {
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }

    /// What it printed for programs.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.shown()))
    }
}

/// The folder that the manual's examples are run from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the program from the root of the repository.
pub(crate) fn weir(arguments: &[&str]) -> Ran {
    weir_in(&root(), arguments, "")
}

/// Runs the program in a folder, with something on stdin.
pub(crate) fn weir_in(folder: &Path, arguments: &[&str], stdin: &str) -> Ran {
    let mut command = Command::cargo_bin("weir").unwrap();
    let output = command.current_dir(folder).args(arguments).write_stdin(stdin).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// An example of the manual.
pub(crate) fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("docs/examples").join(name)).unwrap()
}
