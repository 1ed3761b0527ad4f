//! The commands, as users type them.

use crate::fixture::{plan, results, write};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::PathBuf;
use worstcase_results::record::Run;

fn worstcase() -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.env_remove("NO_COLOR");
    command
}

/// A finished synthetic run that lives as long as the first value.
fn run() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    write(&path);
    (dir, path)
}

#[test]
fn show_prints_plain_text_into_a_pipe() {
    let (_dir, path) = run();
    let table = contains("virtual us at 1000 MIPS")
        .and(contains("procread"))
        .and(contains("\x1b").not());
    worstcase().arg("show").arg(&path).assert().success().stdout(table);
    let fail = contains("FAIL").and(contains("PASS"));
    worstcase()
        .arg("show")
        .arg(&path)
        .args(["--criterion", "100us"])
        .assert()
        .success()
        .stdout(fail);
}

#[test]
fn a_verdict_is_the_exit_code() {
    let (_dir, path) = run();
    let verdict = |limit: &str| {
        let mut command = worstcase();
        command.arg("verdict").arg(&path).args(["--criterion", limit]);
        command
    };
    verdict("100us").assert().code(1);
    verdict("1ms").assert().code(0);
    fs::remove_dir_all(path.join("cells").join(plan().cells[0].id.as_str())).unwrap();
    verdict("1ms").assert().code(10).stdout(contains("INCONCLUSIVE"));
    verdict("100us").assert().code(1);
    worstcase()
        .arg("verdict")
        .arg(&path)
        .assert()
        .code(2)
        .stderr(contains("--criterion 100us"));
}

#[test]
fn show_one_cell() {
    let (_dir, path) = run();
    let id = plan().cells[0].id.to_string();
    worstcase()
        .arg("show")
        .arg(&path)
        .args(["--cell", &id])
        .assert()
        .success()
        .stdout(contains("1 000 expected = 1 000 taken + 0 missed"));
    worstcase()
        .arg("show")
        .arg(&path)
        .args(["--cell", "no.such"])
        .assert()
        .code(2)
        .stderr(contains("has no cell 'no.such'").and(contains("there are ")));
    // Words of its name will do, if only one has them.
    let words = id.replace('.', " ");
    let show = |cell: &str| {
        let mut command = worstcase();
        command.arg("show").arg(&path).args(["--cell", cell]);
        command
    };
    let expected = worstcase()
        .arg("show")
        .arg(&path)
        .args(["--cell", &id])
        .output()
        .unwrap();
    show(&words).assert().success().stdout(expected.stdout);
    show("fork")
        .assert()
        .code(2)
        .stderr(contains("'fork' is ").and(contains("add a word")));
}

#[test]
fn show_data_for_programs() {
    let (_dir, path) = run();
    let out = worstcase().arg("show").arg(&path).arg("--json").assert().success();
    serde_json::from_slice::<serde_json::Value>(&out.get_output().stdout).unwrap();
    worstcase()
        .arg("show")
        .arg(&path)
        .arg("--csv")
        .assert()
        .success()
        .stdout(predicates::str::starts_with("id,kernel,"));
    worstcase()
        .arg("show")
        .arg(&path)
        .args(["--csv", "--json"])
        .assert()
        .code(2);
}

#[test]
fn show_of_what_is_no_run() {
    let dir = tempfile::tempdir().unwrap();
    worstcase()
        .arg("show")
        .arg(dir.path())
        .assert()
        .code(2)
        .stderr(contains("is not a run").and(contains('\n').count(1)));
    let (_dir, path) = run();
    worstcase()
        .arg("show")
        .arg(&path)
        .args(["--criterion", "100"])
        .assert()
        .code(2)
        .stderr(contains("100us or 2.5ms"));
}

#[test]
fn show_of_a_damaged_run_says_what_to_put_aside() {
    let (_dir, path) = run();
    let file = path
        .join("cells")
        .join(plan().cells[3].id.as_str())
        .join("samples.parquet");
    fs::write(&file, "PAR1").unwrap();
    let said = contains("samples.parquet is damaged")
        .and(contains("put ").and(contains(" aside ")).and(contains("delete").not()))
        .and(contains('\n').count(1));
    worstcase()
        .arg("show")
        .arg(&path)
        .assert()
        .code(2)
        .stderr(said)
        .stdout("");
}

#[test]
fn show_of_an_empty_run() {
    let dir = tempfile::tempdir().unwrap();
    drop(Run::create(dir.path(), plan()).unwrap());
    let said = format!("0 of {} cells are measured", results().len());
    worstcase()
        .arg("show")
        .arg(dir.path())
        .assert()
        .success()
        .stdout(contains(said));
}

#[test]
fn study_list_and_show() {
    worstcase()
        .args(["study", "list"])
        .assert()
        .success()
        .stdout(contains("preemption-models"));
    let shown = contains("quick: 76 cells").and(contains("about 200 us"));
    worstcase()
        .args(["study", "show", "preemption-models"])
        .assert()
        .success()
        .stdout(shown);
    worstcase()
        .args(["study", "show", "nothing"])
        .assert()
        .code(2)
        .stderr(contains("worstcase study list lists all"));
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("mine.toml");
    let out = worstcase()
        .args(["study", "show", "preemption-models", "--toml"])
        .assert()
        .success();
    fs::write(&copy, &out.get_output().stdout).unwrap();
    worstcase().args(["study", "show"]).arg(&copy).assert().success();
}

#[test]
fn explain_of_what_is_not_there() {
    let (dir, path) = run();
    let id = plan().cells[0].id.to_string();
    let other = results()
        .iter()
        .find(|r| r.record.cell.load != results()[0].record.cell.load);
    let other = other.unwrap().record.id.to_string();
    let asks = |folder: &std::path::Path, arguments: &[&str], said: &str| {
        worstcase()
            .arg("explain")
            .arg(folder)
            .args(arguments)
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(said).and(contains('\n').count(1)));
    };
    asks(dir.path(), &[], "is not a run");
    asks(&dir.path().join("nothing"), &[], "nothing");
    asks(&path, &["--cell", "no.such"], "has no cell 'no.such'");
    asks(&path, &["--compare", "no.such"], "has no cell 'no.such'");
    asks(&path, &["--cell", &id, "--sample", "999999"], "has no sample 999999");
    asks(
        &path,
        &["--cell", &id, "--compare", &other],
        "of one load and one probe",
    );
}

#[test]
fn explain_of_a_sample_that_cannot_be_meant() {
    let (_dir, path) = run();
    for sample in ["p101", "-1", "best", "p", ""] {
        let argument = format!("--sample={sample}");
        worstcase()
            .arg("explain")
            .arg(&path)
            .arg(&argument)
            .assert()
            .code(2)
            .stderr(contains("a percentile such as p99.9"));
    }
    for clash in [["--compare", "x"], ["--flame", "x"], ["--sample", "3"]] {
        let mut command = worstcase();
        command.arg("explain").arg(&path).arg("--all").args(clash);
        command.assert().code(2).stderr(contains("cannot be used with"));
    }
    let mut command = worstcase();
    command.arg("explain").arg(&path).args(["-k", "3"]);
    command.assert().code(2).stderr(contains("--all"));
}

#[test]
fn explain_of_an_empty_run() {
    let dir = tempfile::tempdir().unwrap();
    drop(Run::create(dir.path(), plan()).unwrap());
    let said = contains("was not measured yet").and(contains('\n').count(1));
    worstcase().arg("explain").arg(dir.path()).assert().code(2).stderr(said);
}

/// Before anything is fetched or measured.
#[test]
fn a_bisection_by_what_so_few_samples_do_not_bear_is_refused_in_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let said = |option: &str, value: &str| {
        let words = "bisect --good debian:6.1@1 --bad debian:6.1@2 --load fork --samples 500";
        let mut command = worstcase();
        command.args(words.split(' ')).args([option, value]).current_dir(&dir);
        let output = command.assert().code(2).get_output().stderr.clone();
        String::from_utf8(output).unwrap()
    };
    let line = "worstcase: p99 needs 1 000 samples of each seed, and there are 500; take --samples 1000, or p90\n";
    for (option, value) in [
        ("--criterion", "p99 > 20us"),
        ("--worse", "p99 20%"),
        ("--better", "p99 20%"),
    ] {
        assert_eq!(said(option, value), line);
    }
    assert!(said("--criterion", "mode > 20us").contains("take max, mean, median, p90, p99"));
    assert!(said("--worse", "20us").contains("for a limit --criterion"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}
