//! An endless measurement: segment after segment, each reported while it runs and when it is complete.

use super::MeasureError;
use super::captures::Captures;
use super::gather::{Gatherer, SegmentPart};
use super::pace::{COLLECT, LEAD, warm_up};
use super::report::reports;
use super::rights::HeldRights;
use super::ring::ring;
use super::thread::{Outlet, ring_words};
use super::threads::{MeasuringThreads, warn_of_early};
use crate::loads::RunningHostLoad;
use crate::machine;
use crate::message::{CpuDone, MeasurementEnd, Message, Taken, ThreadCounts, WatchSegment};
use crate::spec::{HostSpec, SegmentSpec};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::Nanos;
use worstcase_contract::record::Work;
use worstcase_instruments::environment;
use worstcase_instruments::sys::clock;

/// The state is reported after this many collections.
const COLLECTIONS_A_PULSE: u32 = 20;

/// Measures until `stop`.
pub(super) fn measure(
    spec: &HostSpec,
    segments: SegmentSpec,
    load: &mut RunningHostLoad,
    stop: &AtomicBool,
    say: &mut impl FnMut(&Message) -> io::Result<()>,
) -> Result<MeasurementEnd, MeasureError> {
    warm_up(spec, load, stop, say)?;
    let mut warnings = Vec::new();
    let environment = environment::read();
    let _held = HeldRights::acquire(&mut warnings);
    let (mut gatherers, mut outlets) = (Vec::new(), Vec::new());
    for &cpu in &spec.cpus {
        let ((writer, reader), (reporter, reports)) = (ring(ring_words(spec)), reports());
        gatherers.push(Gatherer::new(
            cpu,
            reader,
            reports,
            (spec.periods, spec.interval),
            segments.selection,
        ));
        outlets.push(Outlet {
            ring: writer,
            reporter: Some(reporter),
        });
    }
    let give_up = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        let threads = MeasuringThreads::start(scope, spec, outlets, &give_up, &mut warnings);
        let result = threads.and_then(|threads| {
            let watched = threads.watched(spec, clock::monotonic() + LEAD);
            let mut joiner = Joiner {
                spec,
                threads: &threads,
                captures: Captures::open(spec, watched.clone(), &mut warnings)?,
                next: 0,
                lost_events: 0,
                before: (load.work(), machine::steal(&spec.cpus)),
                segments: BTreeMap::new(),
                done: MeasurementEnd {
                    warnings,
                    notes: load.notes().to_vec(),
                    environment,
                    ..MeasurementEnd::default()
                },
            };
            threads.go(&watched);
            let mut collections = 0_u32;
            loop {
                let is_last = threads.are_done();
                for (place, gatherer) in gatherers.iter_mut().enumerate() {
                    joiner.gather(place, gatherer);
                }
                joiner.tell(load, say)?;
                collections += 1;
                if is_last || collections.is_multiple_of(COLLECTIONS_A_PULSE) {
                    say(&Message::Pulse(gatherers.iter().map(Gatherer::pulse).collect()))?;
                }
                if is_last {
                    break;
                }
                if stop.load(Ordering::Relaxed) {
                    give_up.store(true, Ordering::Relaxed);
                } else {
                    load.check()?;
                }
                std::thread::sleep(COLLECT);
            }
            let done = joiner.done;
            threads.join()?;
            Ok(done)
        });
        give_up.store(true, Ordering::Relaxed);
        result
    })?;
    Ok(MeasurementEnd { stopped: true, ..done })
}

/// Joins the CPUs' parts of a segment.
struct Joiner<'a, 'scope> {
    spec: &'a HostSpec,
    threads: &'a MeasuringThreads<'scope>,
    captures: Captures,
    /// The first segment that is not over, or not reported.
    next: u64,
    /// Events that the kernel dropped before the running segment.
    lost_events: u64,
    /// Work and stolen time before the running segment.
    before: (Vec<Work>, Vec<Option<Nanos>>),
    /// The newest parts by segment, until the segment is over and reported.
    segments: BTreeMap<u64, Vec<Newest>>,
    /// Results that are the same in every segment.
    done: MeasurementEnd,
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

impl Joiner<'_, '_> {
    /// Takes what a CPU's gatherer has.
    fn gather(&mut self, place: usize, gatherer: &mut Gatherer) {
        let Joiner {
            captures,
            segments,
            spec,
            ..
        } = self;
        gatherer.gather(&mut captures.samples[place], |part| {
            let none = || vec![Newest::default(); spec.cpus.len()];
            let newest = segments.entry(part.report.segment).or_insert_with(none);
            newest[place] = Newest {
                part: Some(part),
                is_told: false,
            };
        });
    }

    /// Reports the segments for which every CPU has something new, or has ended.
    fn tell(
        &mut self,
        load: &RunningHostLoad,
        say: &mut impl FnMut(&Message) -> io::Result<()>,
    ) -> Result<(), MeasureError> {
        self.captures.look(self.next)?;
        while let Some(mut entry) = self.segments.first_entry() {
            let number = *entry.key();
            let newest = entry.get_mut();
            let is_ready = |n: &Newest| n.part.is_some() && (!n.is_told || n.ended());
            if !newest.iter().all(is_ready) || newest.iter().all(|n| n.is_told) {
                break;
            }
            let ended = newest.iter().all(Newest::ended);
            newest.iter_mut().for_each(|n| n.is_told = true);
            let parts: Vec<SegmentPart> = newest.iter().filter_map(|n| n.part.clone()).collect();
            if ended {
                entry.remove();
            }
            let steal = machine::steal(&self.spec.cpus);
            let work = load.added_to(&self.before.0);
            let lost_events = self.captures.lost();
            let mut segment = self.segment(
                number,
                ended,
                parts,
                work,
                &machine::steal_between(&self.before.1, &steal),
            );
            segment.done.lost_events = lost_events - self.lost_events;
            if ended {
                for (place, (cpu, taken)) in segment.done.cpus.iter_mut().zip(&mut segment.taken).enumerate() {
                    taken.captures = self.captures.snapshots(number, place);
                    cpu.captures = taken.captures.len();
                }
            }
            say(&Message::Segment(Box::new(segment)))?;
            if ended {
                self.lost_events = lost_events;
                self.before = (load.work(), steal);
                self.next = number + 1;
                self.captures.look(self.next)?;
            }
        }
        Ok(())
    }

    fn segment(
        &self,
        number: u64,
        ended: bool,
        parts: Vec<SegmentPart>,
        work: Vec<Work>,
        steal: &[Option<Nanos>],
    ) -> WatchSegment {
        let max = parts.iter().map(|p| p.max).max().unwrap_or(Nanos(0));
        let mut warnings = self.done.warnings.clone();
        warn_of_early(&mut warnings, parts.iter().map(|p| p.report.early).sum());
        let of_cpu = |(place, part): (usize, &SegmentPart)| CpuDone {
            cpu: self.spec.cpus[place],
            start: part.report.start,
            seen: ThreadCounts::Periods(part.report.periods),
            lost_lines: 0,
            early: part.report.early,
            clock_read: self.threads.costs[place].clock_read,
            empty_sample: self.threads.costs[place].empty_sample,
            cpu_time: part.report.cpu_time,
            minor_faults: part.report.minor_faults,
            major_faults: part.report.major_faults,
            steal: steal[place],
            parts: false,
            captures: 0,
            causes: Vec::new(),
        };
        WatchSegment {
            number,
            ended,
            done: MeasurementEnd {
                cpus: parts.iter().enumerate().map(of_cpu).collect(),
                work,
                warnings,
                throttled: machine::may_be_throttled(max, self.spec.interval),
                peak_memory_kb: machine::peak_memory_kb(),
                ..self.done.clone()
            },
            taken: parts
                .into_iter()
                .map(|part| Taken {
                    summary: part.summary,
                    rows: part.rows,
                    captures: Vec::new(),
                })
                .collect(),
        }
    }
}
