//! `worstcase verdict`, as users and scripts type it.

use crate::fixture::{host_raw, host_result, plan, plan_of, results, write};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::prng::SplitMix64;
use worstcase_results::record::{CellResult, Run};

fn verdict(run: &Path) -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.env_remove("NO_COLOR").arg("verdict").arg(run);
    command
}

/// A finished synthetic run of the lab.
fn lab() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    write(&path);
    (dir, path)
}

/// A run of the host whose latencies are 5 us and more, exponential above with a mean of 2 us.
fn host(criterion: Option<u64>) -> (tempfile::TempDir, PathBuf, CellResult) {
    let mut random = SplitMix64::new(1);
    let latencies: Vec<u64> = (0..20_000)
        .map(|_| 5_000 + (-2_000.0 * ((random.below(1 << 50) + 1) as f64 / (1_u64 << 50) as f64).ln()) as u64)
        .collect();
    let result = host_result(&host_raw(1, &latencies));
    let mut plan = plan_of(std::slice::from_ref(&result));
    plan.experiment.criterion = criterion.map(worstcase_contract::Nanos);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    Run::create(&path, plan).unwrap().write_cell(&result).unwrap();
    (dir, path, result)
}

#[test]
fn a_percentile_is_within_a_limit_that_the_maximum_exceeds() {
    let (_dir, path) = lab();
    verdict(&path).args(["--criterion", "100us"]).assert().code(1);
    verdict(&path)
        .args(["--criterion", "p90=100us"])
        .assert()
        .code(0)
        .stdout(contains("PASS").and(contains("p90 at most ")));
    verdict(&path).args(["--criterion", "p99=1us"]).assert().code(1);
    // A percentile is never below a lower one, which enough samples bear.
    verdict(&path)
        .args(["--criterion", "p99.999=100us"])
        .assert()
        .code(1)
        .stdout(contains("FAIL          p99.999 is at least "));
    verdict(&path)
        .args(["--criterion", "p99.9=300us"])
        .assert()
        .code(10)
        .stdout(contains("too few samples bear it").and(contains("of every cell 10 000 (p99.9)")));
}

#[test]
fn a_run_that_is_not_whole_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let run = Run::create(&path, plan()).unwrap();
    results()[..2].iter().for_each(|result| run.write_cell(result).unwrap());
    drop(run);
    let next = contains("what was not measured yet").and(contains(format!("--output {}\n", path.display())));
    verdict(&path)
        .args(["--criterion", "1s"])
        .assert()
        .code(10)
        .stdout(next.and(contains("as many seeds").not()));
}

#[test]
fn the_exit_code_is_that_of_the_worst_subject() {
    let (_dir, path) = lab();
    // One of three subjects is above 100 us.
    verdict(&path)
        .args(["--criterion", "100us"])
        .assert()
        .code(1)
        .stdout(contains("PASS").and(contains("FAIL")));
    verdict(&path).args(["--criterion", "1ms"]).assert().code(0);
    fs::remove_dir_all(path.join("cells").join(plan().cells[0].id.as_str())).unwrap();
    verdict(&path)
        .args(["--criterion", "1ms"])
        .assert()
        .code(10)
        .stdout(contains("INCONCLUSIVE").and(contains("1 of 9 cells were not measured")));
    verdict(&path).args(["--criterion", "100us"]).assert().code(1);
}

#[test]
fn more_evidence_can_be_asked_for() {
    let (_dir, path) = lab();
    for (more, said) in [
        (["--min-seeds", "4"], "3 seeds, a PASS needs 4"),
        (["--min-samples", "3001"], "3000 samples, a PASS needs 3001"),
        (["--min-time", "1s"], "753 ms observed, a PASS needs 1 s"),
    ] {
        verdict(&path)
            .args(["--criterion", "1ms"])
            .args(more)
            .assert()
            .code(10)
            .stdout(contains(said));
    }
}

#[test]
fn the_runs_own_criterion_is_used_unless_another_is_given() {
    let (_dir, path, _) = host(Some(100_000));
    verdict(&path)
        .assert()
        .code(0)
        .stdout(contains("is every latency within 100 us"));
    verdict(&path).args(["--criterion", "10us"]).assert().code(1);
    let (_dir, path, _) = host(None);
    let said = contains("no criterion of its own").and(contains('\n').count(1));
    verdict(&path).assert().code(2).stdout("").stderr(said);
}

#[test]
fn how_sure_and_the_tail_in_words() {
    let (_dir, path, _) = host(Some(100_000));
    let out = verdict(&path).arg("--tail").assert().code(0);
    let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    assert!(text.lines().all(|l| l.chars().count() <= 130), "too wide:\n{text}");
    let text = text.replace(&path.display().to_string(), "RUN");
    insta::assert_snapshot!(text, @r#"
    How late is a periodic process?

    Verdict: is every latency within 100 us? (times are us)
      6.18.rt.host  PASS          at most 24.307 us in 20 000 samples, 1 cell, 60 s observed
                             but  measured without a load alone (idle): what disturbs a machine at work was not tried

    How sure
      6.18.rt.host  20 000 samples in 60 s, 1 cell; missed 0, at the ends 0, lost 0
                    real-time throttling: none; stolen by a hypervisor: at most 0.050 % of a cell's time
      A PASS needs of every load, probe and CPU 10 000 samples and 60 s observed;
      every planned cell measured, no period missed at the ends, nothing lost, no warning, no throttling, at most 0.1 % stolen.

    Tail: latencies by how seldom they are exceeded (us; an estimate, 95 % intervals)
      6.18.rt.host.idle.wakeup.s1
        321 events above 13.3 in 60 s (321 of 20 000 samples); largest 24.3
        generalized Pareto, shape -0.01 (-0.15..0.17); a fit as bad has p = 0.229
        once an hour 32.0     (25.4..59.5)       60 times the observation time
        100 us       exceeded less than once in 1.7 hours, 100 times the observation time; how seldom, the samples do not tell
      95 % if the time that was seen is typical, and what lies above the threshold has one kind of cause. An estimate from the
      paths that were taken, under this load, on this machine as it was: no bound, no ground for a PASS. Of other paths it knows
      nothing: firmware, rare errors and drivers, other loads, heat, a state that takes days to come.

    Next
      whether it stays so for weeks, at your own work
        worstcase host watch --criterion 100us
      all of it as one page, with pictures
        worstcase report RUN
    "#);
}

#[test]
fn how_sure_and_the_tail_for_programs() {
    let (_dir, path, result) = host(Some(100_000));
    let json = |arguments: &[&str]| -> serde_json::Value {
        let out = verdict(&path).arg("--json").args(arguments).assert();
        serde_json::from_slice(&out.get_output().stdout).unwrap()
    };
    let plain = json(&[]);
    assert_eq!(plain["schema"], "worstcase-verdict/5");
    assert_eq!(
        (&plain["outcome"], &plain["limit_ns"]),
        (&"PASS".into(), &100_000.into())
    );
    assert_eq!(plain["subjects"][0]["evidence"]["samples"], 20_000);
    assert_eq!(plain["needs"]["min_time_ns"], 60_000_000_000_u64);
    assert!(plain["tails"].is_null());
    let tail = &json(&["--tail"])["tails"][0];
    assert_eq!(tail["cell"], result.record.id.as_str());
    let estimate = &tail["estimate"];
    assert_eq!(estimate["samples"], 20_000);
    // Exponential: one in 1.2 million an hour is 5 us + 2 us * ln(1.2e6) = 33 us.
    let hour = &estimate["levels"][0]["latency_ns"];
    assert!(
        hour["low"].as_u64() < Some(33_000) && hour["high"].as_u64() > Some(33_000),
        "{hour}"
    );
    assert!(tail["warning"][2].as_str().unwrap().contains("firmware"));
    assert_eq!(json(&["--criterion", "10us"])["outcome"], "FAIL");
}

#[test]
fn a_tail_changes_no_verdict_and_in_the_lab_points_to_the_census() {
    let (_dir, path) = lab();
    for (limit, code) in [("1ms", 0), ("100us", 1)] {
        let mut command = verdict(&path);
        command.args(["--criterion", limit, "--tail"]);
        let said = contains("worstcase census").and(contains("once a year").not());
        command.assert().code(code).stdout(said);
    }
}

#[test]
fn a_tail_that_cannot_be_estimated_says_why() {
    let result = host_result(&host_raw(1, &[50_000; 20_000]));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let run = Run::create(&path, plan_of(std::slice::from_ref(&result))).unwrap();
    run.write_cell(&result).unwrap();
    verdict(&path)
        .args(["--criterion", "1ms", "--tail"])
        .assert()
        .code(0)
        .stdout(contains(
            "none: the largest samples are 0 events, at least 50 are needed",
        ));
}

#[test]
fn show_of_a_cell_of_the_host_has_its_tail() {
    let (_dir, path, result) = host(None);
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let shown = contains("Tail (us; an estimate")
        .and(contains("once an hour"))
        .and(contains("firmware"));
    command
        .arg("show")
        .arg(&path)
        .args(["--cell", result.record.id.as_str()])
        .assert()
        .success()
        .stdout(shown);
}

#[test]
fn bad_input_is_one_line_and_two() {
    let (dir, path) = lab();
    let hostile = dir.path().join("a\n\x1b[31mred\u{202e}");
    fs::create_dir(&hostile).unwrap();
    let one_line =
        || predicate::function(|text: &str| text.lines().count() == 1 && !text.contains(['\x1b', '\u{202e}']));
    for folder in [dir.path(), &dir.path().join("nothing"), &hostile] {
        verdict(folder)
            .args(["--criterion", "1ms"])
            .assert()
            .code(2)
            .stdout("")
            .stderr(one_line().and(contains("is not a run")));
    }
    for bad in [
        ["--criterion", "100"],
        ["--criterion", "-1us"],
        ["--min-seeds", "0"],
        ["--min-samples", "many"],
        ["--min-time", "1 hour"],
    ] {
        verdict(&path).args(bad).assert().code(2).stdout("");
    }
    fs::write(
        path.join("cells").join(plan().cells[3].id.as_str()).join("record.json"),
        "{}",
    )
    .unwrap();
    verdict(&path)
        .args(["--criterion", "100us"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(one_line().and(contains("is damaged")));
}

#[test]
fn words_of_a_record_never_steer_the_terminal() {
    let mut raw = host_raw(1, &[50_000; 20_000]);
    raw.warnings.push("\x1b[2Jgone\r\n".into());
    let result = host_result(&raw);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut plan = plan_of(std::slice::from_ref(&result));
    plan.title = "a\x1b]0;title\x07".into();
    Run::create(&path, plan).unwrap().write_cell(&result).unwrap();
    verdict(&path)
        .args(["--criterion", "1ms", "--tail"])
        .assert()
        .code(10)
        .stdout(contains('\x1b').not().and(contains("gone")));
}
