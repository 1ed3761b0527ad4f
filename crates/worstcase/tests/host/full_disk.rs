//! `worstcase host run` on a disk without room: what could be kept is kept, the exit code is 5, and with room it goes on.

use crate::run::MeasuringController;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A disk of its own, in memory; only root can have one.
struct FullDisk(PathBuf);

impl FullDisk {
    fn mount(place: &Path, size: &str) -> Result<FullDisk, &'static str> {
        fs::create_dir_all(place).unwrap();
        let mut mount = Command::new("mount");
        let options = format!("size={size},mode=755");
        mount.args(["-t", "tmpfs", "-o", &options, "worstcase-test"]).arg(place);
        match mount.output().is_ok_and(|out| out.status.success()) {
            true => Ok(FullDisk(place.to_path_buf())),
            false => Err("mounting a tmpfs needs root"),
        }
    }

    fn resize(&self, size: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,size={size}")]).arg(&self.0);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Runs into `run` on the disk.
fn measure(controller: &MeasuringController, arguments: &[&str]) -> Output {
    let run = controller.path("disk/run");
    let output = ["--output", run.to_str().unwrap(), "--quiet"];
    controller.run_elsewhere(&[arguments, &output].concat())
}

/// Exit code 5, and one line that says this.
fn assert_storage(output: &Output, says: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains(says) && said.lines().count() == 1, "{said}");
}

fn records(controller: &MeasuringController) -> Vec<Value> {
    let cells = fs::read_dir(controller.path("disk/run/cells"))
        .into_iter()
        .flatten()
        .flatten();
    cells
        .map(|cell| serde_json::from_slice(&fs::read(cell.path().join("record.json")).unwrap()).unwrap())
        .collect()
}

#[test]
fn a_measurement_that_fills_its_disk_is_kept_until_then() {
    let controller = MeasuringController::new();
    let disk = worstcase_skips::or_skip!(FullDisk::mount(&controller.path("disk"), "3m"));
    for probe in ["wakeup", "response"] {
        let asked = ["--time", "1h", "--interval", "200us", "--probe", probe];
        if probe == "response" {
            disk.resize("16m");
        }
        let output = measure(&controller, &asked);
        if output.status.code() == Some(3) {
            worstcase_skips::skipped(&format!("{probe}: {}", String::from_utf8_lossy(&output.stderr)), None);
            continue;
        }
        assert_storage(&output, "almost full: the measurement was ended early");
        let records = records(&controller);
        assert_eq!(records.len(), std::thread::available_parallelism().unwrap().get());
        for record in &records {
            assert_eq!(record["environment"]["ended_early"], "disk");
            assert!(record["accounting"]["taken"].as_u64().unwrap() > 0, "{record}");
        }
        fs::remove_dir_all(controller.path("disk/run")).unwrap();
    }
}

#[test]
fn whatever_room_a_disk_has_what_was_kept_is_whole_and_the_rest_is_measured_later() {
    let controller = MeasuringController::new();
    let disk = worstcase_skips::or_skip!(FullDisk::mount(&controller.path("disk"), "1m"));
    let asked = ["--time", "300ms", "--interval", "50us", "--load", "idle,fork"];
    let cells = 2 * std::thread::available_parallelism().unwrap().get();
    let mut full = 0;
    for kib in (4..=400).step_by(36) {
        disk.resize(&format!("{kib}k"));
        let output = measure(&controller, &asked);
        match output.status.code() {
            Some(0) => assert_eq!(records(&controller).len(), cells),
            _ => {
                full += 1;
                assert_storage(&output, "disk");
            }
        }
        disk.resize("8m");
        let begun = controller.path("disk/run/run.json").exists();
        let again: &[&str] = if begun { &["--resume"] } else { &[] };
        let output = measure(&controller, &[&asked, again].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{kib} KiB: {said}");
        assert_eq!(records(&controller).len(), cells, "{kib} KiB");
        fs::remove_dir_all(controller.path("disk/run")).unwrap();
    }
    assert!(full > 3, "{full}");
}
