//! `worstcase census`, as far as it goes without a machine: arguments that make no sense.

use crate::fixture::{plan, write};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;
use worstcase_results::record::Run;

fn census(run: &Path, words: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("worstcase")
        .unwrap()
        .arg("census")
        .arg(run)
        .args(words)
        .assert()
}

/// One line that says all of this.
fn refused(run: &Path, words: &[&str], says: &[&str]) {
    let mut assert = census(run, words).code(2).stdout("").stderr(contains('\n').count(1));
    for text in says {
        assert = assert.stderr(contains(*text));
    }
}

#[test]
fn what_is_not_understood() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let id = plan().cells[0].id.to_string();
    for (words, says) in [
        (vec!["--top", "0"], "number would be zero"),
        (vec!["--jobs", "two"], "write a whole number of at least 1"),
        (vec!["--diff", "x"], "--cell <ID>"),
        (
            vec!["--cell", &id, "--add", "/no/such/program"],
            "--add /no/such/program: there is no such file",
        ),
    ] {
        census(dir.path(), &words).code(2).stdout("").stderr(contains(says));
    }
}

#[test]
fn what_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    refused(dir.path(), &[], &["is not a run"]);
    let empty = dir.path().join("empty");
    drop(Run::create(&empty, plan()).unwrap());
    refused(&empty, &[], &["was not measured yet"]);
    let path = dir.path().join("run");
    write(&path);
    refused(&path, &["--cell", "no.such"], &["has no cell 'no.such'"]);
}

#[test]
fn what_there_is_to_compare_with() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    write(&path);
    let id = plan().cells[0].id.to_string();
    let compared = |other: &str, says: &[&str]| refused(&path, &["--cell", &id, "--diff", other], says);
    compared(
        "no.such",
        &["--diff no.such: neither a cell of", "nor the folder of a run"],
    );
    compared("/tmp", &["--diff /tmp: neither"]);
    let other = path.to_str().unwrap();
    let suggestion = format!("{other}/cells/6.1.0-50-amd64.none.shm.wakeup.s1");
    compared(
        other,
        &["3 cells with this load, probe and seed; name one:", &suggestion],
    );
    compared(&format!("{other}/cells/no.such"), &["has no cell 'no.such'"]);
    let nothing = dir.path().join("other");
    let mut small = plan();
    small.cells.retain(|c| c.load == "fork");
    drop(Run::create(&nothing, small).unwrap());
    compared(
        nothing.to_str().unwrap(),
        &["no cell with load shm, probe wakeup and seed 1"],
    );
}

#[test]
fn the_right_qemu_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    census(dir.path(), &["--qemu", "/no/such/qemu"])
        .code(2)
        .stderr(contains("no qemu-system-x86_64 found at /no/such/qemu").and(contains('\n').count(1)));
}

#[test]
fn what_has_no_census_is_refused_before_anything_is_measured() {
    for (words, says) in [
        (
            ["--policy", "other"],
            "an ordinary thread also waits for the turns of others",
        ),
        (["--probe", "switch:2x0"], "nothing of switch:2x0 is due by a timer"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let mut command = Command::cargo_bin("worstcase").unwrap();
        command
            .args([
                "lab",
                "run",
                "--kernel",
                "debian:6.1",
                "--load",
                "idle",
                "--census",
                "-o",
            ])
            .arg(&run)
            .args(words);
        command.assert().code(2).stdout("").stderr(contains(says));
        assert!(!run.exists());
    }
}
