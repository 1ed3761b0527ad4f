//! `worstcase plot`, as users type it.

use crate::fixture::{plan, write};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use worstcase_results::record::Run;

fn plot(run: &Path) -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.arg("plot").arg(run);
    command
}

fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap());
    entries
        .map(|e| {
            (
                e.file_name().into_string().unwrap(),
                fs::read_to_string(e.path()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn every_picture_is_a_file_and_twice_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let (first, second) = (dir.path().join("a"), dir.path().join("b/deeper"));
    for folder in [&first, &second] {
        let said = contains("heat-wakeup-latency.svg").and(contains("dots-wakeup-latency-shm.svg"));
        plot(&run).arg("-o").arg(folder).assert().success().stdout(said);
    }
    let drawn = files(&first);
    assert!(
        drawn.len() >= 7
            && drawn
                .values()
                .all(|f| f.starts_with("<svg ") && f.ends_with("</svg>\n"))
    );
    assert_eq!(drawn, files(&second));
}

#[test]
fn one_picture_of_several() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let out = dir.path().join("out");
    plot(&run)
        .arg("-o")
        .arg(&out)
        .args(["--picture", "dots,heat-wakeup-latency"])
        .assert()
        .success();
    let names: Vec<String> = files(&out).into_keys().collect();
    let dots = ["fork", "procread", "shm"].map(|load| format!("dots-wakeup-latency-{load}.svg"));
    assert_eq!(names[..3], dots);
    assert_eq!(names[3..], ["heat-wakeup-latency.svg"]);
    plot(&run)
        .args(["--picture", "dot"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("no picture 'dot'").and(contains('\n').count(1)));
}

#[test]
fn a_criterion_is_drawn_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let out = dir.path().join("out");
    plot(&run)
        .arg("-o")
        .arg(&out)
        .args(["--criterion", "100us"])
        .assert()
        .success();
    let files = files(&out);
    let heat = &files["heat-wakeup-latency.svg"];
    assert!(heat.contains(">FAIL<") && heat.contains(">PASS<"));
    assert!(files["dots-wakeup-latency-shm.svg"].contains(">criterion: 100 "));
}

#[test]
fn a_list_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let said =
        contains("percentiles-wakeup-latency\n  latency (timer due to user code)").and(contains("A dot is a sample"));
    plot(&run)
        .arg("--list")
        .current_dir(dir.path())
        .assert()
        .success()
        .stdout(said);
    assert!(!dir.path().join("pictures").exists());
}

#[test]
fn what_cannot_be_drawn_is_said_in_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let line = || contains('\n').count(1);
    plot(dir.path())
        .assert()
        .code(2)
        .stderr(contains("is not a run").and(line()));
    let run = dir.path().join("run");
    drop(Run::create(&run, plan()).unwrap());
    let said = contains("no cell was measured yet")
        .and(contains("worstcase study run"))
        .and(line());
    plot(&run).assert().code(2).stderr(said);
    let full = dir.path().join("full");
    write(&full);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    plot(&full)
        .arg("-o")
        .arg(&file)
        .assert()
        .code(5)
        .stderr(contains("cannot write").and(line()));
}
