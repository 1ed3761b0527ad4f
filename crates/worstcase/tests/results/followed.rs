//! Runs of a program that was followed: what every command makes of them.

use crate::fixture::host;
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_host::follow::CycleTimes;
use worstcase_host::follow::keep::{FollowedCycles, FollowedMachine, keep};
use worstcase_host::spec::ThreadScheduling;
use worstcase_plan::SchedulingPolicy;
use worstcase_results::record::build::samples_file;
use worstcase_results::record::parquet::{FileLabels, encode};
use worstcase_results::record::{CellResult, FollowCommand, FollowedProgram, Quantity, RecordOrigin, Run};

const PERIOD: u64 = 4_000_000;
const FOUND: &str = r#"{"sentences": ["3 of 4 late cycles: servo waited for a mutex that logger held."]}"#;

fn machine() -> FollowedMachine {
    FollowedMachine {
        subject: host("6.18"),
        origin: RecordOrigin {
            host: "rtbox".into(),
            machine_id: None,
            began: Utc::at(1_700_000_000),
            ended: Utc::at(1_700_000_080),
            system: None,
            board: None,
            firmware: None,
            governors: BTreeMap::new(),
            isolation: BTreeMap::new(),
            mitigations: BTreeMap::new(),
            findings: Vec::new(),
            applied: None,
        },
        environment: BTreeMap::new(),
    }
}

/// 20 000 cycles in 80 s that last 300 us and some, each with what it is made of.
fn cycles(seed: u64, longer: u64) -> Vec<CycleTimes> {
    let mut random = SplitMix64::new(seed);
    let cycle = |index: u32| {
        let release = Nanos(1_000_000_000 + u64::from(index) * PERIOD);
        let (late, blocked) = (random.below(20_000), random.below(50_000) + longer);
        CycleTimes {
            index,
            release,
            start: release + Nanos(late),
            end: release + Nanos(late + blocked + 250_000),
            execution: Nanos(240_000),
            interference: Nanos(late),
            blocked: Nanos(blocked),
            unexplained: Nanos(10_000),
        }
    };
    (0..20_000).map(cycle).collect()
}

fn followed(cycles: &[CycleTimes]) -> FollowedCycles<'_> {
    FollowedCycles {
        program: FollowedProgram {
            program: "motion".into(),
            command: vec!["./motion".into(), "--axis=2".into()],
            pid: 4_242,
            tid: 4_243,
            thread: "servo".into(),
            asked: None,
            observed_ns: 80_000_000_000,
        },
        scheduling: ThreadScheduling::new(SchedulingPolicy::Fifo, 80),
        cpus: vec![2, 3],
        load: None,
        period: Some(Nanos(PERIOD)),
        cycles,
        missed: 0,
        deadline: Some(Nanos(1_000_000)),
        lost_events: 0,
        trace_cost: None,
        recorder: None,
        throttled: Some(false),
        steal: Some(Nanos(0)),
        warnings: Vec::new(),
        command: FollowCommand {
            options: vec!["--deadline".into(), "1ms".into()],
            program: vec!["./motion".into(), "--axis=2".into()],
        },
        found: Some(FOUND),
    }
}

/// A folder, and the run in it.
fn kept(change: impl FnOnce(&mut FollowedCycles)) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let cycles = cycles(1, 0);
    let mut of = followed(&cycles);
    change(&mut of);
    keep(&path, &machine(), &of).unwrap();
    (dir, path)
}

fn worstcase(arguments: &[&str], run: &Path) -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.env_remove("NO_COLOR").args(arguments).arg(run);
    command
}

fn said(command: &mut Command, code: i32) -> String {
    let out = command.assert().code(code).get_output().stdout.clone();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_kept_is_read_back() {
    let (_dir, path) = kept(|_| ());
    let run = Run::open(&path).unwrap();
    let records = run.records().unwrap();
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!(record.id.as_str(), "6.18.rt.host.unknown.follow-motion.servo.s1");
    assert_eq!(record.observation_time(), Nanos(80_000_000_000));
    let mut rows = Vec::new();
    run.for_each_sample(record, |row| rows.push(row)).unwrap();
    let expected = cycles(1, 0);
    assert_eq!(rows.len(), expected.len());
    for (row, cycle) in rows.iter().zip(&expected) {
        assert_eq!((row.index, row.due), (cycle.index, cycle.release));
        assert_eq!(row.latency, cycle.response());
        let parts = row.cycle.unwrap();
        assert_eq!(parts.start, cycle.start - cycle.release);
        assert_eq!(
            parts.execution + parts.interference + parts.blocked + parts.unexplained,
            row.latency
        );
    }
    for quantity in Quantity::OF_CYCLES {
        assert_eq!(record.summary(quantity).unwrap().count, 20_000, "{quantity}");
    }
    assert_eq!(
        run.command().join(" "),
        format!(
            "worstcase host follow --deadline 1ms --output {} -- ./motion --axis=2",
            path.display()
        )
    );
}

#[test]
fn this_machine_is_told_as_any_run_of_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let here = FollowedMachine::of_here().at(Utc::at(1_700_000_000), Utc::at(1_700_000_080));
    let run = keep(&path, &here, &followed(&cycles(1, 0))).unwrap();
    let record = run.records().unwrap().remove(0);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(record.subject.kernel.release, release.trim());
    assert!(record.environment.contains_key("boot_id"));
    assert_eq!(record.origin.unwrap().ended, Utc::at(1_700_000_080));
    drop(run);
    worstcase(&["show"], &path).assert().code(0);
}

#[test]
fn parts_that_are_not_those_of_the_record_are_refused() {
    let (_dir, path) = kept(|_| ());
    let run = Run::open(&path).unwrap();
    let mut record = run.records().unwrap().remove(0);
    let mut rows = Vec::new();
    run.for_each_sample(&record, |row| rows.push(row)).unwrap();
    for row in &mut rows {
        if let Some(cycle) = &mut row.cycle {
            (cycle.blocked, cycle.execution) = (cycle.execution, cycle.blocked);
        }
    }
    let labels = FileLabels::new(&record.id, &record.subject).of_cycles();
    let samples = encode(&rows, &labels, &record.accounting).unwrap();
    record.samples = samples_file(&samples, rows.len() as u64);
    fs::remove_dir_all(run.cell_dir(&record.id)).unwrap();
    let run = Run::create(&path, run.plan().clone()).unwrap();
    run.write_cell(&CellResult {
        record,
        samples,
        found: None,
    })
    .unwrap();
    drop(run);
    let refused = worstcase(&["show", "--samples"], &path).assert().code(2);
    refused.stderr(contains("its execution is another"));
}

#[test]
fn show_names_the_program_and_tells_its_response_in_parts() {
    let (_dir, path) = kept(|_| ());
    let text = said(&mut worstcase(&["show"], &path), 0).replace(&path.display().to_string(), "RUN");
    insta::assert_snapshot!(text, @r"
    motion, thread servo (4243), followed
    on rtbox: a CPU, 4 CPUs; kernel 6.18 rt host; 2023-11-14T22:13:20Z to 2023-11-14T22:14:40Z

    Verdict: is every latency within 1 ms? (times are us)
      6.18.rt.host  PASS          at most 319.595 us in 20 000 samples, 1 cell, 80 s observed

    motion, thread servo (4243): 80 s, every 4 ms, fifo:80, on CPUs 2-3

    response: timer due, or woken, to the end of the cycle's work (us)
            min  median  p99  p99.9  p99.99  max  above limit  samples  missed  lost
    servo   250     285  316    319       -  320            0   20 000       0     0

    parts of the response (us)
                                                                   median   p99   max
    execution: the thread ran                                         240   240   240
    interference: ready, and something else had the CPU              9.80  19.8  20.0
    blocked: waited for another thread, or a device                  25.0  49.5  50.0
    unexplained: not told by the trace                               10.0  10.0  10.0
    response: all of them                                             285   316   320
    start: timer due, or woken, to the begin of the cycle's work     9.80  19.8  20.0
    Missed: none of 20 000 periods.

    Next
      where the time of its latest cycles went
        worstcase explain RUN
      all of it as one page, with pictures
        worstcase report RUN
    ");
    let cell = ["show", "--cell", "follow-motion"];
    worstcase(&cell, &path).assert().code(0).stdout(
        contains("motion, thread servo (4243)")
            .and(contains("./motion --axis=2"))
            .and(contains(
                "response: timer due, or woken, to the end of the cycle's work",
            ))
            .and(contains("interference: ready, and something else had the CPU"))
            .and(contains("execution  interference  blocked  unexplained")),
    );
    let json: serde_json::Value = serde_json::from_str(&said(&mut worstcase(&["show", "--json"], &path), 0)).unwrap();
    assert_eq!(json["followed"][0]["thread"], "servo");
    let csv = said(&mut worstcase(&["show", "--csv"], &path), 0);
    assert_eq!(csv.lines().count(), 1 + Quantity::OF_CYCLES.len());
}

#[test]
fn the_deadline_is_the_criterion() {
    let (_dir, path) = kept(|_| ());
    let passed = worstcase(&["verdict"], &path).assert().code(0);
    passed.stdout(contains("is every latency within 1 ms").and(contains("PASS")));
    let failed = worstcase(&["verdict", "--criterion", "300us"], &path).assert().code(1);
    failed.stdout(contains("FAIL").and(contains("follow:motion.servo")));
    let (_dir, path) = kept(|of| of.trace_cost = Some(Nanos(30_000)));
    let failed = worstcase(&["verdict", "--criterion", "300us"], &path).assert().code(1);
    failed.stdout(contains(
        "30.0 us later: without it, the latest cycle may have kept the limit",
    ));
    let (_dir, path) = kept(|of| of.cycles = &[]);
    worstcase(&["show"], &path).assert().code(0);
    worstcase(&["verdict"], &path).assert().code(10);
    let (_dir, path) = kept(|of| of.deadline = None);
    let without = worstcase(&["verdict"], &path).assert().code(2);
    without.stderr(contains("no criterion of its own"));
}

#[test]
fn missed_periods_and_lost_events_are_no_pass() {
    let mut late = cycles(1, 0);
    late[99].end = late[99].release + Nanos(2 * PERIOD + PERIOD / 2);
    late[99].blocked = late[99].response() - Nanos(250_000) - late[99].interference;
    late.drain(100..102);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let missed = FollowedCycles {
        missed: 2,
        deadline: Some(Nanos(20_000_000)),
        ..followed(&late)
    };
    let run = keep(&path, &machine(), &missed).unwrap();
    let periods = *run.records().unwrap()[0].accounting.periods().unwrap();
    assert_eq!((periods.expected, periods.taken, periods.missed), (20_000, 19_998, 2));
    assert_eq!((periods.lost, periods.longest_missed_run), (0, 2));
    // All three periods are above 1 ms: the late one, and those that it made late.
    let failed = worstcase(&["verdict", "--criterion", "1ms"], &path).assert().code(1);
    failed.stdout(contains("2 periods of 4 ms missed in a row").and(contains("3 of 20 000 periods are above")));

    let (_dir, path) = kept(|of| of.lost_events = 7);
    let doubted = worstcase(&["verdict"], &path).assert().code(10);
    doubted.stdout(contains("INCONCLUSIVE").and(contains("7 events of the trace lost")));
    // Periods without a cycle that no cycle was late for.
    let mut some = cycles(1, 0);
    some.drain(500..510);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    keep(&path, &machine(), &followed(&some)).unwrap();
    let doubted = worstcase(&["verdict"], &path).assert().code(10);
    doubted.stdout(contains("10 samples lost while measuring"));
}

#[test]
fn a_thread_without_a_period_is_judged_by_the_time_that_it_was_followed() {
    let (_dir, path) = kept(|of| of.period = None);
    let text = said(&mut worstcase(&["verdict"], &path), 0);
    assert!(text.contains("20 000 samples, 1 cell, 80 s observed"), "{text}");
    let text = said(&mut worstcase(&["show"], &path), 0);
    assert!(text.contains("80 s, no period, fifo:80"), "{text}");
    said(&mut worstcase(&["show", "--cell", "follow"], &path), 0);
}

/// Runs before a change that makes each cycle as much longer, and after it; scheduling and CPUs differ, as a user may try.
fn before_and_after(longer: u64) -> (tempfile::TempDir, [Vec<PathBuf>; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let side = |name: &str, seed: u64, longer: u64, priority: u8| {
        let one = |n: u64| {
            let path = dir.path().join(format!("{name}{n}"));
            let cycles = cycles(seed + n, longer);
            let of = FollowedCycles {
                scheduling: ThreadScheduling::new(SchedulingPolicy::Fifo, priority),
                cpus: vec![n as u32],
                // As it is found, and not as it is asked for.
                period: Some(Nanos(PERIOD + n)),
                cycles: &cycles[..cycles.len() - n as usize],
                ..followed(&[])
            };
            keep(&path, &machine(), &of).unwrap();
            path
        };
        (0..5).map(one).collect::<Vec<_>>()
    };
    let sides = [side("a", 10, 0, 80), side("b", 20, longer, 40)];
    (dir, sides)
}

#[test]
fn two_runs_compare_and_a_gate_catches_the_longer_one() {
    let (_dir, [a, b]) = before_and_after(200_000);
    let compared = said(worstcase(&["compare"], &a[0]).arg(&b[1]), 0);
    assert!(compared.contains("follow:motion.servo"), "{compared}");
    assert!(!compared.contains("not measured alike"), "{compared}");
    let baseline = a[0].with_file_name("baseline.json");
    let mut write = worstcase(&["gate", "--write-baseline"], &baseline);
    write.args(&a).assert().code(0);
    let gate = |runs: &[PathBuf]| {
        let mut command = worstcase(&["gate", "--baseline"], &baseline);
        command.args(runs);
        command
    };
    gate(&b).assert().code(1).stdout(contains("FAIL"));
    gate(&a).assert().code(0).stdout(contains("PASS"));
}

#[test]
fn runs_of_a_program_are_one_line_of_history() {
    let (dir, _) = before_and_after(0);
    let json: serde_json::Value =
        serde_json::from_str(&said(&mut worstcase(&["history", "--json"], dir.path()), 0)).unwrap();
    let lines = json["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{json}");
}

#[test]
fn a_page_and_pictures_are_made_of_it() {
    let (dir, path) = kept(|_| ());
    let page = dir.path().join("page.html");
    worstcase(&["report", "--output"], &page).arg(&path).assert().code(0);
    let text = fs::read_to_string(&page).unwrap();
    for word in ["follow:motion.servo", "motion, thread servo (4243)", "Longest response"] {
        assert!(text.contains(word), "the page lacks {word}");
    }
    let pictures = dir.path().join("pictures");
    worstcase(&["plot", "--output"], &pictures).arg(&path).assert().code(0);
}

#[test]
fn explain_tells_what_was_found_then() {
    let (_dir, path) = kept(|_| ());
    let told = contains("motion, thread servo (4243)").and(contains("servo waited for a mutex that logger held"));
    worstcase(&["explain"], &path)
        .assert()
        .code(0)
        .stdout(told.and(contains("follow.json")));
    worstcase(&["explain", "--json"], &path).assert().code(0).stdout(FOUND);
    let refused = worstcase(&["explain", "--sample", "p50"], &path).assert().code(2);
    refused.stderr(contains("leave out").and(contains('\n').count(1)));
    let (_dir, path) = kept(|of| of.found = None);
    worstcase(&["explain"], &path)
        .assert()
        .code(2)
        .stderr(contains("follow it again"));
    let (_dir, path) = kept(|_| ());
    let file = path.join("cells/6.18.rt.host.unknown.follow-motion.servo.s1/follow.json");
    fs::write(&file, "{}").unwrap();
    worstcase(&["explain"], &path)
        .assert()
        .code(2)
        .stderr(contains("is damaged"));
}

#[test]
fn nobody_measures_it_by_its_name() {
    let mut help = Command::cargo_bin("worstcase").unwrap();
    let refused = help.args(["probes", "follow"]).assert().code(2);
    refused.stderr(contains("worstcase host follow measures it"));
    for venue in ["host", "lab"] {
        let mut command = Command::cargo_bin("worstcase").unwrap();
        command.args([venue, "run", "--probe", "follow"]);
        if venue == "lab" {
            command.args(["--kernel", "debian:6.1"]);
        }
        let refused = command.assert().code(2).stdout("");
        refused.stderr(contains("worstcase host follow measures it"));
    }
}

/// What was found of a thousand cycles: of late ones with this futex and thread, and of others.
fn found(futex: &str, thread: u32, waited: u64, computed: u64) -> &'static str {
    let waits = "servo waited in futex for logger (SCHED_OTHER), which ran";
    let there = format!("servo waited in futex({futex}) for logger (thread {thread}, SCHED_OTHER), which ran");
    let own = "servo ran its own code";
    json!({
        "sentences": [format!("{} of 1 000 cycles end late.", waited + computed)],
        "cycles": 1_000,
        "causes": [
            {"cycles": computed, "sentence": own, "in_any_run": own, "longest_ns": 300_000},
            {"cycles": waited, "sentence": there, "in_any_run": waits, "longest_ns": 700_000},
        ],
        "parts": [
            {"sentence": own, "in_any_run": own, "sum_ns": 250_000_000},
            {"sentence": there, "in_any_run": waits, "sum_ns": waited * 400_000},
        ],
    })
    .to_string()
    .leak()
}

#[test]
fn the_causes_of_all_late_cycles_are_a_table_the_most_frequent_first() {
    let found = found("0x7f00", 77, 30, 4);
    let (_dir, path) = kept(|followed| followed.found = Some(found));
    let told = said(&mut worstcase(&["explain", "--all"], &path), 0);
    assert!(told.starts_with("Why cycles were late on "), "{told}");
    let rows: Vec<&str> = told.lines().filter(|line| line.contains("servo ")).collect();
    assert_eq!(rows.len(), 2, "{told}");
    assert!(
        rows[0].contains("700") && rows[0].contains(" 30 ") && rows[0].contains("thread 77"),
        "{told}"
    );
    assert!(
        rows[1].contains("300") && rows[1].contains(" 4 ") && rows[1].contains("its own code"),
        "{told}"
    );

    let listed = said(&mut worstcase(&["explain", "--all", "--json"], &path), 0);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed, [serde_json::from_str::<Value>(found).unwrap()]);

    let none = r#"{"sentences": [], "cycles": 5}"#;
    let (_dir, path) = kept(|followed| followed.found = Some(none));
    assert_eq!(
        said(&mut worstcase(&["explain", "--all"], &path), 0),
        "no cycle was late\n"
    );
}

#[test]
fn of_two_runs_the_cause_that_grew_stands_first_whatever_ids_its_threads_have() {
    let (before, after) = (found("0x7f00", 77, 10, 4), found("0x55aa", 1_234, 60, 5));
    let (_left, left) = kept(|followed| followed.found = Some(before));
    let (_right, right) = kept(|followed| followed.found = Some(after));
    let other = right.to_str().unwrap();
    let told = said(&mut worstcase(&["explain", "--compare", other], &left), 0);
    assert!(
        told.contains("14 of 1 000 cycles") && told.contains("65 of 1 000 cycles"),
        "{told}"
    );
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = told.lines().filter(|line| line.contains("servo ")).map(words).collect();
    let starts = |row: &[String], with: &[&str]| assert_eq!(row[..with.len()], *with, "{told}");
    starts(
        &rows[0],
        &["10.0", "60.0", "+50.0", "servo", "waited", "in", "futex", "for"],
    );
    starts(&rows[1], &["4.0", "5.0", "+1.0", "servo", "ran"]);
    starts(&rows[2], &["4.000", "24.000", "+20.000", "servo", "waited"]);
    assert_eq!(rows.len(), 4, "{told}");

    let listed = said(&mut worstcase(&["explain", "--json", "--compare", other], &left), 0);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&listed).unwrap().len(), 2);
    let refused = |arguments: &[&str], why: &str| {
        let text = worstcase(arguments, &left).assert().code(2).get_output().stderr.clone();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().count() == 1 && text.contains(why), "{text}");
    };
    refused(
        &["explain", "--compare", other, "--sample", "p50"],
        "all cycles are compared",
    );
    let elsewhere = left.parent().unwrap().to_str().unwrap();
    worstcase(&["explain", "--compare", elsewhere], &left)
        .assert()
        .failure();
}
