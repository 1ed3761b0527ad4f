//! Each sample in instruction counts: when its timer was due, when its interrupt came, when it was taken.
//!
//! Counts are exact, and so is the due time in them: between a timer's due time and its sample the CPU does not idle, so
//! the due time lies as many instructions before the clock read as the latency says. A CPU that idled until then was
//! woken by the timer; the due time is then the end of the idle stretch. (A real-time task that the kernel throttles can
//! be due while the CPU idles; such a due time comes out too early.)

use super::cell::RawResult;
use super::machine::Mips;
use super::stamps;
use worstcase_contract::{Instructions, Nanos};

/// One sample in instruction counts, from QEMU's start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleMoment {
    /// Its index among the record's samples.
    pub index: usize,
    /// Instructions completed when its timer was due.
    pub due: Instructions,
    /// The first entry of the timer's interrupt at or after the due time, if there was one before the sample. None for a
    /// probe that no timer wakes, because an entry would have another cause.
    pub timer_entry: Option<Instructions>,
    /// The instant that the sample shows: one past the instruction that reads the clock.
    pub sample: Instructions,
    /// The sample's latency as measured.
    pub latency: Nanos,
}

/// The moments of all samples, in order. The error says how events and samples contradict each other.
pub fn moments(raw: &RawResult, mips: Mips) -> Result<Vec<SampleMoment>, String> {
    let reads = stamps::clock_reads(raw)?;
    let entries = match stamps::awaits_timer(raw) {
        true => stamps::timer_entries(&raw.events),
        false => Vec::new(),
    };
    let samples = raw.record.samples.iter().enumerate();
    let moment = |((index, sample), read): ((usize, &worstcase_contract::record::Sample), Instructions)| {
        // The clock shows the time after the instruction that reads it.
        let shown = Instructions(read.0 + 1);
        SampleMoment {
            index,
            due: Instructions(shown.0.saturating_sub(sample.latency.0 >> mips.shift())),
            timer_entry: stamps::entry_after_due(sample.latency, read, &entries, mips),
            sample: shown,
            latency: sample.latency,
        }
    };
    Ok(samples.zip(reads).map(moment).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::RawRecord;
    use worstcase_contract::record::Sample;
    use worstcase_contract::trace::{Event, EventKind};

    #[test]
    fn a_due_time_lies_the_latency_before_its_sample() {
        let event = |kind, count| Event {
            kind,
            arg: 0,
            count: Instructions(count),
        };
        let raw = |latencies: &[u64]| RawResult {
            record: RawRecord {
                spec: String::new(),
                start: Nanos(0),
                expected: 2,
                samples: (0..)
                    .zip(latencies)
                    .map(|(index, l)| Sample {
                        index,
                        latency: Nanos(*l),
                    })
                    .collect(),
                self_cost: Default::default(),
                work: vec![],
                warnings: vec![],
                environment: Default::default(),
                details: None,
                counters: std::collections::BTreeMap::new(),
                trace: None,
            },
            events: vec![
                event(EventKind::TimerEntry, 950),
                event(EventKind::UserTsc, 1_999),
                event(EventKind::MarkSample, 2_010),
            ],
            console: Vec::new(),
        };
        let found = moments(&raw(&[4_403]), Mips::ALL[2]).unwrap();
        assert_eq!(
            found,
            [SampleMoment {
                index: 0,
                due: Instructions(900),
                timer_entry: Some(Instructions(950)),
                sample: Instructions(2_000),
                latency: Nanos(4_403)
            }]
        );
        assert!(moments(&raw(&[1, 2]), Mips::ALL[0]).is_err());
    }
}
