//! Verdicts on a real machine, where other things count than in the lab.

use crate::fixture::{host_raw, on_cpu, plan_of};
use worstcase_contract::Nanos;
use worstcase_contract::RawRecord;
use worstcase_results::record::{CellResult, Record};
use worstcase_results::verdict::{Criterion, Outcome, Verdict, verdicts};

fn judge(all: &[CellResult], criterion: impl FnOnce(Criterion) -> Criterion) -> Verdict {
    let records: Vec<Record> = all.iter().map(|r| r.record.clone()).collect();
    let criterion = criterion(Criterion::of(Nanos(100_000), &records));
    verdicts(&plan_of(all).cells, &records, &criterion).remove(0)
}

/// Two CPUs of a minute each; the second one is changed.
fn two(change: impl FnOnce(&mut RawRecord)) -> Verdict {
    let mut second = host_raw(1, &[50_000; 20_000]);
    change(&mut second);
    let first = host_raw(1, &[50_000; 20_000]);
    judge(&[on_cpu(0, &first), on_cpu(1, &second)], |c| c)
}

fn says(key: &str, value: &str) -> impl FnOnce(&mut RawRecord) {
    move |raw| drop(raw.environment.insert(key.into(), value.into()))
}

#[test]
fn a_quiet_minute_on_each_cpu_passes() {
    let verdict = two(|_| ());
    assert_eq!(verdict.outcome, Outcome::Pass, "{verdict:?}");
    assert_eq!(
        verdict.reasons,
        ["at most 50.000 us in 40 000 samples, 2 cells, 120 s observed"]
    );
    assert_eq!(verdict.evidence.throttled_cells, Some(0));
    assert_eq!(verdict.evidence.steal_share, Some(0.0005));
}

#[test]
fn what_interferes_or_is_not_known_is_no_pass() {
    let inconclusive = |verdict: Verdict, reason: &str| {
        assert_eq!(verdict.outcome, Outcome::Inconclusive);
        assert_eq!(verdict.reasons, [reason]);
    };
    inconclusive(
        two(says("rt_throttled", "3")),
        "the kernel held real-time threads back (throttling) in 1 of 2 cells",
    );
    inconclusive(
        two(|raw| drop(raw.environment.remove("rt_throttled"))),
        "whether the kernel held real-time threads back (throttling) is not known in 1 of 2 cells",
    );
    inconclusive(
        two(says("steal_ns", "600000000")),
        "6.18.rt.host.idle.wakeup.s1.c1: the hypervisor took 1.00 % of the time, a PASS allows 0.1 %",
    );
    inconclusive(
        two(says("steal_ns", "some")),
        "the time that a hypervisor took is not known in 1 of 2 cells",
    );
    inconclusive(
        two(|raw| raw.warnings.push("SCHED_FIFO was refused".into())),
        "warning in 1 of 2 cells: SCHED_FIFO was refused",
    );
}

#[test]
fn stolen_time_is_a_share_of_what_was_measured() {
    // Without measured_ns it is a share of all periods: 60 s too.
    let unmeasured = two(|raw| drop(raw.environment.remove("measured_ns")));
    assert_eq!(unmeasured.outcome, Outcome::Pass);
    assert_eq!(two(says("measured_ns", "0")).outcome, Outcome::Inconclusive);
    let exactly = two(says("steal_ns", "60000000"));
    assert_eq!(exactly.outcome, Outcome::Pass, "{exactly:?}");
    assert_eq!(two(says("steal_ns", "60000001")).outcome, Outcome::Inconclusive);
}

/// A cell with 27 s of observation time.
fn short(seed: u64) -> RawRecord {
    let mut short = host_raw(seed, &[50_000; 20_000]);
    short.spec = short.spec.replace("20000", "9000");
    short.expected = 9_000;
    short.samples.truncate(9_000);
    short
}

#[test]
fn every_cpu_answers_for_itself() {
    let all = [on_cpu(0, &host_raw(1, &[50_000; 20_000])), on_cpu(1, &short(1))];
    let verdict = judge(&all, |c| c);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert_eq!(
        verdict.reasons,
        [
            "idle, wakeup, CPU 1: 9000 samples, a PASS needs 10000",
            "idle, wakeup, CPU 1: 27 s observed, a PASS needs 60 s",
        ]
    );
    let less = |c| Criterion {
        min_samples: 1_000,
        min_time: Nanos::from_millis(20_000),
        ..c
    };
    assert_eq!(judge(&all, less).outcome, Outcome::Pass);
    // Two CPUs are two cells, but one seed.
    let seeds = |c| Criterion {
        min_seeds: 2,
        ..less(c)
    };
    assert_eq!(judge(&all, seeds).reasons, ["idle, wakeup: 1 seed, a PASS needs 2"]);
}

#[test]
fn the_seeds_of_a_cpu_add_up() {
    let all = [1, 2, 3].map(|seed| on_cpu(0, &short(seed)));
    assert_eq!(judge(&all, |c| c).outcome, Outcome::Pass);
    assert_eq!(
        judge(&all[..2], |c| c).reasons,
        ["idle, wakeup, CPU 0: 54 s observed, a PASS needs 60 s"]
    );
}

#[test]
fn a_late_sample_fails_whatever_interfered() {
    let verdict = two(|raw| {
        raw.samples[7].latency = Nanos(100_001);
        raw.environment.clear();
    });
    assert_eq!(verdict.outcome, Outcome::Fail);
    assert_eq!(
        verdict.reasons,
        [
            "100.001 us (idle, wakeup, seed 1, CPU 1, sample 7); 1 of 2 cells are above",
            "1 of 40 000 periods is above, 0.003 %",
        ]
    );
    assert_eq!(
        (verdict.evidence.throttled_cells, verdict.evidence.steal_share),
        (None, None)
    );
}

/// A lab machine is alone: what it says of itself there is not asked for.
#[test]
fn the_lab_is_not_asked_for_stolen_time() {
    let record = &crate::fixture::results()[0].record;
    let verdict = &verdicts(
        &plan_of(&crate::fixture::results()[..1]).cells,
        std::slice::from_ref(record),
        &Criterion {
            min_seeds: 1,
            ..Criterion::new(Nanos::from_millis(1))
        },
    )[0];
    assert_eq!(verdict.outcome, Outcome::Pass);
    assert_eq!(
        (verdict.evidence.throttled_cells, verdict.evidence.steal_share),
        (None, None)
    );
}
