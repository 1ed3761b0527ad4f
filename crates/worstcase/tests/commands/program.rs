//! A copy of the program, for users who may not enter the folder where the tests run from.

use assert_cmd::cargo::cargo_bin;
use std::path::Path;
use std::process::Command;

/// Copies it. Another process does: were the file open for writing here, what another test starts at that moment would hold it
/// open, and it could not be executed.
pub fn copy_to(path: &Path) {
    let copied = Command::new("cp")
        .arg(cargo_bin("worstcase"))
        .arg(path)
        .status()
        .unwrap();
    assert!(copied.success(), "cp {}", path.display());
}
