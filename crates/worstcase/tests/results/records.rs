//! From a raw record to the controller's record.

use crate::fixture::{latencies, raw, result, spec, stamps, subject};
use proptest::prelude::*;
use worstcase_contract::record::Sample;
use worstcase_contract::{Instructions, Nanos};
use worstcase_results::record::{CellResult, Quantity, RecordBuildError, Stamp};

fn error(result: Result<CellResult, RecordBuildError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn the_same_cell_gives_the_same_bytes() {
    let raw = raw(&spec("shm", 1), &latencies(1, 50_000));
    let (a, b) = (
        result(&subject("6.1", "none"), &raw),
        result(&subject("6.1", "none"), &raw),
    );
    assert_eq!(a, b);
    assert_eq!(
        serde_json::to_string(&a.record).unwrap(),
        serde_json::to_string(&b.record).unwrap()
    );
}

#[test]
fn parts_add_up_to_the_latency() {
    let raw = raw(&spec("shm", 1), &[1_000, 9_000, 2_000]);
    let record = result(&subject("6.1", "none"), &raw).record;
    let max = |q| record.summary(q).unwrap().max_ns;
    assert_eq!(
        max(Quantity::Latency),
        max(Quantity::IrqLatency) + max(Quantity::AfterIrq)
    );
    assert_eq!(record.summary(Quantity::Latency).unwrap().max_index, Some(1));
}

#[test]
fn without_stamps_there_is_only_the_latency() {
    let raw = raw(&spec("shm", 1), &[1_000; 3]);
    let record = CellResult::new(subject("6.1", "none"), &raw, &[], None).unwrap().record;
    assert!(record.summary(Quantity::Latency).is_some());
    assert!(record.summary(Quantity::IrqLatency).is_none());
    assert!(record.warnings.is_empty());
}

#[test]
fn a_timer_interrupt_that_another_cpu_took_leaves_no_quantity_of_it() {
    let raw = raw(&spec("shm", 1), &[1_000; 3]);
    let mut stamps = stamps(&raw);
    stamps[1].irq_latency = None;
    let record = CellResult::new(subject("6.1", "none"), &raw, &stamps, None)
        .unwrap()
        .record;
    assert!(record.summary(Quantity::IrqLatency).is_none());
    assert!(record.summary(Quantity::AfterIrq).is_none());
    assert!(record.summary(Quantity::Latency).is_some());
    assert_eq!(record.environment["timers_elsewhere"], "1 of 3");
    assert!(record.warnings.is_empty());
}

#[test]
fn a_cell_without_a_single_sample_is_kept() {
    let record = result(&subject("6.1", "none"), &raw(&spec("shm", 1), &[])).record;
    assert_eq!(
        record.accounting.periods().map(|p| (p.missed, p.missed_at_ends)),
        Some((1_000, 1_000))
    );
    assert!(record.summary(Quantity::Latency).is_none());
}

#[test]
fn contradictions_are_refused() {
    let good = raw(&spec("shm", 1), &[1_000; 3]);
    let build = |raw, stamps: &[Stamp]| CellResult::new(subject("6.1", "none"), raw, stamps, None);
    let mut other = good.clone();
    other.expected = 5;
    assert!(error(build(&other, &[])).contains("1000 periods asked for, 5 reported"));
    let mut other = good.clone();
    other.samples.swap(0, 1);
    assert!(error(build(&other, &[])).contains("order"));
    let mut other = good.clone();
    other.samples[2].index = 1_000;
    assert!(error(build(&other, &[])).contains("period 1000 of 1000"));
    let late = Stamp {
        irq_latency: Some(Nanos(1_001)),
        instructions: Instructions(0),
    };
    assert!(error(build(&good, &[late; 3])).contains("timer interrupt came 1001 ns"));
    assert!(error(build(&good, &[late; 2])).contains("3 samples but 2 stamps"));
}

proptest! {
    /// Every period is either a sample or missed, and runs of missed periods are found wherever they are.
    #[test]
    fn every_period_is_accounted_for(present in prop::collection::vec(any::<bool>(), 1..60)) {
        let spec = worstcase_contract::CellSpec { periods: present.len() as u32, ..spec("shm", 1) };
        let mut raw = raw(&spec, &[]);
        let taken = (0..spec.periods).filter(|i| present[*i as usize]);
        raw.samples = taken.map(|index| Sample { index, latency: Nanos(700) }).collect();
        let a = result(&subject("6.1", "none"), &raw).record.accounting;
        let a = a.periods().unwrap();
        prop_assert_eq!(a.expected, a.taken + a.missed + a.lost);
        let text: String = present.iter().map(|p| if *p { 's' } else { '.' }).collect();
        let longest = text.split('s').map(str::len).max().unwrap_or(0) as u64;
        prop_assert_eq!(a.longest_missed_run, longest);
        let inner = text.trim_matches('.').len();
        prop_assert_eq!(a.missed_at_ends, (text.len() - inner) as u64);
    }
}
