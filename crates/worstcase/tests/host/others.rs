//! Root measures into a folder in somebody else's, who exchanges it for a link meanwhile.

use crate::run::{MeasuringController, one_cpu, until};
use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use worstcase_results::record::Run;

/// In the place of the folder, once worstcase measures into it, there is a link to an empty folder; where the folder is now.
fn exchanged(controller: &MeasuringController, folder: &str) -> PathBuf {
    let (theirs, moved) = (controller.path("theirs"), controller.path("moved"));
    fs::rename(&theirs, &moved).unwrap();
    fs::create_dir(&theirs).unwrap();
    fs::create_dir(controller.path("target")).unwrap();
    symlink(controller.path("target"), theirs.join(folder)).unwrap();
    moved.join(folder)
}

fn end(mut child: Child) {
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
}

fn nothing_in(folder: &Path) {
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

fn host(controller: &MeasuringController, command: &[&str], output: &Path) -> Child {
    fs::create_dir(controller.path("theirs")).unwrap();
    let mut host = Command::new(cargo_bin("worstcase"));
    host.arg("host")
        .args(command)
        .args(["--warmup", "10ms", "--cpus", &one_cpu(), "-o"])
        .arg(output)
        .arg("--work-dir")
        .arg(controller.folder())
        .env("WORSTCASE_STATE", controller.path("state"));
    host.spawn().unwrap()
}

#[test]
fn a_run_stays_in_the_folder_that_it_began_in() {
    let controller = MeasuringController::new();
    let output = controller.path("theirs/run");
    let mut child = host(&controller, &["run", "--time", "2s"], &output);
    until("it measures", || {
        let scratch = fs::read_dir(output.join("cells")).into_iter().flatten().flatten();
        scratch.count() > 0
    });
    let moved = exchanged(&controller, "run");
    assert!(child.wait().unwrap().success());
    assert_eq!(Run::open(&moved).unwrap().records().unwrap().len(), 1);
    nothing_in(&controller.path("target"));
    assert_eq!(controller.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_watch_stays_in_the_folder_that_it_began_in() {
    let controller = MeasuringController::new();
    let output = controller.path("theirs/watch");
    let child = host(&controller, &["watch", "--rotate", "1s", "--checkpoint", "1s"], &output);
    let runs = |folder: &Path| {
        let all = fs::read_dir(folder).unwrap().flatten();
        all.filter(|entry| Run::open(&entry.path()).is_ok_and(|run| run.records().is_ok_and(|r| !r.is_empty())))
            .count()
    };
    until("a segment", || output.exists() && runs(&output) > 0);
    let moved = exchanged(&controller, "watch");
    let before = runs(&moved);
    until("two more segments", || runs(&moved) > before + 1);
    end(child);
    nothing_in(&controller.path("target"));
}
