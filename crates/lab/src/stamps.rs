//! Joins the plugin's events to the guest's samples: when was the timer interrupt entered that led to each sample?
//!
//! The guest reads its clock for sample *i* at an instruction that the plugin logged (`UserTsc`, just before the mark
//! of the sample), so that instruction count and clock are known at one point. From there back, every instruction is
//! 2^shift ns of virtual time, as long as the CPU did not idle; between due time and sample it cannot, since the
//! timer's interrupt is pending. An entry from before the due time comes out too late by the time idled, but still
//! before the due time: the instructions between it and the sample alone are more than the latency.
//!
//! With several CPUs the log has the entries of the measuring one. A kernel may let another CPU wait for the probe's timer
//! (one with `nohz_full` does not wait itself), which then wakes the probe: that sample has no interrupt of its own.

use super::cell::RawResult;
use super::machine::Mips;
use worstcase_contract::trace::{Event, EventKind};
use worstcase_contract::{CellSpec, Instructions, Nanos};
use worstcase_results::record::Stamp;

/// The plugin's data about a cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Stamps {
    /// One for each sample, in order.
    pub samples: Vec<Stamp>,
    /// Instructions of the whole machine while measuring.
    pub instructions: Instructions,
}

/// Limit for the instructions between the entry of an interrupt and the due time of a timer that it expires although
/// the timer came due only while it ran.
const LONGEST_EXPIRY: u64 = 20_000;

/// Stamps all samples of a cell from a machine with this many CPUs.
pub fn join(raw: &RawResult, mips: Mips, cpus: u32) -> Result<Stamps, String> {
    let begin = only(&raw.events, EventKind::MarkBegin)?;
    let end = only(&raw.events, EventKind::MarkEnd)?;
    let clock_reads = clock_reads(raw)?;
    // Each CPU has its own count, unrelated to the others.
    if clock_reads.iter().chain([&end]).any(|count| *count < begin) {
        return Err("the marks were not made on one CPU".into());
    }
    let entries = timer_entries(&raw.events);
    let awaits_timer = awaits_timer(raw);
    let mut before = begin;
    let mut stamp = |latency: Nanos, read: Instructions| {
        let armed = std::mem::replace(&mut before, read);
        let irq_latency = match cpus {
            // An interrupt before the sample has nothing to do with it.
            _ if !awaits_timer => None,
            1 => irq_latency(latency, read, &entries, mips).or(Some(Nanos(0))),
            _ => {
                // The timer was set after the previous sample.
                let own = &entries[entries.partition_point(|e| *e <= armed)..];
                let expired = Nanos(latency.0 + mips.time_of(LONGEST_EXPIRY).0);
                let entered_before = || entry_after_due(expired, read, own, mips).map(|_| Nanos(0));
                irq_latency(latency, read, own, mips).or_else(entered_before)
            }
        };
        Stamp {
            irq_latency,
            instructions: Instructions(read.0 - begin.0),
        }
    };
    let samples = raw.record.samples.iter();
    let samples = samples
        .zip(clock_reads)
        .map(|(sample, read)| stamp(sample.latency, read))
        .collect();
    Ok(Stamps {
        samples,
        instructions: Instructions(end.0 - begin.0),
    })
}

/// Whether each sample of a cell waited for a timer.
pub fn awaits_timer(raw: &RawResult) -> bool {
    let spec = raw.record.spec.parse::<CellSpec>();
    spec.map_or(true, |spec| spec.probe.awaits_timer())
}

/// The count at the one event of this kind.
fn only(events: &[Event], kind: EventKind) -> Result<Instructions, String> {
    let mut found = events.iter().filter(|e| e.kind == kind);
    match (found.next(), found.next()) {
        (Some(event), None) => Ok(event.count),
        _ => Err(format!("not exactly one event {kind:?}")),
    }
}

/// The instruction count at each entry of the timer's interrupt, in order.
pub(crate) fn timer_entries(events: &[Event]) -> Vec<Instructions> {
    let entries = events.iter().filter(|e| e.kind == EventKind::TimerEntry);
    entries.map(|e| e.count).collect()
}

/// The instruction count at the clock read of each sample, in order.
pub(crate) fn clock_reads(raw: &RawResult) -> Result<Vec<Instructions>, String> {
    let mut reads = Vec::new();
    let mut last = None;
    for event in &raw.events {
        match event.kind {
            EventKind::UserTsc => last = Some(event.count),
            EventKind::MarkSample => reads.push(last.take()),
            // The marks before measured the probe's own cost, and are no samples.
            EventKind::MarkBegin => reads.clear(),
            _ => {}
        }
    }
    let samples = raw.record.samples.len();
    if reads.len() != samples {
        return Err(format!("{} marks for {samples} samples", reads.len()));
    }
    let known: Option<Vec<Instructions>> = reads.into_iter().collect();
    known.ok_or_else(|| "a sample's mark without a clock read before it".into())
}

/// None if no interrupt was entered after the due time.
fn irq_latency(latency: Nanos, read: Instructions, entries: &[Instructions], mips: Mips) -> Option<Nanos> {
    entry_after_due(latency, read, entries, mips).map(|entry| latency - since(entry, read, mips))
}

/// The first entry of the timer's interrupt at or after the due time of the sample with this clock read.
pub(crate) fn entry_after_due(
    latency: Nanos,
    read: Instructions,
    entries: &[Instructions],
    mips: Mips,
) -> Option<Instructions> {
    let before_read = &entries[..entries.partition_point(|e| *e <= read)];
    let after_due = before_read
        .iter()
        .rev()
        .take_while(|e| since(**e, read, mips) <= latency);
    after_due.last().copied()
}

/// Virtual time from an entry to the time that the clock showed, which is that after the reading instruction.
fn since(entry: Instructions, read: Instructions, mips: Mips) -> Nanos {
    mips.time_of(read.0 + 1 - entry.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::RawRecord;
    use worstcase_contract::record::Sample;

    fn event(kind: EventKind, count: u64) -> Event {
        Event {
            kind,
            arg: 0,
            count: Instructions(count),
        }
    }

    fn raw(latencies: &[u64], events: Vec<Event>) -> RawResult {
        let samples = latencies
            .iter()
            .zip(0..)
            .map(|(l, index)| Sample {
                index,
                latency: Nanos(*l),
            })
            .collect();
        let record = RawRecord {
            spec: String::new(),
            start: Nanos(0),
            expected: latencies.len() as u32,
            samples,
            self_cost: Default::default(),
            work: vec![],
            warnings: vec![],
            environment: Default::default(),
            details: None,
            counters: std::collections::BTreeMap::new(),
            trace: None,
        };
        let mut all = vec![event(EventKind::MarkBegin, 10)];
        all.extend(events);
        all.push(event(EventKind::MarkEnd, 9000));
        RawResult {
            record,
            events: all,
            console: Vec::new(),
        }
    }

    #[test]
    fn the_first_entry_after_the_due_time_counts() {
        use EventKind::*;
        let events = vec![
            event(TimerEntry, 100),  // a tick before the due time (read - latency = 1000)
            event(TimerEntry, 1092), // the timer, 92 late
            event(TimerEntry, 1500), // a tick while the kernel ran on
            event(UserTsc, 2999),
            event(MarkSample, 3010),
        ];
        let stamps = join(&raw(&[2000], events), Mips::ALL[0], 1).unwrap();
        assert_eq!(stamps.samples[0].irq_latency, Some(Nanos(92)));
        assert_eq!(stamps.samples[0].instructions, Instructions(2989));
        assert_eq!(stamps.instructions, Instructions(8990));
    }

    #[test]
    fn slower_machines_count_more_time_an_instruction() {
        use EventKind::*;
        let events = vec![event(TimerEntry, 1000), event(UserTsc, 1499), event(MarkSample, 1510)];
        let stamps = join(&raw(&[4400], events), Mips::ALL[3], 1).unwrap();
        assert_eq!(stamps.samples[0].irq_latency, Some(Nanos(400)));
    }

    #[test]
    fn a_timer_expired_in_an_interrupt_that_ran_already_was_not_delayed() {
        use EventKind::*;
        let events = vec![event(TimerEntry, 900), event(UserTsc, 3000), event(MarkSample, 3010)];
        assert_eq!(
            join(&raw(&[2000], events), Mips::ALL[0], 1).unwrap().samples[0].irq_latency,
            Some(Nanos(0))
        );
    }

    #[test]
    fn what_another_cpu_expired_has_no_interrupt() {
        use EventKind::*;
        let of_cpus = |cpus, events: &[Event]| {
            let stamps = join(&raw(&[2_000, 2_000], events.to_vec()), Mips::ALL[0], cpus).unwrap();
            stamps.samples.iter().map(|s| s.irq_latency).collect::<Vec<_>>()
        };
        let sample = |read: u64| [event(UserTsc, read - 1), event(MarkSample, read + 10)];
        let seen = |entries: &[u64]| {
            let entries: Vec<Event> = entries.iter().map(|at| event(TimerEntry, *at)).collect();
            let mut events = [&entries[..], &sample(30_000), &sample(60_000)].concat();
            events.sort_by_key(|e| e.count);
            [1, 2].map(|cpus| of_cpus(cpus, &events))
        };
        let some = |ns| Some(Nanos(ns));
        // Two punctual entries; and one that was entered before the due time.
        assert_eq!(seen(&[28_100, 58_200]), [[some(100), some(200)]; 2]);
        assert_eq!(seen(&[28_100, 50_000]), [[some(100), some(0)]; 2]);
        // An entry of the previous sample, and one of long ago, do not belong to this sample.
        assert_eq!(seen(&[28_100, 29_900]), [[some(100), some(0)], [some(100), None]]);
        assert_eq!(seen(&[28_100, 30_100]), [[some(100), some(0)], [some(100), None]]);
    }

    #[test]
    fn marks_and_samples_must_agree() {
        assert!(
            join(
                &raw(
                    &[5, 6],
                    vec![event(EventKind::UserTsc, 9), event(EventKind::MarkSample, 10)]
                ),
                Mips::ALL[0],
                1
            )
            .is_err()
        );
        assert!(join(&raw(&[5], vec![event(EventKind::MarkSample, 10)]), Mips::ALL[0], 1).is_err());
        let earlier = vec![event(EventKind::UserTsc, 3), event(EventKind::MarkSample, 4)];
        assert!(
            join(&raw(&[1], earlier), Mips::ALL[0], 2)
                .unwrap_err()
                .contains("on one CPU")
        );
    }
}
