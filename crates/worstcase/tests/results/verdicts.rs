//! PASS, FAIL, INCONCLUSIVE from records.

use crate::fixture::{plan_of, raw, result, results, spec, subject};
use worstcase_contract::Nanos;
use worstcase_contract::RawRecord;
use worstcase_results::record::{CellResult, Record};
use worstcase_results::verdict::{Criterion, Outcome, Verdict, verdicts};

const LIMIT: Criterion = Criterion::new(Nanos(100_000));

fn judge(all: &[CellResult], criterion: Criterion) -> Vec<Verdict> {
    let records: Vec<Record> = all.iter().map(|r| r.record.clone()).collect();
    verdicts(&plan_of(all).cells, &records, &criterion)
}

/// The verdict on three seeds of 1 000 samples of 50 us, after a change to the last of them.
fn one(change: impl FnOnce(&mut RawRecord)) -> Verdict {
    let mut raws: Vec<RawRecord> = (1..=3).map(|seed| raw(&spec("shm", seed), &[50_000; 1_000])).collect();
    change(&mut raws[2]);
    let all: Vec<_> = raws.iter().map(|raw| result(&subject("6.1", "rt"), raw)).collect();
    judge(&all, LIMIT).remove(0)
}

#[test]
fn enough_samples_within_the_limit_pass() {
    let verdict = one(|_| ());
    assert_eq!(verdict.outcome, Outcome::Pass);
    insta::assert_snapshot!(verdict.reasons.join("\n"), @"at most 50.000 virtual us in 3 000 samples, 3 cells, 753 ms observed");
}

#[test]
fn one_sample_above_the_limit_fails() {
    let at_limit = one(|raw| raw.samples[700].latency = Nanos(100_000));
    assert_eq!(at_limit.outcome, Outcome::Pass);
    let above = one(|raw| raw.samples[700].latency = Nanos(100_001));
    assert_eq!(above.outcome, Outcome::Fail);
    insta::assert_snapshot!(above.reasons.join("\n"), @r#"
    100.001 virtual us (shm, wakeup, seed 3, sample 700); 1 of 3 cells are above
    1 of 3 000 periods is above, 0.03 %
    "#);
}

#[test]
fn missed_periods_that_last_longer_than_the_limit_fail() {
    let verdict = one(|raw| drop(raw.samples.drain(500..502)));
    assert_eq!(verdict.outcome, Outcome::Fail);
    insta::assert_snapshot!(verdict.reasons.join("\n"), @"2 periods of 251 us missed in a row, so at least that late (shm, wakeup, seed 3)");
}

#[test]
fn missed_periods_within_a_longer_limit_are_bounded_by_their_neighbours() {
    let raws = (1..=3).map(|seed| {
        let mut raw = raw(&spec("shm", seed), &[50_000; 1_000]);
        raw.samples.drain(500..502);
        raw
    });
    let all: Vec<_> = raws.map(|raw| result(&subject("6.1", "rt"), &raw)).collect();
    assert_eq!(
        judge(&all, Criterion::new(Nanos::from_millis(1)))[0].outcome,
        Outcome::Pass
    );
}

#[test]
fn a_pass_needs_evidence() {
    let all: Vec<_> = (1..=2)
        .map(|seed| result(&subject("6.1", "rt"), &raw(&spec("shm", seed), &[50_000; 400])))
        .collect();
    let verdict = &judge(&all, Criterion::new(Nanos(10_000_000_000)))[0];
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    insta::assert_snapshot!(verdict.reasons.join("\n"), @r#"
    shm, wakeup: 2 seeds, a PASS needs 3
    shm, wakeup: 800 samples, a PASS needs 1000
    6.1.rt.shm.wakeup.s1: 600 periods at the ends have no sample to bound them
    6.1.rt.shm.wakeup.s2: 600 periods at the ends have no sample to bound them
    "#);
}

#[test]
fn a_missing_cell_a_warning_or_another_mode_is_never_a_pass() {
    let warned = one(|raw| raw.warnings.push("memory could not be locked".into()));
    assert_eq!(warned.outcome, Outcome::Inconclusive);
    assert_eq!(warned.reasons, ["warning in 1 of 3 cells: memory could not be locked"]);

    let mut rt = subject("6.12", "rt");
    rt.preempt.in_force = "rt lazy".into();
    let all: Vec<_> = (1..=3)
        .map(|seed| result(&rt, &raw(&spec("shm", seed), &[50_000; 1_000])))
        .collect();
    assert_eq!(
        judge(&all, LIMIT)[0].outcome,
        Outcome::Pass,
        "rt, and lazy for ordinary tasks"
    );

    let mut fixed = subject("6.12", "voluntary");
    fixed.preempt.in_force = "none or voluntary".into();
    let all: Vec<_> = (1..=3)
        .map(|seed| result(&fixed, &raw(&spec("shm", seed), &[50_000; 1_000])))
        .collect();
    assert_eq!(judge(&all, LIMIT)[0].outcome, Outcome::Pass, "no other can be told");

    let mut lazy = subject("7.3", "none");
    lazy.preempt.in_force = "lazy".into();
    let all: Vec<_> = (1..=3)
        .map(|seed| result(&lazy, &raw(&spec("shm", seed), &[50_000; 1_000])))
        .collect();
    let verdict = &judge(&all, LIMIT)[0];
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert_eq!(
        verdict.reasons,
        ["preemption model none was asked for, the kernel runs lazy"]
    );

    let all = results();
    let records: Vec<Record> = all.iter().skip(1).map(|r| r.record.clone()).collect();
    let verdict = &verdicts(&plan_of(all).cells, &records, &Criterion::new(Nanos::from_millis(1)))[0];
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(
        verdict.reasons.contains(&"1 of 9 cells were not measured".to_string()),
        "{verdict:?}"
    );
}

#[test]
fn no_record_at_all_is_no_pass() {
    let verdict = &verdicts(&plan_of(results()).cells, &[], &LIMIT)[2];
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert_eq!(verdict.reasons, ["9 of 9 cells were not measured"]);
}

#[test]
fn a_failure_outweighs_every_doubt() {
    let verdict = one(|raw| {
        raw.samples[1].latency = Nanos(200_000);
        raw.warnings.push("memory could not be locked".into());
    });
    assert_eq!(verdict.outcome, Outcome::Fail);
}
