//! The sink of a watch: segment after segment, each reported while it runs and when it is complete, in bounded memory.

use super::MeasureError;
use super::gather::{Gatherer, SegmentPart};
use super::report::{Checkpoints, reports};
use super::ring::ring;
use super::session::{RunningMeasurement, SampleSink};
use super::thread::{Outlet, OwnCost, ThreadResult, ring_words};
use crate::message::{MeasurementEnd, Message, Taken, WatchSegment};
use crate::spec::{HostSpec, SegmentSpec};
use std::collections::BTreeMap;
use std::io;
use worstcase_contract::Nanos;

/// The state is reported after this many ticks: every second.
const TICKS_A_PULSE: u32 = 5;

/// Joins the CPUs' parts of each segment.
pub(super) struct SegmentSummaries {
    gatherers: Vec<Gatherer>,
    /// Periods of a segment.
    periods: u64,
    /// The first segment that is not over, or not reported.
    next: u64,
    /// The newest parts by segment, until the segment is over and reported.
    segments: BTreeMap<u64, Vec<Newest>>,
    ticks: u32,
}

/// A CPU's newest part of a segment.
#[derive(Clone, Default)]
struct Newest {
    part: Option<SegmentPart>,
    is_told: bool,
}

impl Newest {
    fn ended(&self) -> bool {
        self.part.as_ref().is_some_and(|p| p.report.ended)
    }
}

impl SegmentSummaries {
    /// The sink, and an outlet for each CPU, whose thread reports as `segments` says.
    pub(super) fn open(spec: &HostSpec, segments: SegmentSpec) -> (SegmentSummaries, Vec<Outlet>) {
        let (mut gatherers, mut outlets) = (Vec::new(), Vec::new());
        for &cpu in &spec.cpus {
            let ((writer, reader), (reporter, reports)) = (ring(ring_words(spec)), reports());
            let length = (spec.periods, spec.interval);
            gatherers.push(Gatherer::new(cpu, reader, reports, length, segments.selection));
            outlets.push(Outlet {
                ring: writer,
                checkpoints: Some(Checkpoints {
                    every: segments.checkpoint,
                    most: segments.most,
                    reporter,
                }),
            });
        }
        let sink = SegmentSummaries {
            gatherers,
            periods: u64::from(spec.periods),
            next: 0,
            segments: BTreeMap::new(),
            ticks: 0,
        };
        (sink, outlets)
    }

    fn end_of(&self, segment: u64) -> u64 {
        (segment + 1).saturating_mul(self.periods)
    }

    fn pulse(&self) -> Message {
        Message::Pulse(self.gatherers.iter().map(Gatherer::pulse).collect())
    }

    /// Takes out a segment of which every CPU has something new, or has ended: its number, whether it is over, its parts.
    fn ready(&mut self) -> Option<(u64, bool, Vec<SegmentPart>)> {
        let mut entry = self.segments.first_entry()?;
        let number = *entry.key();
        let newest = entry.get_mut();
        let is_ready = |n: &Newest| n.part.is_some() && (!n.is_told || n.ended());
        if !newest.iter().all(is_ready) || newest.iter().all(|n| n.is_told) {
            return None;
        }
        let ended = newest.iter().all(Newest::ended);
        newest.iter_mut().for_each(|n| n.is_told = true);
        let parts = newest.iter().filter_map(|n| n.part.clone()).collect();
        if ended {
            entry.remove();
        }
        Some((number, ended, parts))
    }

    /// Reports a segment.
    fn tell(
        &self,
        running: &mut RunningMeasurement<'_>,
        (number, ended, parts): (u64, bool, Vec<SegmentPart>),
    ) -> io::Result<()> {
        let cpus = running.spec.cpus.iter().zip(&running.costs);
        let one =
            |((cpu, cost), part): ((&u32, &OwnCost), &SegmentPart)| ThreadResult::of_segment(*cpu, &part.report, *cost);
        let threads: Vec<ThreadResult> = cpus.zip(&parts).map(one).collect();
        let max = parts.iter().map(|part| part.max).max().unwrap_or(Nanos(0));
        let mut done = running.ended(&threads, max, running.work_so_far());
        let mut taken: Vec<Taken> = parts.into_iter().map(SegmentPart::taken).collect();
        if ended {
            for (place, (cpu, taken)) in done.cpus.iter_mut().zip(&mut taken).enumerate() {
                taken.captures = running
                    .traced
                    .captures(place, number * self.periods..self.end_of(number));
                cpu.captures = taken.captures.len();
            }
        }
        running.say(&Message::Segment(Box::new(WatchSegment {
            number,
            ended,
            done,
            taken,
        })))
    }
}

impl SampleSink for SegmentSummaries {
    fn collect(&mut self, running: &mut RunningMeasurement<'_>) -> Result<(), MeasureError> {
        let SegmentSummaries {
            gatherers, segments, ..
        } = self;
        let cpus = gatherers.len();
        for (place, gatherer) in gatherers.iter_mut().enumerate() {
            gatherer.gather(running.traced.inbox(place), |part| {
                let none = || vec![Newest::default(); cpus];
                let newest = segments.entry(part.report.segment).or_insert_with(none);
                newest[place] = Newest {
                    part: Some(part),
                    is_told: false,
                };
            });
        }
        running.traced.look(self.end_of(self.next))?;
        while let Some(segment) = self.ready() {
            let (number, ended, _) = segment;
            self.tell(running, segment)?;
            if ended {
                running.begin_segment();
                self.next = number + 1;
                running.traced.look(self.end_of(self.next))?;
            }
        }
        Ok(())
    }

    fn tick(&mut self, running: &mut RunningMeasurement<'_>) -> Result<(), MeasureError> {
        self.ticks += 1;
        match self.ticks.is_multiple_of(TICKS_A_PULSE) {
            true => Ok(running.say(&self.pulse())?),
            false => Ok(()),
        }
    }

    fn end(
        self,
        mut running: RunningMeasurement<'_>,
        _threads: &[ThreadResult],
    ) -> Result<MeasurementEnd, MeasureError> {
        running.say(&self.pulse())?;
        Ok(running.done)
    }
}
