//! `worstcase history`, as users type it.

use crate::fixture::{ensemble, on_cpu, raw, spec, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use std::fs;
use std::path::Path;
use worstcase_base::utc::Utc;
use worstcase_contract::prng::SplitMix64;
use worstcase_contract::{CellSpec, Nanos};
use worstcase_results::record::{CellId, CellResult, RecordOrigin};

const DAY: u64 = 86_400;
/// 2026-11-01 05:00.
const FIRST: u64 = 1_793_509_200;

fn history(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.arg("history").arg(dir).env("NO_COLOR", "1");
    command
}

/// A host's cell of this day, about so late.
fn on_day(day: u64, late: u64, kernel: &str, machine: &str, samples: usize) -> CellResult {
    let mut random = SplitMix64::new(day * 7 + late);
    let latencies: Vec<u64> = (0..samples).map(|_| late + random.below(late / 20)).collect();
    let spec = CellSpec {
        period: Nanos(3_000_000),
        periods: samples as u32,
        ..spec("idle", 1)
    };
    let mut result = on_cpu(2, &raw(&spec, &latencies));
    let record = &mut result.record;
    record.subject.kernel.release = kernel.into();
    let began = Utc::at(FIRST + day * DAY);
    record.origin = Some(RecordOrigin {
        host: machine.into(),
        machine_id: Some(format!("sha256:{machine}")),
        began,
        ended: Utc::at(began.seconds() + 60),
        system: None,
        board: None,
        firmware: None,
        governors: [("performance".to_string(), "0-3".to_string())].into(),
        isolation: Default::default(),
        mitigations: Default::default(),
        findings: Vec::new(),
        applied: None,
    });
    result
}

#[test]
fn points_of_one_minute_are_told_with_their_seconds() {
    let dir = tempfile::tempdir().unwrap();
    for second in 0..3 {
        let mut cell = on_day(0, 20_000, "6.1", "box", 2_000);
        cell.record.origin.as_mut().unwrap().began = Utc::at(FIRST + second);
        write_cells(&dir.path().join(format!("runs/{second}")), &[cell]);
    }
    let told = contains("2026-11-01 05:00:00 ").and(contains("2026-11-01 05:00:02 "));
    history(dir.path()).assert().success().stdout(told);
}

/// Seeds of a run share what its machine did then.
#[test]
fn a_run_of_several_seeds_is_one_point() {
    let dir = tempfile::tempdir().unwrap();
    for day in 0..3 {
        let seed = |seed: u64| {
            let mut cell = on_day(day, 20_000 + seed * 1_000, "6.1", "box", 2_000);
            let record = &mut cell.record;
            record.cell.seed = seed;
            record.id = CellId::new(&record.subject.id(), "idle", "wakeup", seed, Some(2));
            cell
        };
        write_cells(&dir.path().join(format!("runs/{day}")), &[seed(1), seed(2), seed(3)]);
    }
    let json = history(dir.path()).arg("--json").output().unwrap().stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let points = json["lines"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    // The median of the seeds' medians, and all their samples.
    assert_eq!(points[0]["samples"], 6_000);
    let median = points[0]["median_ns"].as_u64().unwrap();
    assert!((22_000..23_100).contains(&median), "{median}");
}

/// A run a day, twelve of one kernel and twelve of the next.
fn days(dir: &Path, samples: usize, late: impl Fn(u64) -> u64) {
    for day in 0..24 {
        let kernel = if day < 12 { "6.1.0-56-amd64" } else { "6.1.0-57-amd64" };
        write_cells(
            &dir.join(format!("runs/{day:02}")),
            &[on_day(day, late(day), kernel, "box", samples)],
        );
    }
}

#[test]
fn a_rise_is_told_with_its_dates_and_kernels_and_can_fail() {
    let dir = tempfile::tempdir().unwrap();
    days(dir.path(), 10_000, |day| if day < 12 { 40_000 } else { 60_000 });
    let picture = dir.path().join("history.svg");
    history(dir.path())
        .arg("-o")
        .arg(&picture)
        .assert()
        .success()
        .stdout(starts_with("p99.9 of wakeup under idle on CPU 2 rose from 42.0 to 63.0 us between 2026-11-12 05:00 and 2026-11-13 05:00, with kernel 6.1.0-56-amd64 → 6.1.0-57-amd64\n"))
        .stdout(contains("maximum of wakeup under idle on CPU 2 rose"))
        .stdout(contains("wakeup under idle on CPU 2\nbox, 4 x a CPU, rt (times are us)"))
        .stdout(contains("p99.9 rose, maximum rose"));
    let drawn = fs::read_to_string(&picture).unwrap();
    assert!(
        drawn.contains("kernels: 1 6.1.0-56-amd64 · 2 6.1.0-57-amd64"),
        "{drawn}"
    );
    history(dir.path()).arg("--fail-on-change").assert().code(1);
    let json = history(dir.path()).arg("--json").output().unwrap().stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["schema"], "worstcase-history/3");
    let change = &json["lines"][0]["series"][0]["changes"]["changes"][0];
    assert_eq!((&change["at"], &change["after"]), (&12.into(), &11.into()));
    let csv = history(dir.path()).arg("--csv").output().unwrap().stdout;
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 25, "{csv}");
    assert!(csv.lines().nth(13).unwrap().ends_with(",rose,rose,"), "{csv}");
    same_points(&csv, json["lines"][0]["points"].as_array().unwrap());
}

/// A run a day, each about a percent slower than the one before: a change that no run has made.
#[test]
fn a_drift_is_told_without_a_date_and_can_fail() {
    let dir = tempfile::tempdir().unwrap();
    days(dir.path(), 10_000, |day| 40_000 + 400 * day + 400 * (day * 7 % 5));
    history(dir.path())
        .assert()
        .success()
        .stdout(starts_with("p99.9 of wakeup under idle on CPU 2 drifts: from about 42.9 to about 52.7 us over the runs 2026-11-01 05:00 to 2026-11-24 05:00; no single run is to blame\n"))
        .stdout(contains("p99.9 drifted up, maximum drifted up"));
    history(dir.path()).arg("--fail-on-change").assert().code(1);
    let json = history(dir.path()).arg("--json").output().unwrap().stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let changes = &json["lines"][0]["series"][0]["changes"];
    assert_eq!(changes["answer"], "drifts");
    let drift = &changes["changes"];
    assert_eq!((&drift["from"], &drift["to"]), (&0.into(), &23.into()));
    assert_eq!((&drift["is_slow"], &json["is_worse"]), (&true.into(), &true.into()));
    let csv = history(dir.path()).arg("--csv").output().unwrap().stdout;
    let csv = String::from_utf8(csv).unwrap();
    assert!(
        csv.lines().last().unwrap().ends_with(",drifted up,drifted up,"),
        "{csv}"
    );
}

/// The level of a day is near that of the day before.
#[test]
fn a_level_that_wanders_has_no_date_and_does_not_fail() {
    let dir = tempfile::tempdir().unwrap();
    let levels = [
        38, 39, 37, 40, 43, 42, 40, 38, 37, 40, 41, 43, 46, 45, 47, 44, 42, 45, 48, 46, 44, 43, 45, 48,
    ];
    days(dir.path(), 10_000, |day| levels[day as usize] * 1_000);
    history(dir.path())
        .arg("--fail-on-change")
        .assert()
        .success()
        .stdout(contains(
            "p99.9 of wakeup under idle on CPU 2 wanders (autocorrelation 0.",
        ))
        .stdout(contains("): a date would be wrong in more than 5 of 100\n"))
        .stdout(contains("p99.9 wanders, maximum wanders"));
    let json = history(dir.path()).arg("--json").output().unwrap().stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let changes = &json["lines"][0]["series"][0]["changes"];
    assert_eq!(
        (&changes["answer"], &json["is_worse"]),
        (&"wanders".into(), &false.into())
    );
    assert!(
        changes["changes"]["autocorrelation"].as_f64().unwrap() > 0.0,
        "{changes}"
    );
}

/// The points of CSV and of JSON are the same, column by column; the text has their figures.
fn same_points(csv: &str, points: &[serde_json::Value]) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), points.len());
    for (row, point) in rows.iter().zip(points) {
        for (key, field) in header.iter().zip(row) {
            let value = match point.get(key).unwrap_or_else(|| panic!("{key}: {point:#}")) {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            // Its heading differs from line to line, and so does what it is of.
            assert!(field == value || key == "measure", "{key}: {field} {value}");
        }
    }
}

#[test]
fn no_change_and_a_fall_do_not_fail() {
    let dir = tempfile::tempdir().unwrap();
    days(dir.path(), 1_000, |_| 40_000);
    let same = history(dir.path()).arg("--fail-on-change").assert().success();
    same.stdout(contains("no change shown of p99, maximum in 24 measurements"))
        .stdout(contains("too few samples for p99.9, so it is p99"));
    let dir = tempfile::tempdir().unwrap();
    days(dir.path(), 50, |day| if day < 12 { 60_000 } else { 40_000 });
    let fell = history(dir.path()).arg("--fail-on-change").assert().success();
    fell.stdout(contains("median of wakeup under idle on CPU 2 fell"))
        .stdout(contains("so it is the median"));
}

#[test]
fn machines_are_different_lines() {
    let dir = tempfile::tempdir().unwrap();
    for (machine, late) in [("one", 40_000), ("two", 60_000)] {
        let cell = on_day(1, late, "6.1.0-56-amd64", machine, 100);
        write_cells(&dir.path().join(machine), &[cell]);
    }
    let said = history(dir.path()).assert().success();
    said.stdout(contains("wakeup under idle on CPU 2 of one (rt): one measurement only"))
        .stdout(contains("wakeup under idle on CPU 2 of two (rt): one measurement only"));
}

#[test]
fn a_maximum_of_another_length_does_not_compare() {
    let dir = tempfile::tempdir().unwrap();
    for day in 0..6 {
        let samples = if day == 5 { 1_000 } else { 100 };
        let cell = on_day(day, 40_000, "6.1.0-56-amd64", "box", samples);
        write_cells(&dir.path().join(day.to_string()), &[cell]);
    }
    let said = history(dir.path()).assert().success();
    said.stdout(contains(
        "that of 1 of 6 is not compared, they did not last about 0.3 s",
    ))
    .stdout(contains("too few measurements (6)"));
}

#[test]
fn kernels_of_the_lab_are_in_the_order_of_their_versions() {
    let dir = tempfile::tempdir().unwrap();
    for (label, factor) in [("6.12.1-amd64", 1.5), ("6.1.0-56-amd64", 1.0), ("6.6.9-amd64", 1.0)] {
        write_cells(&dir.path().join(label), &ensemble(label, "shm", 1..=3, factor));
    }
    let said = history(dir.path()).arg("--fail-on-change").assert().code(1);
    // The largest comes first.
    said.stdout(contains("rose from").and(contains("from 6.6.9-amd64 to 6.12.1-amd64\n")))
        .stdout(contains("no step above").not())
        .stdout(contains(
            "1 of its kernels are identical to the bit with the one before",
        ))
        .stdout(contains("identical\n"));
}

#[test]
fn of_one_kernel_it_is_told_what_differs() {
    let dir = tempfile::tempdir().unwrap();
    for (name, factor) in [("one", 1.0), ("two", 1.5)] {
        let mut results = ensemble("6.1.0-56-amd64", "shm", 1..=3, factor);
        results
            .iter_mut()
            .for_each(|r| r.record.subject.kernel.version = name.into());
        write_cells(&dir.path().join(name), &results);
    }
    let said = " us on 6.1.0-56-amd64, with build of the kernel ";
    history(dir.path()).assert().success().stdout(contains(said));
}

#[test]
fn small_steps_of_kernels_are_told_as_none() {
    let of = |factor: f64| {
        let dir = tempfile::tempdir().unwrap();
        for (label, factor) in [("6.1.0-56-amd64", 1.0), ("6.6.9-amd64", factor)] {
            write_cells(&dir.path().join(label), &ensemble(label, "shm", 1..=3, factor));
        }
        let said = history(dir.path()).assert().success();
        String::from_utf8(said.get_output().stdout.clone()).unwrap()
    };
    let small = of(1.05);
    assert!(
        small.contains("wakeup under shm, full: no step above 10 %; the largest: "),
        "{small}"
    );
    assert!(of(1.0).contains("wakeup under shm, full: the same of all kernels"));
    let large = of(1.2);
    assert!(!large.contains("no step above"), "{large}");
    let sentences = large.lines().take_while(|line| !line.is_empty());
    assert_eq!(
        sentences.filter(|line| line.contains(" rose from ")).count(),
        2,
        "{large}"
    );
}

#[test]
fn what_is_no_run_is_skipped_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    history(&dir.path().join("none"))
        .assert()
        .code(2)
        .stderr(contains("cannot read"));
    history(dir.path())
        .assert()
        .code(2)
        .stderr(contains("there is no run in"));
    let (good, old) = (dir.path().join("good"), dir.path().join("old"));
    write_cells(&good, &[on_day(1, 40_000, "6.1.0-56-amd64", "box", 100)]);
    fs::create_dir(&old).unwrap();
    fs::write(old.join("run.json"), r#"{"schema": "worstcase-run/1"}"#).unwrap();
    let mut undated = on_day(1, 50_000, "6.1.0-56-amd64", "box", 100);
    undated.record.origin = None;
    write_cells(&dir.path().join("undated"), &[undated]);
    let said = history(dir.path()).assert().success();
    said.stdout(contains("skipped: 2").and(contains("written by another version")))
        .stdout(contains("does not say when it was measured"));
    history(dir.path())
        .args(["-o", "history.png"])
        .assert()
        .code(2)
        .stderr(contains("ends in .svg"));
}

#[test]
fn a_damaged_run_is_no_answer_for_ci() {
    let dir = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (0..4).map(|day| dir.path().join(format!("run{day}"))).collect();
    for (day, run) in (0..).zip(&runs) {
        write_cells(run, &[on_day(day, 40_000, "6.1.0-56-amd64", "box", 100)]);
    }
    let asked = || {
        let mut command = history(dir.path());
        command.arg("--fail-on-change");
        command
    };
    asked().assert().success();
    // Another version's is whole.
    let old = dir.path().join("old");
    fs::create_dir(&old).unwrap();
    fs::write(old.join("run.json"), r#"{"schema": "worstcase-run/1"}"#).unwrap();
    asked().assert().success();

    let newest = runs.last().unwrap();
    let cell = fs::read_dir(newest.join("cells"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let files = ["record.json", "samples.parquet", "SHA256SUMS"].map(|name| cell.join(name));
    for file in files.iter().chain([&newest.join("run.json")]) {
        let whole = fs::read(file).unwrap();
        for damage in [Some(&whole[..whole.len() / 2]), Some(&b""[..]), None] {
            match damage {
                Some(bytes) => fs::write(file, bytes).unwrap(),
                None => fs::remove_file(file).unwrap(),
            }
            let output = asked().output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{}: {said}", file.display());
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(
                said.contains(newest.to_str().unwrap()) && said.contains("aside"),
                "{said}"
            );
            history(dir.path()).assert().success().stdout(contains("skipped: 2"));
        }
        fs::write(file, whole).unwrap();
    }
    asked().assert().success();
}
