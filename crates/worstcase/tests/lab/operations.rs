//! The events of a calibration's operations, counted again; what operations of the probes would take on a calibrated machine.

use crate::controller::{GENERIC, kernel, shared};
use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use worstcase_timing::table::{OperationTable, TEXT};

#[test]
fn the_lab_counts_what_the_table_says() {
    kernel("debian:6.18");
    let output = Command::cargo_bin("worstcase")
        .unwrap()
        .args(["lab-operations", "debian:6.18"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (now, table) = (OperationTable::parse(&text).expect("a table"), OperationTable::own());
    for (now, table) in now.operations.iter().zip(&table.operations) {
        assert_eq!(now, table, "scripts/calibration writes the table anew");
    }
    assert_eq!(text, TEXT);
}

/// A machine of docs/time.md.
fn calibrated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/zen4-vm.json")
}

/// The JSON of `explain --on-machine`.
fn on_machine(run: &Path, words: &str) -> Value {
    let mut command = shared().worstcase("explain");
    command.arg(run).arg("--on-machine").arg(calibrated());
    let assert = command
        .args(words.split_ascii_whitespace())
        .arg("--json")
        .assert()
        .success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

/// Of a cost the median, of a lateness the worst; a hop is a lap's share. In the lab an instruction is a nanosecond, so that each
/// path is as long as its sample.
#[test]
fn each_cell_of_a_run_has_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let probes = "switch:3x4k,spawn+fork,pick:20,wakeup,hackbench:1x2x20x100";
    let run = folder.path().join("run");
    let cells = format!("--kernel {GENERIC} --preempt full --load idle --seed 1 --samples 9 --probe {probes}");
    let mut command = shared().worstcase("lab run --quiet --output");
    command.arg(&run).args(cells.split(' ')).assert().success();
    let told = on_machine(&run, "--all");
    assert_eq!(told["schema"], "worstcase-cells-on-machine/1");
    let probe = |cell: &Value| cell["cell"].as_str().unwrap().rsplit('.').nth(1).unwrap().to_string();
    let cells: BTreeMap<String, &Value> = told["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| (probe(cell), cell))
        .collect();
    let names: Vec<&str> = cells.keys().map(String::as_str).collect();
    let expected = ["pick-20", "spawn+fork", "switch-3x4k", "wakeup"];
    assert_eq!(names, expected, "hackbench is of many paths");
    for (name, cell) in &cells {
        let which = if name == "wakeup" { "worst" } else { "median" };
        assert_eq!(cell["which"], which, "{name}");
        let (lab, path) = (
            cell["lab_ns"].as_u64().unwrap(),
            cell["there"]["instructions"].as_u64().unwrap(),
        );
        // A hop is a mean, in which interrupts have their share.
        let near = if name.starts_with("switch") { lab / 10 } else { 0 };
        assert!(lab.abs_diff(path) <= near, "{name}: {lab} {path}");
        let there = |key: &str| cell["there"][key].as_f64().unwrap();
        assert!(
            there("low_ns") <= there("ns") && there("ns") <= there("high_ns") && there("ns") > 0.0,
            "{name}"
        );
    }
    let worst = on_machine(&run, "");
    for key in ["instructions", "exits", "ns", "low_ns", "high_ns"] {
        assert_eq!(
            worst["sum"][key], cells["wakeup"]["there"][key],
            "{key}: with its spans and without"
        );
    }
    let one = cells["spawn+fork"]["cell"].as_str().unwrap();
    let other = on_machine(&run, &format!("--cell {one} --sample 3"));
    assert_eq!(
        (&other["cells"][0]["which"], &other["cells"][0]["sample"]),
        (&"chosen".into(), &3.into())
    );
    assert_eq!(other["cells"].as_array().unwrap().len(), 1);
    let many = cells["wakeup"]["cell"]
        .as_str()
        .unwrap()
        .replace("wakeup", "hackbench-1x2x20x100+sockets");
    let mut refused = shared().worstcase("explain --on-machine");
    let assert = refused
        .arg(calibrated())
        .arg(&run)
        .args(["--cell", &many])
        .assert()
        .code(2);
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(said.contains("its samples are of many paths"), "{said}");
}
