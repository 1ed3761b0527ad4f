//! Seeds of one cell put together.

use crate::fixture::{host_raw, latencies, on_cpu, raw, result, results, spec, subject};
use proptest::prelude::*;
use worstcase_contract::Nanos;
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::{Ensemble, ensembles};

fn records(maxima: &[u64]) -> Vec<Record> {
    let record = |(i, max): (usize, &u64)| {
        let values: Vec<u64> = (0..999).map(|_| 1_000).chain([*max]).collect();
        result(&subject("6.1", "rt"), &raw(&spec("shm", i as u64 + 1), &values)).record
    };
    maxima.iter().enumerate().map(record).collect()
}

fn one(maxima: &[u64]) -> Ensemble {
    let mut all = ensembles(&records(maxima), Quantity::Latency);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn maxima_carry_their_spread_and_observation_time() {
    let e = one(&[9_000, 4_000, 7_000, 5_000, 8_000, 6_000]);
    assert_eq!(
        (e.least_max(), e.median_max(), e.max()),
        (Nanos(4_000), Nanos(6_000), Nanos(9_000))
    );
    assert_eq!((e.worst().seed, e.worst().max_index), (1, Some(999)));
    let interval = e.median_max_interval().unwrap();
    assert_eq!(
        (interval.low, interval.high, interval.coverage),
        (Nanos(4_000), Nanos(9_000), 0.9688)
    );
    assert_eq!((e.taken(), e.missed()), (6_000, Some(0)));
    assert_eq!(e.observation_time(), Nanos(6 * 1_000 * 251_000));
    assert_eq!(e.p99(), Some(Nanos(1_000)));
}

#[test]
fn a_p99_needs_every_seed_to_bear_it() {
    let mut all = records(&[9_000, 4_000]);
    let short = raw(&spec("shm", 3), &latencies(3, 9_000)[..999]);
    all.push(result(&subject("6.1", "rt"), &short).record);
    let e = &ensembles(&all, Quantity::Latency)[0];
    assert_eq!((e.p99(), e.missed(), e.seeds.len()), (None, Some(1), 3));
}

/// Two CPUs of one seed are two places, not two seeds.
#[test]
fn cpus_of_a_host_are_no_seeds() {
    let record = |cpu: u32, seed: u64| {
        on_cpu(
            cpu,
            &host_raw(seed, &vec![10_000 * (u64::from(cpu) + 1) + seed; 20_000]),
        )
        .record
    };
    let all = [record(0, 1), record(1, 1), record(0, 2), record(1, 2)];
    let of_cpus: Vec<_> = ensembles(&all, Quantity::Latency)
        .iter()
        .map(|e| (e.cpu, e.seeds.iter().map(|s| s.seed).collect::<Vec<_>>(), e.max()))
        .collect();
    assert_eq!(
        of_cpus,
        [
            (Some(0), vec![1, 2], Nanos(10_002)),
            (Some(1), vec![1, 2], Nanos(20_002))
        ]
    );
    let one_seed = ensembles(&all[..2], Quantity::Latency);
    assert!(one_seed.iter().all(|e| e.median_max_interval().is_none()));
}

#[test]
fn subjects_loads_and_probes_are_kept_apart() {
    let all: Vec<Record> = results().iter().map(|r| r.record.clone()).collect();
    let names: Vec<String> = ensembles(&all, Quantity::IrqLatency)
        .iter()
        .map(|e| format!("{} {}", e.subject, e.load))
        .collect();
    assert_eq!(names.len(), 9);
    assert_eq!(names[0], "6.1.0-50-amd64.none shm");
    assert_eq!(names[8], "6.1.0-50-rt-amd64.rt fork");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// The order in which cells ran, or were resumed, changes no figure.
    #[test]
    fn order_does_not_matter(maxima in prop::collection::vec(2_000_u64..1_000_000, 1..6)) {
        let mut all = records(&maxima);
        let forward = ensembles(&all, Quantity::Latency);
        all.reverse();
        prop_assert_eq!(ensembles(&all, Quantity::Latency), forward);
    }
}
