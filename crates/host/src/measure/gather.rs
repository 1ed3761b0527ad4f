//! The collecting side of one CPU of a watch: words from its ring to the statistics of the running segment.

use super::decode::{Collected, SampleReader};
use super::report::{Report, Reports};
use super::ring::RingReader;
use super::worst::WorstPeriods;
use crate::buckets::Buckets;
use crate::message::{Pulse, Taken};
use std::collections::VecDeque;
use worstcase_contract::{Nanos, Probe};
use worstcase_results::record::stream::FirstPass;
use worstcase_results::record::{SampleSelection, Summary};

/// One CPU's part of a segment, up to a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentPart {
    /// The thread's own account.
    pub(crate) report: Report,
    /// All samples of the report's periods.
    pub summary: Option<Summary>,
    /// The largest samples, and their neighbours.
    pub rows: Vec<(u32, u64)>,
    /// The largest sample.
    pub max: Nanos,
}

impl SegmentPart {
    /// Its samples, as they are sent; what led to the latest of them comes when the segment is over.
    pub(super) fn taken(self) -> Taken {
        Taken {
            summary: self.summary,
            rows: self.rows,
            captures: Vec::new(),
        }
    }
}

/// Gathers one CPU's samples.
pub(crate) struct Gatherer {
    cpu: u32,
    reader: SampleReader,
    reports: Reports,
    /// Reports that were read, and whose samples have not all come yet.
    waiting: VecDeque<Report>,
    /// The number of periods in a segment.
    periods: u64,
    selection: SampleSelection,
    segment: SegmentTally,
    all: Buckets,
}

struct SegmentTally {
    number: u64,
    interval: Nanos,
    first: FirstPass,
    worst: WorstPeriods,
}

impl Gatherer {
    /// A gatherer for segments of `periods` periods, each as long as `interval`.
    pub fn new(
        cpu: u32,
        ring: RingReader,
        reports: Reports,
        (periods, interval): (u32, Nanos),
        selection: SampleSelection,
    ) -> Gatherer {
        Gatherer {
            cpu,
            reader: SampleReader::new(ring, Probe::Wakeup),
            reports,
            waiting: VecDeque::new(),
            periods: u64::from(periods),
            selection,
            segment: SegmentTally::new(0, interval, selection),
            all: Buckets::default(),
        }
    }

    /// Takes all samples that are in the ring, and hands each to `sample`. `each` gets every report with the samples before
    /// it.
    pub(crate) fn gather(&mut self, mut sample: impl FnMut(Collected), mut each: impl FnMut(SegmentPart)) {
        let Gatherer {
            reader,
            reports,
            waiting,
            periods,
            selection,
            segment,
            all,
            ..
        } = self;
        reports.read(|report| waiting.push_back(report));
        // Each of these reports was sent after its samples, so the ring has them all.
        let settled = waiting.len();
        let mut told = 0;
        reader.drain(|_, completed| {
            let Some(collected) = completed else {
                return;
            };
            // A report about periods before this sample was sent before the sample.
            reports.read(|report| waiting.push_back(report));
            while let Some(report) = waiting.front().copied().filter(|r| r.until(*periods) <= collected.at) {
                waiting.pop_front();
                told += 1;
                each(segment.part(report, *selection));
            }
            segment.add((collected.at % *periods) as u32, collected.length);
            all.add(collected.length);
            sample(collected);
        });
        for _ in told..settled {
            let report = waiting.pop_front().expect("it was waiting");
            each(segment.part(report, *selection));
        }
    }

    /// The state of this CPU.
    pub(crate) fn pulse(&self) -> Pulse {
        Pulse {
            cpu: self.cpu,
            latencies: self.all.clone(),
            missed: self.reader.missed(),
            lost: self.reader.lost(),
            max: self.segment.first.max(),
        }
    }
}

impl Report {
    /// The first period, counted over all segments, that the report does not cover.
    fn until(&self, periods: u64) -> u64 {
        self.segment * periods + self.periods.expected
    }
}

impl SegmentTally {
    fn new(number: u64, interval: Nanos, selection: SampleSelection) -> SegmentTally {
        SegmentTally {
            number,
            interval,
            first: FirstPass::of_latencies(interval),
            worst: WorstPeriods::new(selection),
        }
    }

    fn add(&mut self, index: u32, latency: u64) {
        self.first.add(index, Nanos(latency));
        self.worst.add((index, latency));
    }

    /// The part that belongs to a report of this segment; begins a new segment if the report ends it.
    fn part(&mut self, report: Report, selection: SampleSelection) -> SegmentPart {
        debug_assert_eq!(report.segment, self.number);
        let part = SegmentPart {
            report,
            summary: self.first.to_three_digits(report.periods.expected as u32),
            rows: self.worst.rows(),
            max: self.first.max(),
        };
        if report.ended {
            *self = SegmentTally::new(self.number + 1, self.interval, selection);
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::{Checkpoints, reports};
    use super::super::ring::ring;
    use super::super::segments::take_segments;
    use super::super::source::{TimerSource, Wake};
    use super::*;
    use proptest::prelude::*;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use worstcase_contract::Schedule;

    const SELECTION: SampleSelection = SampleSelection { largest: 2, around: 1 };

    /// Wake-ups that are late by a script; the script also says when to gather.
    struct Script<'a> {
        late: std::vec::IntoIter<(u64, bool)>,
        stop: &'a AtomicBool,
        gatherer: &'a mut Gatherer,
        parts: &'a mut Vec<SegmentPart>,
    }

    impl TimerSource for Script<'_> {
        fn arm(&mut self, schedule: Schedule) -> io::Result<Schedule> {
            Ok(schedule)
        }

        fn wait(&mut self, schedule: &Schedule, index: u32) -> io::Result<Option<Wake>> {
            let (late, gathers) = self.late.next().unwrap();
            if gathers {
                let parts = &mut self.parts;
                self.gatherer.gather(|_| (), |part| parts.push(part));
            }
            self.stop.store(self.late.len() == 0, Ordering::Relaxed);
            let now = schedule.due(index) + Nanos(late);
            let overrun = schedule.overrun(index, now);
            Ok(Some(Wake { now, overrun }))
        }
    }

    fn gathered(periods: u32, checkpoint: u32, words: usize, late: Vec<(u64, bool)>) -> (Vec<SegmentPart>, Pulse) {
        let ((mut writer, reader), (reporter, said)) = (ring(words), reports());
        let mut checkpoints = Some(Checkpoints {
            every: checkpoint,
            most: None,
            reporter,
        });
        let mut gatherer = Gatherer::new(0, reader, said, (periods, Nanos(1_000)), SELECTION);
        let (stop, mut parts) = (AtomicBool::new(false), Vec::new());
        let schedule = Schedule {
            start: Nanos(1_000_000),
            interval: Nanos(1_000),
            periods,
        };
        let mut script = Script {
            late: late.into_iter(),
            stop: &stop,
            gatherer: &mut gatherer,
            parts: &mut parts,
        };
        take_segments(&mut script, schedule, &mut writer, &mut checkpoints, &stop).unwrap();
        gatherer.gather(|_| (), |part| parts.push(part));
        let pulse = gatherer.pulse();
        (parts, pulse)
    }

    proptest! {
        /// Any lateness, gathered at any time, with or without room for all samples.
        #[test]
        fn what_is_gathered_is_what_the_thread_accounts_for(
            late in prop::collection::vec((prop_oneof![0_u64..900, 0_u64..9_000], any::<bool>()), 1..150),
            periods in 1_u32..20,
            checkpoint in 1_u32..8,
            words in prop_oneof![Just(8_usize), Just(1024)],
        ) {
            let (parts, pulse) = gathered(periods, checkpoint, words, late.clone());
            let mut segments = 0;
            for part in &parts {
                let p = part.report.periods;
                prop_assert_eq!(p.expected, p.taken + p.missed + p.lost);
                prop_assert_eq!(part.summary.as_ref().map_or(0, |s| s.count), p.taken);
                prop_assert_eq!(part.summary.as_ref().map_or(0, |s| s.max_ns), part.max.0);
                prop_assert_eq!(part.report.segment, segments);
                prop_assert!(p.expected == u64::from(periods) || !part.report.ended || part == parts.last().unwrap());
                segments += u64::from(part.report.ended);
            }
            let ended = || parts.iter().filter(|p| p.report.ended).map(|p| p.report.periods);
            let (taken, lost): (u64, u64) = (ended().map(|p| p.taken).sum(), ended().map(|p| p.lost).sum());
            prop_assert_eq!((taken + lost, taken, lost), (late.len() as u64, pulse.latencies.count, pulse.lost));
        }
    }
}
