//! Checks a record against what the plugin saw: the guest takes each sample and writes the record at the end, and another
//! program in the machine may have changed a sample in between.
//!
//! Two things must match. The value that a sample's mark stored must be the one in the record (for every probe). And where a
//! sample is its lateness after a scheduled instant, the guest's clock, which those instants show, must run evenly with the
//! machine's own, which the plugin knows to the instruction: a due time that was moved shows there.

use std::collections::VecDeque;
use worstcase_contract::record::Sample;
use worstcase_contract::trace::{Event, EventKind};
use worstcase_contract::{CellSpec, Instructions, Nanos, Probe, RawRecord};

/// From the clock read to the mark the probe executes some 50 to 80 instructions. If it took more, an interrupt came between,
/// and another program may have made the last clock read before the mark.
const UNDISTURBED: u64 = 150;

/// How far the guest's clock may be from a straight line through the machine's. Measured on 5.10, 6.1 and 6.18: 1 ns.
const STRAIGHT: Nanos = Nanos(250);

/// The plugin overcounts (docs/plugin.md, "What is exact") by one instruction for each page that a string instruction faults
/// on, one in 2000, so its time is too late. The error begins anew at each timer, so at the latest with the next period or
/// tick.
const TOO_MUCH: u64 = 2_000;
const LONGEST_TICK: Nanos = Nanos::from_millis(10);

/// Why a record is not what the machine measured.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum RecordContradiction {
    /// The numbers of samples and of marks differ.
    #[error("the record has {samples} samples, and {marks} were taken: it is forged or broken")]
    Count {
        /// Number in the record.
        samples: usize,
        /// Number that the plugin saw.
        marks: usize,
    },
    /// A sample was changed after it was taken.
    #[error(
        "sample {number} is {said} in the record, and was {taken} when it was taken: the record is forged or broken"
    )]
    Value {
        /// Its index, from 0.
        number: usize,
        /// Its value in the record.
        said: Nanos,
        /// Its value when it was taken.
        taken: Nanos,
    },
    /// A sample was wrong when it was taken.
    #[error(
        "sample {number}, {said}, does not fit the machine's own clock by {off}: the record is forged, or the guest's clock is not sound"
    )]
    Clock {
        /// Its index, from 0.
        number: usize,
        /// Its value in the record.
        said: Nanos,
        /// How far its instant is from the expected one.
        off: Nanos,
    },
}

/// A sample as the plugin saw it.
#[derive(Clone, Copy, Debug)]
struct WitnessedSample {
    /// The value that its mark stored.
    value: u64,
    /// The machine's clock at the probe's clock read, if no interrupt came between the read and the mark.
    read: Option<Nanos>,
}

/// Checks that the record of this cell says what was measured. `apart` is how far the clocks of the machine's CPUs may be
/// apart.
pub fn check(record: &RawRecord, events: &[Event], spec: &CellSpec, apart: Nanos) -> Result<(), RecordContradiction> {
    let (begin, seen) = seen(events);
    let samples = &record.samples;
    if samples.len() != seen.len() {
        return Err(RecordContradiction::Count {
            samples: samples.len(),
            marks: seen.len(),
        });
    }
    check_values(samples, &seen, spec.probe)?;
    if !spec.probe.awaits_timer() {
        return Ok(());
    }
    let counted = Nanos(spec.period.min(LONGEST_TICK).0 / TOO_MUCH);
    check_clock(record, begin, &seen, spec.period, STRAIGHT + counted + apart)
}

/// The mark at which measuring begins, and the marks of samples after it.
fn seen(events: &[Event]) -> (Option<WitnessedSample>, Vec<WitnessedSample>) {
    let (mut begin, mut samples) = (None, Vec::new());
    let mut last_read: Option<(Nanos, Instructions)> = None;
    for event in events {
        let of_mark =
            |(time, at): (Nanos, Instructions)| (event.count.0.saturating_sub(at.0) <= UNDISTURBED).then_some(time);
        match event.kind {
            EventKind::UserTsc => last_read = Some((Nanos(event.arg), event.count)),
            EventKind::MarkBegin | EventKind::MarkSample => {
                let seen = WitnessedSample {
                    value: event.arg,
                    read: last_read.take().and_then(of_mark),
                };
                match event.kind {
                    EventKind::MarkSample => samples.push(seen),
                    // The marks before measured the probe's own cost, and are no samples.
                    _ => (begin, samples) = (Some(seen), Vec::new()),
                }
            }
            _ => {}
        }
    }
    (begin, samples)
}

fn check_values(samples: &[Sample], seen: &[WitnessedSample], probe: Probe) -> Result<(), RecordContradiction> {
    let mut said: Vec<(usize, u64)> = samples.iter().map(|s| s.latency.0).enumerate().collect();
    let mut taken: Vec<u64> = seen.iter().map(|s| s.value).collect();
    if probe.info().marks_out_of_order {
        // A task reserves the place of its sample first, and may be preempted before it writes the sample.
        said.sort_by_key(|(_, value)| *value);
        taken.sort_unstable();
    }
    let mut pairs = said.into_iter().zip(taken);
    match pairs.find(|((_, said), taken)| said != taken) {
        None => Ok(()),
        Some(((number, said), taken)) => Err(RecordContradiction::Value {
            number,
            said: Nanos(said),
            taken: Nanos(taken),
        }),
    }
}

/// Both clocks at one moment: the machine's, and how far the guest's is behind it.
type Both = (i128, i128);

/// Checks that the lag of the guest's clock changes evenly, from the mark at which measuring begins to the last sample.
fn check_clock(
    record: &RawRecord,
    begin: Option<WitnessedSample>,
    seen: &[WitnessedSample],
    period: Nanos,
    most: Nanos,
) -> Result<(), RecordContradiction> {
    let both = |machine: Nanos, guest: i128| (i128::from(machine.0), i128::from(machine.0) - guest);
    let of_sample = |(number, (sample, seen)): (usize, (&Sample, &WitnessedSample))| {
        let due = i128::from(record.start.0) + i128::from(sample.index) * i128::from(period.0);
        // For a sample before its due time the record does not say how early it was.
        let read = seen.read.filter(|_| sample.latency > Nanos(0))?;
        Some((number, both(read, due + i128::from(sample.latency.0))))
    };
    let mut points: VecDeque<(usize, Both)> = record
        .samples
        .iter()
        .zip(seen)
        .enumerate()
        .filter_map(of_sample)
        .collect();
    // This mark stores the guest's clock.
    let at_begin = begin.and_then(|begin| begin.read.map(|read| both(read, i128::from(begin.value))));
    let Some(first) = at_begin.or_else(|| points.pop_front().map(|(_, point)| point)) else {
        return Ok(());
    };
    let Some((_, last)) = points.back().copied() else {
        return Ok(());
    };
    for (number, (machine, behind)) in points {
        let expected = first.1 + (last.1 - first.1) * (machine - first.0) / (last.0 - first.0).max(1);
        let off = (behind - expected).unsigned_abs();
        if off > u128::from(most.0) {
            return Err(RecordContradiction::Clock {
                number,
                said: record.samples[number].latency,
                off: Nanos(u64::try_from(off).unwrap_or(u64::MAX)),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const PERIOD: u64 = 251_000;
    /// How far the guest's clock is behind the machine's, and by how much it is too fast, in ppm.
    const BEHIND: u64 = 4_500_000_000;
    const FAST: u64 = 300;

    fn spec(probe: &str) -> CellSpec {
        CellSpec {
            probe: probe.parse().unwrap(),
            load: "idle".into(),
            period: Nanos(PERIOD),
            periods: 9,
            seed: 1,
            warmup: Nanos(0),
            priority: 98,
        }
    }

    fn event(kind: EventKind, arg: u64, count: u64) -> Event {
        Event {
            kind,
            arg,
            count: Instructions(count),
        }
    }

    /// The machine's clock when the guest's shows this.
    fn machine(guest: u64) -> u64 {
        BEHIND + guest - guest * FAST / 1_000_000
    }

    /// A record of samples and their marks; each due time is `moved` later for the probe than in the record.
    fn measured(latencies: &[u64], moved: u64) -> (RawRecord, Vec<Event>) {
        let start = 1_000_000;
        let mut samples = Vec::new();
        let mut events = vec![
            event(EventKind::UserTsc, machine(start - 5_000), 10),
            event(EventKind::MarkBegin, start - 5_000, 60),
        ];
        for (index, latency) in (0..).zip(latencies) {
            samples.push(Sample {
                index,
                latency: Nanos(latency - moved),
            });
            let now = start + u64::from(index) * PERIOD + latency;
            events.push(event(EventKind::UserTsc, machine(now), now));
            events.push(event(EventKind::MarkSample, latency - moved, now + 50));
        }
        events.push(event(EventKind::MarkEnd, latencies[0], 1 << 40));
        let record = RawRecord {
            spec: String::new(),
            start: Nanos(start),
            expected: 9,
            samples,
            self_cost: Default::default(),
            work: vec![],
            warnings: vec![],
            environment: BTreeMap::new(),
            details: None,
            counters: BTreeMap::new(),
            trace: None,
        };
        (record, events)
    }

    fn checked(record: &RawRecord, events: &[Event]) -> Result<(), RecordContradiction> {
        check(record, events, &spec("wakeup"), Nanos(0))
    }

    const LATENCIES: [u64; 6] = [4_060, 4_100, 31_000, 4_060, 4_400, 4_060];

    #[test]
    fn what_was_measured_is_believed() {
        let (record, events) = measured(&LATENCIES, 0);
        assert_eq!(checked(&record, &events), Ok(()));
    }

    #[test]
    fn one_sample_that_was_changed_later_is_found() {
        for (number, latency) in LATENCIES.into_iter().enumerate() {
            let (mut record, events) = measured(&LATENCIES, 0);
            record.samples[number].latency.0 -= 1;
            let (said, taken) = (Nanos(latency - 1), Nanos(latency));
            let found = RecordContradiction::Value { number, said, taken };
            assert_eq!(checked(&record, &events), Err(found.clone()));
            // For every probe.
            for probe in ["noise", "switch:2x0", "response"] {
                assert_eq!(check(&record, &events, &spec(probe), Nanos(0)), Err(found.clone()));
            }
        }
    }

    #[test]
    fn as_many_samples_as_marks() {
        let (mut record, events) = measured(&LATENCIES, 0);
        record.samples.pop();
        let count = RecordContradiction::Count { samples: 5, marks: 6 };
        assert_eq!(checked(&record, &events), Err(count));
        assert_eq!(
            checked(&record, &[]),
            Err(RecordContradiction::Count { samples: 5, marks: 0 })
        );
    }

    #[test]
    fn the_marks_of_the_probes_own_cost_are_no_samples() {
        let (record, events) = measured(&LATENCIES, 0);
        let before = [event(EventKind::MarkSample, 77, 1), event(EventKind::MarkSample, 78, 2)];
        assert_eq!(checked(&record, &[&before[..], &events].concat()), Ok(()));
    }

    /// All due times moved alike, or a single one, the first or the last.
    #[test]
    fn due_times_that_were_moved_are_found() {
        let is_found = |(record, events): (RawRecord, Vec<Event>)| match checked(&record, &events) {
            Err(RecordContradiction::Clock { off, .. }) => assert!(off > STRAIGHT, "{off}"),
            other => panic!("{other:?}"),
        };
        is_found(measured(&LATENCIES, 2_000));
        for number in 0..LATENCIES.len() {
            let (mut record, mut events) = measured(&LATENCIES, 0);
            record.samples[number].latency.0 -= 2_000;
            let mut marks = events.iter_mut().filter(|e| e.kind == EventKind::MarkSample);
            marks.nth(number).unwrap().arg -= 2_000;
            is_found((record, events));
        }
        // A period that was not missed.
        let (mut record, events) = measured(&LATENCIES, 0);
        record.samples[5].index += 1;
        is_found((record, events));
    }

    /// Another process ran between the probe's read and its mark, and read the clock.
    #[test]
    fn a_clock_read_of_somebody_else_tells_nothing() {
        let (record, mut events) = measured(&LATENCIES, 0);
        // After the third sample's clock read.
        for event in &mut events[7..] {
            event.count.0 += 5_000;
        }
        let read = events[6];
        events.insert(7, event(EventKind::UserTsc, read.arg + 3_000, read.count.0 + 3_000));
        assert_eq!(checked(&record, &events), Ok(()));
    }

    /// The clocks of two CPUs may be apart on every machine.
    #[test]
    fn clocks_of_several_cpus_may_be_apart() {
        let (mut record, mut events) = measured(&LATENCIES, 0);
        record.samples[3].latency.0 -= 900;
        let mut marks = events.iter_mut().filter(|e| e.kind == EventKind::MarkSample);
        marks.nth(3).unwrap().arg -= 900;
        assert!(checked(&record, &events).is_err());
        assert_eq!(check(&record, &events, &spec("wakeup"), Nanos(1_000)), Ok(()));
    }

    /// Its tasks may be preempted between reserving the place of a sample and writing the sample.
    #[test]
    fn samples_of_many_tasks_may_have_changed_places() {
        let (mut record, events) = measured(&LATENCIES, 0);
        record.samples[1].latency = Nanos(LATENCIES[2]);
        record.samples[2].latency = Nanos(LATENCIES[1]);
        assert!(checked(&record, &events).is_err());
        assert_eq!(check(&record, &events, &spec("pick:100"), Nanos(0)), Ok(()));
        record.samples[2].latency.0 += 1;
        assert!(check(&record, &events, &spec("pick:100"), Nanos(0)).is_err());
    }
}
