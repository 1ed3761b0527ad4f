//! The recipes of contrib/ci, as a pipeline runs them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use worstcase_skips::skip;

fn own(path: &str) -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

fn gate(folder: &Path, measured: &str) -> Output {
    let data = own("crates/foreign/tests/data");
    let mut command = Command::new(own("contrib/ci/gate.sh"));
    command.current_dir(folder).env("WORSTCASE_HOME", folder.join("home"));
    command.env(
        "MEASURE",
        format!("import {} --load idle", data.join(measured).display()),
    );
    command.output().unwrap()
}

#[test]
fn the_gate_is_asked_again_of_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("home/bin")).unwrap();
    symlink(assert_cmd::cargo::cargo_bin("worstcase"), at("home/bin/worstcase")).unwrap();

    let first = gate(folder.path(), "cyclictest-histogram.txt");
    assert_eq!(first.status.code(), Some(2), "no baseline: {first:?}");
    fs::copy(at("latency/baseline.json"), at("baseline.json")).unwrap();
    // What another tool measured cannot PASS: it does not say whether threads were held back.
    for measured in [
        "cyclictest-histogram.txt",
        "cyclictest-lines.txt",
        "cyclictest-histogram.txt",
    ] {
        let again = gate(folder.path(), measured);
        assert_eq!(again.status.code(), Some(10), "{measured}: {again:?}");
        assert!(at("latency/gate.json").exists() && at("latency/gate.xml").exists());
    }
    let before = fs::read_to_string(at("latency/run.before/run.json")).unwrap();
    assert!(
        before.contains("cyclictest-lines.txt"),
        "the run before is kept: {before}"
    );
}

#[test]
fn every_recipe_does_what_its_steps_say() {
    let measured = own("crates/foreign/tests/data/cyclictest-histogram.txt");
    let needs = Command::new("/usr/bin/python3").args(["-c", "import yaml"]).output();
    if !needs.is_ok_and(|output| output.status.success()) {
        skip!("python3-yaml is not there", "python3-yaml");
    }
    let output = Command::new(own("scripts/check-ci"))
        .env("WORSTCASE", assert_cmd::cargo::cargo_bin("worstcase"))
        .env("MEASURE", format!("import {} --load idle", measured.display()))
        .env("EXPECTED", "10")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for system in ["github", "action", "gitlab", "lava", "jenkins"] {
        let line = told.lines().find(|line| line.starts_with(&format!("{system}: ")));
        assert!(
            line.is_some_and(|line| line.ends_with("gate 2 without a baseline, then 10")),
            "{system}: {told}"
        );
    }
}
