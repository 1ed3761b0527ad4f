//! `worstcase report`, as a user types it.

use crate::fixture::{plan, results, write};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use worstcase_results::record::Run;

fn report() -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.arg("report");
    command
}

#[test]
fn one_file_with_all_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (run, page) = (dir.path().join("run"), dir.path().join("page.html"));
    write(&run);
    fs::write(&page, "old").unwrap();
    report()
        .arg(&run)
        .arg(&run)
        .arg("-o")
        .arg(&page)
        .assert()
        .success()
        .stdout(contains("page.html").and(contains("MB")));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("2 runs of worstcase"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
    assert_ne!(
        fs::metadata(&page).unwrap().permissions().mode() & 0o044,
        0,
        "others may read it"
    );
    let again = report().arg(&run).args(["-o", "-"]).assert().success();
    assert!(again.get_output().stdout.starts_with(b"<!doctype html>"));
    assert_eq!(
        again.get_output().stdout,
        report().arg(&run).args(["-o", "-"]).assert().get_output().stdout,
        "the same again"
    );
}

#[test]
fn a_small_page_has_drawings_and_no_library() {
    let dir = tempfile::tempdir().unwrap();
    let (run, page) = (dir.path().join("run"), dir.path().join("page.html"));
    write(&run);
    let mut bytes = Vec::new();
    for small in [false, true] {
        report()
            .arg(&run)
            .arg("-o")
            .arg(&page)
            .args(small.then_some("--small"))
            .assert()
            .success();
        let text = fs::read_to_string(&page).unwrap();
        assert_eq!(
            text.contains("Licensed to the Apache Software Foundation"),
            !small,
            "its notice goes with the library"
        );
        bytes.push(text.len());
    }
    assert!(bytes[1] < 300_000 && bytes[1] < bytes[0] / 4, "{bytes:?}");
}

#[test]
fn an_unfinished_run_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    fs::remove_dir_all(run.join("cells").join(plan().cells[0].id.as_str())).unwrap();
    let said = format!(
        "Not finished: {} of {} cells are measured",
        results().len() - 1,
        results().len()
    );
    report()
        .arg(&run)
        .args(["-o", "-"])
        .assert()
        .success()
        .stdout(contains(said));
    let empty = dir.path().join("empty");
    drop(Run::create(&empty, plan()).unwrap());
    report()
        .arg(&empty)
        .args(["-o", "-"])
        .assert()
        .success()
        .stdout(contains("Nothing is measured yet"));
}

#[test]
fn what_cannot_be_is_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let asks = |arguments: &[&str], code: i32, said: &str| {
        let one_line = contains(said).and(contains('\n').count(1));
        report()
            .current_dir(dir.path())
            .args(arguments)
            .assert()
            .code(code)
            .stdout("")
            .stderr(one_line);
    };
    asks(&["nothing"], 2, "nothing is not a run");
    asks(&["run", "nothing"], 2, "nothing is not a run");
    asks(
        &["run", "-o", "no/page.html"],
        5,
        "cannot write no/page.html: No such file or directory",
    );
    asks(&["run", "-o", "run"], 5, "cannot write run: is a directory");
    assert!(!dir.path().join("report.html").exists(), "nothing was written");
    fs::write(
        run.join("cells")
            .join(plan().cells[3].id.as_str())
            .join("samples.parquet"),
        "PAR1",
    )
    .unwrap();
    asks(&["run"], 2, "samples.parquet is damaged");
}
