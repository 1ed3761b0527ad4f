//! `worstcase explain --against` as far as it goes without a replay: what cannot be laid against each other.

use crate::fixture::{host_raw, latencies, on_cpu, raw, result, spec, subject, write, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::{Path, PathBuf};
use worstcase_results::record::CellResult;

/// One line with this in it, and nothing else.
fn refused(words: &[&str], run: &Path, lab: &Path, says: &str) {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.args(words).arg(run).arg("--against").arg(lab);
    let one_line = contains(says).and(contains('\n').count(1));
    command.assert().code(2).stdout("").stderr(one_line);
}

/// A run of this machine under `idle`: Linux 6.18 with PREEMPT_RT.
fn host(folder: &Path) -> PathBuf {
    let path = folder.join("host");
    write_cells(&path, &[on_cpu(0, &host_raw(1, &[1_000, 2_000, 9_000]))]);
    path
}

/// A run of the lab.
fn lab(folder: &Path, release: &str, preempt: &str, load: &str) -> PathBuf {
    let path = folder.join(format!("{release}-{preempt}-{load}"));
    let cell: CellResult = result(&subject(release, preempt), &raw(&spec(load, 1), &latencies(1, 9_000)));
    write_cells(&path, &[cell]);
    path
}

#[test]
fn only_one_load_of_one_series_is_laid_against_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let of_lab = folder.path().join("lab");
    write(&of_lab);
    let explain = |run: &Path, against: &Path, says: &str| refused(&["explain"], run, against, says);
    explain(&host, &folder.path().join("none"), "is not a run");
    explain(
        &of_lab,
        &of_lab,
        "is of the lab; --against lays samples of a real machine",
    );
    explain(&host, &host, "has no cell of the lab that waits for a timer");
    explain(
        &host,
        &of_lab,
        "is of Linux 6.1, 6.18.rt.host.idle.wakeup.s1.c0 of 6.18, whose paths are others; measure that: worstcase lab run --kernel \
         debian:6.18 --load idle",
    );
    let lab = |release, preempt, load| lab(folder.path(), release, preempt, load);
    explain(
        &host,
        &lab("6.18.15+deb13-amd64", "rt", "shm"),
        "has no cell under idle, but shm; measure that: worstcase lab run --kernel debian:6.18 --load idle",
    );
    explain(
        &host,
        &lab("6.18.15+deb13-amd64", "full", "idle"),
        "has full under idle, 6.18.rt.host.idle.wakeup.s1.c0 is rt: with PREEMPT_RT sections are others",
    );
    // What fits is laid against each other, if something was recorded.
    let fits = lab("6.18.15+deb13-amd64", "rt", "idle");
    explain(&host, &fits, "has no recordings to explain");
    refused(
        &["explain", "--all"],
        &host,
        &lab("6.18.15+deb13-amd64", "rt", "fork"),
        "but fork; measure that",
    );
}

#[test]
fn it_is_refused_beside_what_it_does_not_go_with() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    for other in [
        "--compare=x",
        "--flame=x.svg",
        "--folded=x",
        "--perfetto=x",
        "--debug-info=x",
    ] {
        let mut command = Command::cargo_bin("worstcase").unwrap();
        command.arg("explain").arg(&host).args(["--against", "lab", other]);
        command.assert().code(2).stderr(contains("cannot be used with"));
    }
}

/// Nobody waits for a measurement of minutes to hear that.
#[test]
fn a_check_refuses_it_before_it_measures() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let run = folder.path().join("checked");
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.args(["host", "check", "--period", "1ms", "--deadline", "1ms", "--against"]);
    command.arg(&host).arg("-o").arg(&run);
    let says = contains("has no cell of the lab that waits for a timer").and(contains('\n').count(1));
    command.assert().code(2).stdout("").stderr(says);
    assert!(!run.exists());
}
