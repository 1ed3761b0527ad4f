//! `worstcase host calibrate` on this machine: its file, and that nothing stays.

use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use worstcase_contract::costs::{CostEvent, EventCounts};
use worstcase_skips::needs_root;
use worstcase_timing::{Calibration, Predictor};

fn started(folder: &Path) -> Child {
    let mut command = Command::new(cargo_bin("worstcase"));
    command
        .args(["host", "calibrate", "-o", "here.json"])
        .current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The children of a process.
fn children_of(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().map(|id| id.parse().unwrap()).collect()
}

fn mounts() -> String {
    fs::read_to_string("/proc/mounts").unwrap()
}

#[test]
fn a_file_comes_that_predicts() {
    needs_root!();
    let dir = tempfile::tempdir().unwrap();
    let before = mounts();
    fs::write(dir.path().join("here.json"), "of before").unwrap();
    let output = started(dir.path()).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("kept in here.json"), "{said}");
    let shown = String::from_utf8_lossy(&output.stdout);
    for word in ["instruction", "system_call", "a class left out", "a timer that is due"] {
        assert!(shown.contains(word), "{shown}");
    }
    let calibration = Calibration::read(&dir.path().join("here.json")).unwrap();
    assert!(calibration.operations.iter().filter(|o| !o.held_out).count() > 50);
    assert!(calibration.operations.iter().filter(|o| o.held_out).count() >= 12);
    let path: EventCounts = [(CostEvent::Instruction, 40_000), (CostEvent::SystemCall, 20)]
        .into_iter()
        .collect();
    let time = Predictor::of(&calibration).predict(&path);
    assert!(0.0 < time.low && time.low < time.ns && time.ns < time.high, "{time:?}");
    assert_eq!(mounts(), before);
    assert_eq!(dir.path().read_dir().unwrap().count(), 1);
}

#[test]
fn killed_it_leaves_nothing() {
    needs_root!();
    let dir = tempfile::tempdir().unwrap();
    let before = mounts();
    let mut command = started(dir.path());
    let mut children = Vec::new();
    for _ in 0..200 {
        children = children_of(command.id());
        if !children.is_empty() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    assert_eq!(children.len(), 1, "the operations run as one child");
    sleep(Duration::from_millis(300));
    command.kill().unwrap();
    command.wait().unwrap();
    let is_there = || Path::new(&format!("/proc/{}/exe", children[0])).read_link().is_ok();
    for _ in 0..200 {
        if !is_there() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    assert!(!is_there(), "the operations go on");
    assert_eq!(mounts(), before);
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
}
