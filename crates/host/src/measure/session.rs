//! One measurement by threads, from the load's warm-up to the last sample. A run and a watch differ in what becomes of the
//! samples, and in nothing else: a run is a watch of one segment of which every sample is kept.

use super::MeasureError;
use super::counters::CountersBefore;
use super::pace::{COLLECT, LEAD, Say, warm_up};
use super::rights::HeldRights;
use super::thread::{Outlet, OwnCost, ThreadResult, noise_rest};
use super::threads::{MeasuringThreads, warn_of_early};
use super::timerlat::RunningTracer;
use super::traced::TracedThreads;
use crate::loads::RunningHostLoad;
use crate::machine;
use crate::message::{CpuDone, MeasurementEnd, Message};
use crate::spec::HostSpec;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::record::Work;
use worstcase_contract::{Nanos, Probe};
use worstcase_instruments::environment;
use worstcase_instruments::sys::clock;

/// The load is looked at, and the state reported, after this many collections.
const COLLECTIONS_A_TICK: u32 = 4;

/// What becomes of the samples.
pub(super) trait SampleSink {
    /// Takes all samples that are in the rings.
    fn collect(&mut self, running: &mut RunningMeasurement<'_>) -> Result<(), MeasureError>;

    /// Reports the state: several times a second.
    fn tick(&mut self, running: &mut RunningMeasurement<'_>) -> Result<(), MeasureError>;

    /// Every thread has ended, and every sample was collected.
    fn end(self, running: RunningMeasurement<'_>, threads: &[ThreadResult]) -> Result<MeasurementEnd, MeasureError>;
}

/// What a sink has to do with while samples come.
pub(super) struct RunningMeasurement<'a> {
    pub spec: &'a HostSpec,
    pub load: &'a mut RunningHostLoad,
    say: &'a mut Say<'a>,
    pub traced: TracedThreads,
    /// Each thread's own cost.
    pub costs: Vec<OwnCost>,
    start: Nanos,
    /// At the begin, or at that of the running segment.
    before: CountersBefore,
    lost_events_before: u64,
    /// What is the same in every segment. A sink that sets `broke` or `full` ends the measurement.
    pub done: MeasurementEnd,
}

/// Measures with a thread on each CPU until all periods have passed, or `stop`. `open` gives the sink, and where the thread of
/// each CPU puts its samples.
pub(super) fn measure<S: SampleSink>(
    spec: &HostSpec,
    load: &mut RunningHostLoad,
    stop: &AtomicBool,
    say: &mut Say<'_>,
    open: impl FnOnce() -> io::Result<(S, Vec<Outlet>)>,
) -> Result<MeasurementEnd, MeasureError> {
    warm_up(spec, load, stop, say)?;
    let mut warnings = Vec::new();
    let mut environment = environment::read();
    let _held = HeldRights::acquire(&mut warnings);
    let tracer = spec.tracing.as_deref().map(RunningTracer::start);
    let _tracer = tracer.transpose().map_err(MeasureError::Trace)?;
    let (mut sink, outlets) = open()?;
    // Set when the measurement itself fails, so that threads do not wait forever.
    let give_up = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads = MeasuringThreads::start(scope, spec, outlets, &give_up, &mut warnings);
        let result = threads.and_then(|threads| {
            let mut traced = TracedThreads::open(spec, threads.watched(spec, Nanos(0)), &mut warnings)?;
            traced.tell_cost(&mut environment);
            // Opening the trace takes longer than the lead.
            let earliest = clock::monotonic() + LEAD;
            traced.threads = threads.watched(spec, earliest);
            let mut running = RunningMeasurement {
                before: CountersBefore::now(spec, load),
                lost_events_before: 0,
                spec,
                done: MeasurementEnd {
                    warnings,
                    notes: load.notes().to_vec(),
                    environment,
                    ..MeasurementEnd::default()
                },
                load,
                say: &mut |message| say(message),
                costs: threads.costs.clone(),
                start: spec.start(earliest, 0),
                traced,
            };
            threads.go(&running.traced.threads);
            let mut collections = 0_u32;
            loop {
                std::thread::sleep(COLLECT);
                let (is_last, stops) = (threads.are_done(), stop.load(Ordering::Relaxed));
                sink.collect(&mut running)?;
                collections += 1;
                if !is_last && collections.is_multiple_of(COLLECTIONS_A_TICK) {
                    // Who ends a watch may have ended its load at the same time.
                    if !stops {
                        running.load.check()?;
                    }
                    sink.tick(&mut running)?;
                }
                if stops || running.done.broke || running.done.full {
                    running.done.stopped = true;
                    give_up.store(true, Ordering::Relaxed);
                }
                if is_last {
                    break;
                }
            }
            sink.end(running, &threads.join()?)
        });
        give_up.store(true, Ordering::Relaxed);
        result
    })
}

impl RunningMeasurement<'_> {
    pub(super) fn say(&mut self, message: &Message) -> io::Result<()> {
        (self.say)(message)
    }

    /// How long it has measured.
    pub(super) fn elapsed(&self) -> Nanos {
        clock::monotonic().saturating_sub(self.start)
    }

    /// The load's work since the begin, or that of the running segment.
    pub(super) fn work_so_far(&self) -> Vec<Work> {
        self.before.work_so_far(self.load)
    }

    /// The same of a whole measurement.
    pub(super) fn work(&self) -> Result<Vec<Work>, MeasureError> {
        Ok(self.before.work(self.load, self.done.stopped)?)
    }

    /// A segment is over: the next one's counters begin.
    pub(super) fn begin_segment(&mut self) {
        self.before = CountersBefore::now(self.spec, self.load);
        self.lost_events_before = self.traced.lost();
    }

    /// The end of the measurement, or of a segment, by what the threads account for; `max` is its largest sample.
    pub(super) fn ended(&self, threads: &[ThreadResult], max: Nanos, work: Vec<Work>) -> MeasurementEnd {
        let mut warnings = self.done.warnings.clone();
        warn_of_early(&mut warnings, threads.iter().map(|thread| thread.early).sum());
        let one = |(thread, steal): (&ThreadResult, Option<Nanos>)| CpuDone {
            cpu: thread.cpu,
            start: thread.start,
            seen: thread.seen,
            lost_lines: thread.lost_lines,
            early: thread.early,
            clock_read: thread.cost.clock_read,
            empty_sample: thread.cost.empty_sample,
            cpu_time: thread.used.cpu,
            minor_faults: thread.used.minor_faults,
            major_faults: thread.used.major_faults,
            steal,
            parts: false,
            captures: 0,
            causes: Vec::new(),
        };
        MeasurementEnd {
            cpus: threads.iter().zip(self.before.steal(self.spec)).map(one).collect(),
            work,
            warnings,
            throttled: machine::may_be_throttled(
                max,
                match self.spec.probe {
                    Probe::Noise => noise_rest(self.spec),
                    _ => self.spec.interval,
                },
            ),
            peak_memory_kb: machine::peak_memory_kb(),
            lost_events: self.traced.lost() - self.lost_events_before,
            ..self.done.clone()
        }
    }
}
