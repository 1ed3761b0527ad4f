//! What a gate must never PASS: changes that a typical seed does not show.

use crate::fixture::{host_raw, on_cpu, raw, spec, subject};
use worstcase_contract::Probe;
use worstcase_contract::prng::SplitMix64;
use worstcase_contract::{CellSpec, Instructions, Nanos};
use worstcase_results::compare::Side;
use worstcase_results::compare::gate::{Gate, gate};
use worstcase_results::compare::judged::GateLimits;
use worstcase_results::record::{CellResult, Record, Stamp, SubjectMachine};
use worstcase_results::verdict::Outcome;

const PERIODS: u32 = 2_000;
/// The seed that is changed where only one is.
const BAD: u64 = 4;

/// Seeds 1 to 8 of these loads; `kernel` 1 is the baseline's, another takes other paths. `change` may spoil a seed.
fn lab(loads: &[&str], kernel: u64, change: impl Fn(&str, u64, &mut Vec<u64>)) -> Vec<Record> {
    let mut subject = subject("6.1", "full");
    if let SubjectMachine::Lab(lab) = &mut subject.machine {
        lab.key = format!("kernel {kernel}");
    }
    let cell = |load: &str, seed: u64| {
        let mut late = quiet(seed * 77 + kernel * 1_001 + load.len() as u64, PERIODS);
        change(load, seed, &mut late);
        let raw = raw(&cell_spec(Probe::Wakeup, load, seed), &late);
        CellResult::new(subject.clone(), &raw, &[], None).unwrap().record
    };
    let of_load = |load: &&str| (1..=8).map(|seed| cell(load, seed)).collect::<Vec<_>>();
    loads.iter().flat_map(of_load).collect()
}

fn cell_spec(probe: Probe, load: &str, seed: u64) -> CellSpec {
    CellSpec {
        probe,
        periods: PERIODS,
        ..spec(load, seed)
    }
}

/// About 3 us, some 7 us, one of 80 us: the maxima of two seeds differ by up to 5 %.
fn quiet(salt: u64, periods: u32) -> Vec<u64> {
    let mut random = SplitMix64::new(salt);
    let mut late: Vec<u64> = (0..periods)
        .map(|i| if i % 25 == 3 { 7_000 } else { 3_000 } + random.below(100))
        .collect();
    late[417] = 80_000 + random.below(4_000);
    late
}

fn unchanged(_: &str, _: u64, _: &mut Vec<u64>) {}

fn judge(baseline: &[Record], run: &[Record]) -> Gate {
    let [a, b] = [baseline, run].map(Side::of_records);
    gate(&a, &b, &[], &GateLimits::default()).unwrap()
}

/// What the gate says of one load of which one seed is spoiled.
fn one_seed(spoil: impl Fn(&mut Vec<u64>)) -> Gate {
    let change = |_: &str, seed: u64, late: &mut Vec<u64>| {
        if seed == BAD {
            spoil(late);
        }
    };
    judge(&lab(&["shm"], 1, unchanged), &lab(&["shm"], 2, change))
}

#[test]
fn other_paths_alone_pass() {
    let gate = judge(
        &lab(&["shm", "fork"], 1, unchanged),
        &lab(&["shm", "fork"], 2, unchanged),
    );
    assert_eq!(gate.outcome, Outcome::Pass, "{gate:?}");
}

#[test]
fn one_seed_of_eight_500_times_as_late() {
    assert_eq!(one_seed(|late| late[417] *= 500).outcome, Outcome::Fail);
}

#[test]
fn only_missed_periods_of_one_seed() {
    assert_eq!(one_seed(|late| late.truncate(1_700)).outcome, Outcome::Fail);
}

#[test]
fn only_the_p99_of_one_seed() {
    let gate = one_seed(|late| late[500..540].iter_mut().for_each(|ns| *ns = 60_000));
    assert_eq!(gate.outcome, Outcome::Fail);
}

#[test]
fn only_the_median_of_one_seed() {
    let gate = one_seed(|late| late[500..1_800].iter_mut().for_each(|ns| *ns = 6_900));
    assert_eq!(gate.outcome, Outcome::Fail);
}

/// A hundred cells alike, of which one may be of another run.
fn hundred(usual: &[Record], odd: &[Record]) -> Vec<Record> {
    let named = |place: usize, record: &Record| {
        let mut record = record.clone();
        record.cell.load = format!("cmd:{place}");
        record
    };
    let cells = |i: usize| if i == 50 { odd } else { usual }.iter().map(move |r| named(i, r));
    (0..100).flat_map(cells).collect()
}

/// The other cells are the same to the bit, or all took other paths.
#[test]
fn one_seed_of_one_cell_among_a_hundred() {
    let late = |_: &str, seed: u64, late: &mut Vec<u64>| {
        if seed == BAD {
            late[417] *= 500;
        }
    };
    let baseline = lab(&["shm"], 1, unchanged);
    let [other_paths, bad] = [lab(&["shm"], 2, unchanged), lab(&["shm"], 2, late)];
    let mut same = baseline.clone();
    for record in &mut same {
        record.subject = bad[0].subject.clone();
    }
    for usual in [same, other_paths] {
        let gate = judge(&hundred(&baseline, &baseline), &hundred(&usual, &bad));
        assert_eq!(gate.outcome, Outcome::Fail);
        assert_eq!(gate.cells[0].how.load, "cmd:50");
    }
}

#[test]
fn one_cell_among_a_hundred() {
    let baseline = lab(&["shm"], 1, unchanged);
    let usual = lab(&["shm"], 2, unchanged);
    let bad = lab(&["shm"], 2, |_, _, late| late[417] *= 5);
    let gate = judge(&hundred(&baseline, &baseline), &hundred(&usual, &bad));
    assert_eq!(gate.outcome, Outcome::Fail);
    assert_eq!(gate.cells[0].how.load, "cmd:50");
    // Of the others six seeds are too few for a hundred cells.
    assert_eq!(gate.cells[1].outcome, Outcome::Inconclusive);
}

/// Both parts are as long as before, but now in one sample.
#[test]
fn a_response_of_which_only_the_sum_is_longer() {
    let cells = |kernel: u64, together: bool| -> Vec<Record> {
        let mut subject = subject("6.1", "full");
        if let SubjectMachine::Lab(lab) = &mut subject.machine {
            lab.key = format!("kernel {kernel}");
        }
        let cell = |seed: u64| {
            let mut random = SplitMix64::new(seed * 77 + kernel * 1_001);
            let mut parts: Vec<(u64, u64)> = (0..PERIODS)
                .map(|_| (1_000 + random.below(50), 2_000 + random.below(50)))
                .collect();
            parts[417].0 = 50_000 + random.below(1_000);
            parts[if together { 417 } else { 900 }].1 = 60_000 + random.below(1_000);
            let late: Vec<u64> = parts.iter().map(|(off, after)| off + after).collect();
            let stamp = |(i, (off, after)): (usize, &(u64, u64))| Stamp {
                irq_latency: Some(Nanos(*off)),
                instructions: Instructions(i as u64 * 251_000 + off + after),
            };
            let stamps: Vec<Stamp> = parts.iter().enumerate().map(stamp).collect();
            let raw = raw(&cell_spec(Probe::Response, "shm", seed), &late);
            CellResult::new(subject.clone(), &raw, &stamps, None).unwrap().record
        };
        (1..=6).map(cell).collect()
    };
    assert_eq!(judge(&cells(1, false), &cells(2, false)).outcome, Outcome::Pass);
    assert_eq!(judge(&cells(1, false), &cells(2, true)).outcome, Outcome::Fail);
}

/// A machine that others use too: one seed is a reason to look again, no proof, and no PASS.
#[test]
fn one_seed_of_a_host_is_inconclusive() {
    let run = |salt: u64, spoil: &dyn Fn(&mut Vec<u64>)| -> Vec<Record> {
        let cell = |seed: u64| {
            let mut late = quiet(seed * 31 + salt, 20_000);
            if seed == BAD {
                spoil(&mut late);
            }
            on_cpu(1, &host_raw(seed, &late)).record
        };
        (1..=6).map(cell).collect()
    };
    let baseline = run(0, &|_| ());
    assert_eq!(judge(&baseline, &run(9, &|_| ())).outcome, Outcome::Pass);
    let late = judge(&baseline, &run(9, &|late| late[417] *= 500));
    assert_eq!(late.outcome, Outcome::Inconclusive);
    let missed = judge(&baseline, &run(9, &|late| late.truncate(19_700)));
    assert_eq!(missed.outcome, Outcome::Inconclusive);
}

/// Counts that are 0 in nearly all seeds cannot be tested: what is worse must not be a PASS for that.
#[test]
fn what_ties_keep_from_a_test_is_no_pass() {
    let run = |salt: u64, missed: [u64; 6]| -> Vec<Record> {
        let cell = |seed: u64| {
            let late = quiet(seed * 31 + salt, 20_000 - missed[seed as usize - 1] as u32);
            on_cpu(1, &host_raw(seed, &late)).record
        };
        (1..=6).map(cell).collect()
    };
    // 9 of 12 seeds have the same value: however they were dealt out, p is 0.09 or more.
    let gate = judge(&run(0, [0, 0, 0, 8, 8, 8]), &run(9, [8; 6]));
    assert_eq!(gate.outcome, Outcome::Inconclusive, "{gate:?}");
    let reason = &gate.cells[0].reasons[0];
    assert!(reason.starts_with("missed is higher, but too many seeds"), "{reason}");
    // The other way about nothing is worse.
    let better = judge(&run(9, [8; 6]), &run(0, [0, 0, 0, 8, 8, 8]));
    assert_eq!(better.outcome, Outcome::Pass, "{better:?}");
}

/// Nothing was measured on either side: nothing is shown.
#[test]
fn cells_without_a_sample_are_no_pass() {
    let run = |kernel| lab(&["shm"], kernel, |_, _, late| late.clear());
    assert_eq!(judge(&run(1), &run(2)).outcome, Outcome::Inconclusive);
}
