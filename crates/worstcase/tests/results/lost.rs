//! What we failed to keep is a doubt: never a PASS, and never a FAIL.

use crate::fixture::{host_raw, on_cpu, plan_of, without, write_cells};
use assert_cmd::Command;
use predicates::str::contains;
use std::path::Path;
use worstcase_contract::Nanos;
use worstcase_results::record::{Accounting, CellResult, Periods, Record};
use worstcase_results::verdict::{Criterion, Outcome, Verdict, verdicts};

fn judge(result: &CellResult) -> Verdict {
    let records: [Record; 1] = [result.record.clone()];
    let criterion = Criterion::of(Nanos(100_000), &records);
    verdicts(&plan_of(std::slice::from_ref(result)).cells, &records, &criterion).remove(0)
}

fn worstcase(command: &str, run: &Path) -> Command {
    let mut worstcase = Command::cargo_bin("worstcase").unwrap();
    worstcase.env_remove("NO_COLOR").arg(command).arg(run);
    worstcase
}

fn books(result: &mut CellResult) -> &mut Periods {
    match &mut result.record.accounting {
        Accounting::Periods(periods) => periods,
        Accounting::Gaps(_) => panic!("it has periods"),
    }
}

/// 0.6 s without a sample, at a limit of 100 us: if the machine did it, it is a FAIL; if we did, nobody knows.
#[test]
fn our_own_losses_are_no_failure_of_the_machine() {
    let mut result = without(0, 1, 500..700);
    let verdict = judge(&result);
    assert_eq!(verdict.outcome, Outcome::Inconclusive, "{verdict:?}");
    assert_eq!(
        verdict.reasons,
        ["6.18.rt.host.idle.wakeup.s1.c0: 200 samples lost while measuring"]
    );
    assert_eq!((verdict.evidence.lost, verdict.evidence.missed), (Some(200), Some(0)));
    let books = books(&mut result);
    (books.missed, books.longest_missed_run, books.lost) = (200, 200, 0);
    assert_eq!(judge(&result).outcome, Outcome::Fail);
}

#[test]
fn a_late_sample_fails_whatever_was_lost() {
    let mut raw = host_raw(1, &[50_000; 20_000]);
    raw.samples[7].latency = Nanos(100_001);
    raw.samples.pop();
    let mut result = on_cpu(0, &raw);
    let books = books(&mut result);
    (books.missed, books.longest_missed_run, books.missed_at_ends, books.lost) = (0, 0, 0, 1);
    assert_eq!(judge(&result).outcome, Outcome::Fail);
}

#[test]
fn expected_is_taken_and_missed_and_lost() {
    let mut result = without(0, 1, 500..700);
    assert_eq!(result.record.check(), Ok(()));
    books(&mut result).lost -= 1;
    let error = result.record.check().unwrap_err();
    assert!(
        error.contains("20000 expected, 19800 taken, 0 missed, 199 lost"),
        "{error}"
    );
}

#[test]
fn a_gate_does_not_judge_what_was_lost() {
    let dir = tempfile::tempdir().unwrap();
    let seeds = |lost: bool| -> Vec<CellResult> {
        let of = |seed| match lost && seed == 3 {
            true => without(1, seed, 500..700),
            false => on_cpu(1, &host_raw(seed, &[50_000; 20_000])),
        };
        (1..=6).map(of).collect()
    };
    let path = |name| dir.path().join(name);
    write_cells(&path("whole"), &seeds(false));
    write_cells(&path("lossy"), &seeds(true));
    let whose = [("whole", "lossy", "the run"), ("lossy", "whole", "the baseline")];
    for (baseline, run, whose) in whose {
        worstcase("gate", &path(run))
            .arg("--baseline")
            .arg(path(baseline))
            .assert()
            .code(10)
            .stdout(contains(format!(
                "{whose}: 6.18.rt.host.idle.wakeup.s3.c1: 200 samples lost while measuring"
            )));
    }
}

#[test]
fn what_was_lost_is_told_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let mut result = without(0, 1, 500..700);
    let environment = &mut result.record.environment;
    environment.insert("lost_trace_lines".into(), "412".into());
    write_cells(&run, &[result]);
    let show = |arguments: &[&str]| {
        let output = worstcase("show", &run).args(arguments).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let text = show(&[]);
    assert!(text.contains("Missed: none of 20 000 periods."), "{text}");
    assert!(
        text.contains("Lost while measuring: 200 samples or gaps, which nobody collected in time"),
        "{text}"
    );
    assert!(text.contains("412 lines of the timerlat tracer"), "{text}");
    let cell = show(&["--cell", "6.18.rt.host.idle.wakeup.s1.c0"]);
    let sum = "20 000 expected = 19 800 taken + 0 missed + 200 lost";
    assert!(cell.contains(sum), "{cell}");
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    let ensemble = &json["ensembles"][0];
    assert_eq!((&ensemble["lost"], &ensemble["missed"]), (&200.into(), &0.into()));
    let csv = show(&["--csv"]);
    let mut lines = csv.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let lost = header.iter().position(|name| *name == "lost").unwrap();
    assert_eq!(lines.next().unwrap()[lost], "200");
}
