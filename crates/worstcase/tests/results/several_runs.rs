//! Several runs of a real machine on each side of `compare` and `gate`: a run is one draw.

use crate::fixture::{ensemble, host_raw, on_cpu, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::PathBuf;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::record::CellResult;

/// A run of some seeds: latencies around a level that all seeds of the run share.
fn of_run(level: u64, run: u64, seeds: u64) -> Vec<CellResult> {
    // As between real runs: the level itself differs by up to a tenth from run to run.
    let level = level + SplitMix64::new(run).below(level / 10);
    let of = |seed: u64| {
        let mut random = SplitMix64::new(run * 1_000 + seed);
        let latencies: Vec<u64> = (0..1_000).map(|_| level + random.below(level / 100)).collect();
        on_cpu(1, &host_raw(seed, &latencies))
    };
    (1..=seeds).map(of).collect()
}

struct RunFolders {
    dir: tempfile::TempDir,
}

impl RunFolders {
    fn new() -> RunFolders {
        RunFolders {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn add(&self, name: &str, results: &[CellResult]) -> PathBuf {
        let path = self.dir.path().join(name);
        write_cells(&path, results);
        path
    }

    /// Five runs.
    fn five(&self, name: &str, level: u64, first: u64) -> Vec<PathBuf> {
        let run = |n: u64| self.add(&format!("{name}{n}"), &of_run(level, first + n, 3));
        (1..=5).map(run).collect()
    }
}

fn worstcase(command: &str) -> Command {
    let mut worstcase = Command::cargo_bin("worstcase").unwrap();
    worstcase.env_remove("NO_COLOR").arg(command);
    worstcase
}

#[test]
fn five_runs_of_each_side_can_tell_and_two_runs_cannot() {
    let folders = RunFolders::new();
    let (a, b, later) = (
        folders.five("a", 20_000, 0),
        folders.five("b", 20_000, 20),
        folders.five("later", 26_000, 40),
    );
    let compare = |b: &[PathBuf]| worstcase("compare").args(&a).arg("--to").args(b).assert().success();
    compare(&b).stdout(contains("5 against 5 runs").and(contains("0 with something worse, 0 with something better")));
    compare(&later).stdout(contains("1 with something worse, 0 with something better"));
    let json = worstcase("compare")
        .args(&a)
        .arg("--to")
        .args(&later)
        .arg("--json")
        .assert()
        .success();
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let cell = &json["cells"][0];
    assert_eq!(
        (&cell["replicates"], &cell["design"], &cell["changes"][0]["word"]),
        (&"runs".into(), &"apart".into(), &"worse".into())
    );
    // A difference between two runs is one of these two.
    let two = worstcase("compare").args([&a[0], &later[0]]).assert().success();
    two.stdout(contains("0 with something worse").and(contains("five runs of each, in turns")));
    let few = worstcase("compare").arg(&a[0]).arg("--to").args(&later[..3]).assert();
    few.success().stdout(contains("too few runs, needs 4"));
}

#[test]
fn a_gate_of_five_runs_fails_and_passes() {
    let folders = RunFolders::new();
    let baseline = folders.dir.path().join("baseline.json");
    let wrote = worstcase("gate")
        .args(folders.five("a", 20_000, 0))
        .arg("--write-baseline")
        .arg(&baseline)
        .assert();
    wrote.success().stdout(contains("1 cells, 5 runs or more of each"));
    let gate = |runs: &[PathBuf]| worstcase("gate").args(runs).arg("--baseline").arg(&baseline).assert();
    let later = folders.five("later", 26_000, 40);
    gate(&folders.five("b", 20_000, 20)).code(0);
    gate(&later)
        .code(1)
        .stdout(contains("the typical run").and(contains("1 worse")));
    gate(&later[..1])
        .code(10)
        .stdout(contains("too few runs to tell: 5 in the baseline, 1 in the run"));
    let criterion = worstcase("gate")
        .args(&later)
        .arg("--baseline")
        .arg(&baseline)
        .args(["--criterion", "1ms"])
        .assert();
    criterion.code(2).stderr(contains("--criterion is of one run"));
}

#[test]
fn sides_that_say_nothing_of_runs_are_refused() {
    let folders = RunFolders::new();
    let a = folders.five("a", 20_000, 0);
    let longer = folders.add("longer", &of_run(20_000, 9, 4));
    let lab = folders.add("lab", &ensemble("6.1", "shm", 1..=6, 1.0));
    let refused = |of_a: &[&PathBuf], of_b: &[&PathBuf], why: &str| {
        let out = worstcase("compare").args(of_a).arg("--to").args(of_b).assert();
        out.code(2).stderr(contains(why));
    };
    refused(&[&a[0], &a[1]], &[&a[1]], "a run is named twice");
    refused(
        &[&a[0], &a[1]],
        &[&longer],
        "the runs have 3, 4 seeds of idle, wakeup, CPU 1",
    );
    refused(
        &[&a[0], &lab],
        &[&a[1]],
        "was measured in the lab, where a run has all its seeds",
    );
    worstcase("compare")
        .args(&a[..3])
        .assert()
        .code(2)
        .stderr(contains("--to B1 B2"));
    worstcase("compare")
        .arg(&a[0])
        .assert()
        .code(2)
        .stderr(contains("--to B1 B2"));
}
