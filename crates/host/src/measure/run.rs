//! One measurement: the load, the threads, collecting, the end.

use super::MeasureError;
use super::bench;
use super::collect::{Collected, Collector};
use super::observe::{ThreadObservations, TraceObserver, WatchedThread};
use super::pace::{COLLECT, LEAD, warm_up};
use super::rights::HeldRights;
use super::ring::ring;
use super::room::Room;
use super::thread::{Outlet, ThreadResult, noise_rest, ring_words};
use super::threads::{MeasuringThreads, warn_of_early};
use super::timerlat::RunningTracer;
use super::watch;
use crate::loads::{LoadPlace, RunningHostLoad};
use crate::machine;
use crate::message::{CpuDone, CpuStats, MeasurementEnd, Message};
use crate::spec::HostSpec;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::record::Work;
use worstcase_contract::{Nanos, Probe};
use worstcase_instruments::environment;
use worstcase_instruments::sys::{clock, signal};

/// A message is sent after this many collections.
const COLLECTIONS_A_TICK: u32 = 4;
/// Measures. The process must have one thread until the load is forked; then `after_load` is called, and threads may be made.
/// `stop` ends it early, and keeps the samples so far.
pub fn run(
    spec: &HostSpec,
    stop: &AtomicBool,
    mut say: impl FnMut(&Message) -> io::Result<()>,
    after_load: impl FnOnce(),
) -> Result<(), MeasureError> {
    let place = LoadPlace {
        work_dir: spec.work_dir.clone(),
        cgroup: spec.cgroup.clone(),
        cpus: spec.load_cpus.clone(),
    };
    let mut load = RunningHostLoad::start(&spec.load, spec.seed, &place)?;
    // SIGALRM is blocked in every thread from now on, except where a measuring thread waits for it.
    signal::block(&[signal::SIGALRM]);
    after_load();
    let measured = match spec.probe {
        Probe::Bench(bench) => bench::measure(spec, bench, &mut load, stop, &mut say),
        _ if let Some(segments) = spec.segments => watch::measure(spec, segments, &mut load, stop, &mut say),
        _ => measure(spec, &mut load, stop, &mut say),
    };
    let stopped = load.stop();
    let done = measured?;
    stopped?;
    say(&Message::Done(Box::new(done)))?;
    Ok(())
}

fn measure(
    spec: &HostSpec,
    load: &mut RunningHostLoad,
    stop: &AtomicBool,
    say: &mut impl FnMut(&Message) -> io::Result<()>,
) -> Result<MeasurementEnd, MeasureError> {
    warm_up(spec, load, stop, say)?;
    let mut warnings = Vec::new();
    let environment = environment::read();
    let held = HeldRights::acquire(&mut warnings);
    let tracer = match &spec.tracing {
        Some(instance) => Some(RunningTracer::start(instance).map_err(MeasureError::Trace)?),
        None => None,
    };
    let words = ring_words(spec);
    let (mut collectors, mut writers) = (Vec::new(), Vec::new());
    for &cpu in &spec.cpus {
        let (writer, reader) = ring(words);
        collectors.push(Collector::new(cpu, spec.probe, reader, &spec.samples_file(cpu))?);
        writers.push(Outlet {
            ring: writer,
            reporter: None,
        });
    }
    // Set when the measurement itself fails, so that threads do not wait forever.
    let give_up = AtomicBool::new(false);
    let (mut broke, mut full) = (false, false);
    let (measured, steal, work, mut observed) = std::thread::scope(|scope| {
        let threads = MeasuringThreads::start(scope, spec, writers, &give_up, &mut warnings);
        let result = threads.and_then(|threads| {
            let mut sampling = Sampling::begin(spec, &threads, &mut warnings)?;
            let work_before = load.work();
            let steal_before = machine::steal(&spec.cpus);
            threads.go(&sampling.watched);
            let room = Room::begin(spec);
            let mut collections = 0_u32;
            while !threads.are_done() {
                std::thread::sleep(COLLECT);
                if stop.load(Ordering::Relaxed) {
                    give_up.store(true, Ordering::Relaxed);
                }
                sampling.collect(&mut collectors)?;
                if let Some(message) = above(spec, &collectors).filter(|_| !broke) {
                    broke = true;
                    give_up.store(true, Ordering::Relaxed);
                    say(&message)?;
                }
                collections += 1;
                if collections.is_multiple_of(COLLECTIONS_A_TICK) {
                    if room.is_short() {
                        full = true;
                        give_up.store(true, Ordering::Relaxed);
                    }
                    load.check()?;
                    say(&tick(&sampling, &collectors, load.added_to(&work_before)))?;
                }
            }
            let steal_after = machine::steal(&spec.cpus);
            load.check()?;
            // A measurement that was stopped early may have been too short for the load to do work.
            let work = match broke || full || stop.load(Ordering::Relaxed) {
                true => load.added_to(&work_before),
                false => load.work_since(&work_before)?,
            };
            let measured = threads.join()?;
            sampling.collect(&mut collectors)?;
            // A last message, so that observers have seen every sample.
            say(&tick(&sampling, &collectors, work.clone()))?;
            let steal = machine::steal_between(&steal_before, &steal_after);
            Ok((measured, steal, work, sampling.finish()?))
        });
        give_up.store(true, Ordering::Relaxed);
        result
    })?;
    drop(tracer);
    drop(held);
    observed.parts |= spec.probe == Probe::Timerlat;
    let stats: Vec<CpuStats> = collectors
        .into_iter()
        .map(Collector::finish)
        .collect::<io::Result<_>>()?;
    warn_of_early(&mut warnings, measured.iter().map(|m| m.early).sum());
    keep_captures(spec, &observed)?;
    Ok(MeasurementEnd {
        bench: None,
        cpus: cpus_done(&measured, &steal, &observed),
        work,
        warnings,
        notes: load.notes().to_vec(),
        environment,
        throttled: machine::may_be_throttled(
            Nanos(stats.iter().map(|s| s.max_ns).max().unwrap_or(0)),
            match spec.probe {
                Probe::Noise => noise_rest(spec),
                _ => spec.interval,
            },
        ),
        stopped: broke || full || stop.load(Ordering::Relaxed),
        broke,
        full,
        peak_memory_kb: machine::peak_memory_kb(),
        lost_events: observed.lost,
    })
}

/// The largest sample, if it is above the limit that ends the measurement.
fn above(spec: &HostSpec, collectors: &[Collector]) -> Option<Message> {
    let limit = spec.break_at?;
    let worst = collectors.iter().map(Collector::stats).max_by_key(|s| s.max_ns)?;
    (worst.max_ns > limit.0).then_some(Message::Broke {
        cpu: worst.cpu,
        index: worst.max_index,
        latency: Nanos(worst.max_ns),
    })
}

fn tick(sampling: &Sampling, collectors: &[Collector], work: Vec<Work>) -> Message {
    Message::Tick {
        elapsed: clock::monotonic().saturating_sub(sampling.start),
        cpus: collectors.iter().map(|c| c.stats().clone()).collect(),
        work,
    }
}

fn keep_captures(spec: &HostSpec, observed: &ThreadObservations) -> io::Result<()> {
    for (cpu, captures) in spec.cpus.iter().zip(&observed.captures) {
        std::fs::write(spec.captures_file(*cpu), serde_json::to_vec(captures)?)?;
    }
    Ok(())
}

/// The measuring threads and the observer of the trace.
struct Sampling {
    start: Nanos,
    watched: Vec<WatchedThread>,
    observer: Option<TraceObserver>,
    collected: Vec<Vec<Collected>>,
}

impl Sampling {
    /// Called when all threads are ready: chooses the start, and begins to observe.
    fn begin(
        spec: &HostSpec,
        threads: &MeasuringThreads<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Sampling, MeasureError> {
        let observer = TraceObserver::open(spec, &threads.watched(spec, Nanos(0)), warnings)?;
        let earliest = clock::monotonic() + LEAD;
        Ok(Sampling {
            start: spec.start(earliest, 0),
            watched: threads.watched(spec, earliest),
            observer,
            collected: spec.cpus.iter().map(|_| Vec::new()).collect(),
        })
    }

    fn collect(&mut self, collectors: &mut [Collector]) -> io::Result<()> {
        let Some(observer) = &mut self.observer else {
            return collectors.iter_mut().try_for_each(|c| c.collect(|_| ()));
        };
        // First the samples, then the events: so the events of each collected sample are there.
        for (collector, collected) in collectors.iter_mut().zip(&mut self.collected) {
            collected.clear();
            collector.collect(|sample| collected.push(sample))?;
        }
        observer.look(&self.watched, &self.collected)
    }

    fn finish(self) -> io::Result<ThreadObservations> {
        self.observer
            .map_or_else(|| Ok(ThreadObservations::default()), TraceObserver::finish)
    }
}

fn cpus_done(measured: &[ThreadResult], steal: &[Option<Nanos>], observed: &ThreadObservations) -> Vec<CpuDone> {
    let one = |(place, (m, steal)): (usize, (&ThreadResult, &Option<Nanos>))| CpuDone {
        cpu: m.cpu,
        start: m.start,
        seen: m.seen,
        lost_lines: m.lost_lines,
        early: m.early,
        clock_read: m.clock_read,
        empty_sample: m.empty_sample,
        cpu_time: m.usage.cpu,
        minor_faults: m.usage.minor_faults,
        major_faults: m.usage.major_faults,
        steal: *steal,
        parts: observed.parts,
        causes: observed.causes.get(place).cloned().unwrap_or_default(),
        captures: observed.captures.get(place).map_or(0, Vec::len),
    };
    measured.iter().zip(steal).enumerate().map(one).collect()
}
