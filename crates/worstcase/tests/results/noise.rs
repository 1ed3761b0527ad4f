//! `noise` has gaps in a time that it watched, and no periods: that is what is judged, compared and told.

use crate::fixture::{noise, plan_of, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;
use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::record::{Accounting, CellResult, GapAccount, Record};
use worstcase_results::verdict::{Criterion, Outcome, Verdict, verdicts};

fn worstcase(command: &str, run: &Path) -> Command {
    let mut worstcase = Command::cargo_bin("worstcase").unwrap();
    worstcase.env_remove("NO_COLOR").arg(command).arg(run);
    worstcase
}

fn judge(result: &CellResult) -> Verdict {
    let records: [Record; 1] = [result.record.clone()];
    let criterion = Criterion {
        min_samples: 1_000_000,
        ..Criterion::of(Nanos(100_000), &records)
    };
    verdicts(&plan_of(std::slice::from_ref(result)).cells, &records, &criterion).remove(0)
}

fn gaps(result: &mut CellResult) -> &mut GapAccount {
    match &mut result.record.accounting {
        Accounting::Gaps(gaps) => gaps,
        Accounting::Periods(_) => panic!("it has gaps"),
    }
}

/// Seeds with another number of gaps each, `factor` times as long as they should be.
fn seeds(seeds: std::ops::RangeInclusive<u64>, factor: u64) -> Vec<CellResult> {
    let of = |seed: u64| {
        let mut random = SplitMix64::new(seed);
        let count = 300 + random.below(50);
        let lengths: Vec<u64> = (0..count).map(|_| factor * (3_000 + random.below(900))).collect();
        noise(1, seed, &lengths)
    };
    seeds.map(of).collect()
}

/// Few gaps are good news, not little evidence.
#[test]
fn the_longest_gap_is_judged_with_the_observation_time() {
    let mut result = noise(0, 1, &[4_000, 50_000, 7_000]);
    let pass = judge(&result);
    assert_eq!(pass.outcome, Outcome::Pass, "{pass:?}");
    assert_eq!(pass.reasons, ["at most 50.000 us in 3 gaps, 1 cell, 60 s observed"]);
    gaps(&mut result).observed_ns = 50_000_000_000;
    assert_eq!(
        judge(&result).reasons,
        ["idle, noise, CPU 0: 50 s observed, a PASS needs 60 s"]
    );
    let late = judge(&noise(0, 1, &[4_000, 100_001]));
    assert_eq!(late.outcome, Outcome::Fail);
    assert_eq!(
        late.reasons,
        ["100.001 us (idle, noise, seed 1, CPU 0, gap 1); 1 of 1 cells are above"]
    );
    let mut lossy = noise(0, 1, &[4_000]);
    gaps(&mut lossy).lost = 1;
    let lossy = judge(&lossy);
    assert_eq!(lossy.outcome, Outcome::Inconclusive);
    assert_eq!(
        lossy.reasons,
        ["6.18.rt.host.idle.noise.s1.c0: 1 gap lost while measuring"]
    );
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let good = noise(0, 1, &[4_000, 50_000]);
    assert_eq!(good.record.check(), Ok(()));
    let refused = |change: fn(&mut GapAccount)| {
        let mut bad = good.clone();
        change(gaps(&mut bad));
        bad.record.check().unwrap_err()
    };
    assert!(refused(|g| g.observed_ns = 53_000).contains("do not fit into its observation time"));
    assert!(refused(|g| g.gaps = 3).contains("number of rows"));
    assert!(refused(|g| g.max_single_ns = 49_000).contains("longest gap"));
    let mut periods = good.clone();
    periods.record.accounting = Accounting::Periods(worstcase_results::record::Periods::default());
    assert!(periods.record.check().is_err());
}

/// The number of gaps is what was measured, not how: seeds of one cell have different ones.
#[test]
fn a_baseline_of_two_seeds_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name| dir.path().join(name);
    write_cells(&path("before"), &seeds(1..=2, 1));
    write_cells(&path("after"), &seeds(3..=4, 1));
    worstcase("gate", &path("before"))
        .arg("--write-baseline")
        .arg(path("baseline.json"))
        .assert()
        .success()
        .stdout(contains("1 cells, 2 seeds"));
    worstcase("gate", &path("after"))
        .arg("--baseline")
        .arg(path("baseline.json"))
        .assert()
        .code(10)
        .stdout(contains("too few seeds to tell: 2 in the baseline, 2 in the run"));
    worstcase("compare", &path("before"))
        .arg(path("after"))
        .assert()
        .success()
        .stdout(contains("noise a second").and(contains("max single noise")));
}

#[test]
fn more_noise_fails_a_gate() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name| dir.path().join(name);
    write_cells(&path("before"), &seeds(1..=6, 1));
    write_cells(&path("same"), &seeds(7..=12, 1));
    write_cells(&path("worse"), &seeds(7..=12, 3));
    let gate = |run| {
        let mut command = worstcase("gate", &path(run));
        command.arg("--baseline").arg(path("before"));
        command.assert()
    };
    gate("same").code(0);
    let worse = contains("noise a second")
        .and(contains("max single noise"))
        .and(contains("x3."));
    gate("worse").code(10).stdout(worse.and(contains("is one draw")));
}

#[test]
fn other_thresholds_see_other_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name| dir.path().join(name);
    let mut other = seeds(1..=6, 1);
    for result in &mut other {
        result.record.cell.method.as_mut().unwrap().threshold_ns = Some(100);
    }
    write_cells(&path("before"), &seeds(1..=6, 1));
    write_cells(&path("after"), &other);
    worstcase("gate", &path("after"))
        .arg("--baseline")
        .arg(path("before"))
        .assert()
        .code(10)
        .stdout(contains("gaps from 1000 ns against").and(contains("gaps from 100 ns")));
}

#[test]
fn a_run_of_noise_is_told_in_its_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write_cells(&run, &[noise(0, 1, &[4_000, 50_000]), noise(1, 1, &[6_000])]);
    let show = |arguments: &[&str]| {
        let output = worstcase("show", &run).args(arguments).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let text = show(&[]).replace(&run.display().to_string(), "RUN");
    insta::assert_snapshot!("noise_text", text);
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    assert_eq!(json["ensembles"].as_array().map(Vec::len), Some(0));
    let first = &json["noise"][0];
    assert_eq!(first["max_single_ns"], 50_000);
    assert_eq!(first["cpu_available"], 1.0 - 54_000.0 / 60e9);
    let csv = show(&["--csv"]);
    assert!(csv.contains("noise,latency,1,,,,0,4000"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().ends_with(",60000000000,2,54000"), "{csv}");
    let cell = show(&["--cell", "6.18.rt.host.idle.noise.s1.c0"]);
    assert!(
        cell.contains("54.000 us, max single 50.000 us, 99.9999 % of the CPU available"),
        "{cell}"
    );
    assert!(cell.contains("Worst gaps") && cell.contains("began at"), "{cell}");
}
