//! The kernel's trace beside the measuring threads: parts of each sample, causes of each gap, captures of the latest samples.

use super::MeasureError;
use super::decode::Collected;
use super::rights::take_cpu;
use crate::message;
use crate::spec::HostSpec;
use crate::trace::wakeup_cost::WakeupCost;
use crate::trace::{
    AskedSample, CpuNoise, EventRecorder, EventSnapshot, LatenessParts, Purpose, Splitter, TraceBeside, TracedChange,
    noise,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use worstcase_contract::{Nanos, Probe};
use worstcase_results::record::TRACE_RECORDER;

/// How long events are remembered: the collector comes every 50 ms, and may be late.
const WINDOW: Nanos = Nanos::from_millis(2_000);
/// How much time before a sample's due time is kept.
const MARGIN: Nanos = Nanos::from_millis(2);

/// A measuring thread, as the trace knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchedThread {
    pub cpu: u32,
    pub tid: u32,
    /// When its period 0 is due, or its first window begins.
    pub start: Nanos,
}

/// Observes the trace, for a probe that asks for it.
pub(super) struct TraceObserver {
    tracer: TraceBeside,
    /// Wakes up before it was opened, and once more beside it.
    cost: Option<WakeupCost>,
    what: ObservedKind,
    interval: Nanos,
}

enum ObservedKind {
    Samples {
        splitter: Box<Splitter>,
        recorders: Vec<EventRecorder>,
        /// Files for the parts of each CPU's samples, if they are wanted.
        files: Vec<BufWriter<File>>,
    },
    Gaps(Vec<ObservedGaps>),
}

struct ObservedGaps {
    noise: CpuNoise,
    causes: BTreeMap<String, message::GapCause>,
}

impl TraceObserver {
    /// Begins to observe, if `spec` asks for it: always for `response`; for `noise` if the kernel permits it.
    pub(crate) fn open(
        spec: &HostSpec,
        threads: &[WatchedThread],
        warnings: &mut Vec<String>,
    ) -> Result<Option<TraceObserver>, MeasureError> {
        let cost = wakeups_without(spec);
        let own = threads.iter().map(|t| t.tid);
        let tids: Vec<u32> = own.chain(cost.as_ref().map(|cost| cost.tid)).collect();
        let purpose = match spec.probe {
            Probe::Noise => Purpose::Noise,
            _ if spec.captures > 0 => Purpose::Recorder { tids: tids.clone() },
            Probe::Response => Purpose::Response { tids: tids.clone() },
            _ => return Ok(None),
        };
        let tracer = match TraceBeside::open(&spec.cpus, &purpose) {
            Ok(tracer) => tracer,
            Err(e) if spec.probe == Probe::Noise => {
                warnings.push(format!("causes of noise are not known: {e}"));
                return Ok(None);
            }
            Err(e) if spec.captures_if_permitted => {
                warnings.push(format!("what led to a late sample is not kept: {e}"));
                return Ok(None);
            }
            Err(e) => return Err(MeasureError::Trace(e)),
        };
        warnings.extend(tracer.note());
        let what = match spec.probe {
            Probe::Noise => ObservedKind::Gaps(threads.iter().map(ObservedGaps::of).collect()),
            probe => ObservedKind::Samples {
                splitter: Box::new(Splitter::new(&tids)),
                recorders: match spec.captures {
                    0 => Vec::new(),
                    captures => threads
                        .iter()
                        .map(|_| EventRecorder::new(WINDOW, MARGIN, captures))
                        .collect(),
                },
                files: match probe {
                    Probe::Response => parts_files(spec)?,
                    _ => Vec::new(),
                },
            },
        };
        Ok(Some(TraceObserver {
            tracer,
            cost,
            what,
            interval: spec.interval,
        }))
    }

    /// See [`super::traced::TracedThreads::tell_cost`].
    pub(super) fn tell_cost(&mut self, environment: &mut BTreeMap<String, String>) {
        environment.insert(TRACE_RECORDER.to_string(), self.tracer.recorder().to_string());
        if let Some(cost) = self.cost.take().and_then(WakeupCost::end) {
            cost.keep(environment);
        }
    }

    /// Examines the samples that were collected of each thread, in the order of the threads.
    pub fn look(&mut self, threads: &[WatchedThread], collected: &[Vec<Collected>]) -> io::Result<()> {
        let TraceObserver {
            tracer, what, interval, ..
        } = self;
        match what {
            ObservedKind::Samples {
                splitter,
                recorders,
                files,
            } => {
                tracer.drain(|event| {
                    splitter.feed(event);
                    for (recorder, thread) in recorders.iter_mut().zip(threads) {
                        let wakes_it = matches!(event.what, TracedChange::Waking { tid } if tid == thread.tid);
                        if event.cpu == thread.cpu || wakes_it {
                            recorder.feed(event);
                        }
                    }
                });
                for (place, (thread, samples)) in threads.iter().zip(collected).enumerate() {
                    for sample in samples {
                        let due = Nanos(thread.start.0 + sample.at * interval.0);
                        let ask = AskedSample {
                            cpu: thread.cpu,
                            tid: thread.tid,
                            due,
                            now: Nanos(due.0 + sample.length),
                        };
                        let is_wanted = recorders.get(place).is_some_and(|r| r.is_wanted(Nanos(sample.length)));
                        if files.is_empty() && !is_wanted {
                            continue;
                        }
                        let parts = splitter.split(&ask);
                        if let Some(file) = files.get_mut(place) {
                            write_parts(file, &parts)?;
                        }
                        if is_wanted {
                            recorders[place].keep(sample.at, &ask, parts);
                        }
                    }
                }
            }
            ObservedKind::Gaps(all) => {
                tracer.drain(|event| all.iter_mut().for_each(|gaps| gaps.noise.feed(event)));
                for ((gaps, thread), collected) in all.iter_mut().zip(threads).zip(collected) {
                    for gap in collected {
                        gaps.take(Nanos(thread.start.0 + gap.at), Nanos(gap.length));
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes out the snapshots of a CPU's samples before this index.
    pub(crate) fn captures_before(&mut self, place: usize, index: u64) -> Vec<EventSnapshot> {
        match &mut self.what {
            ObservedKind::Samples { recorders, .. } => {
                recorders.get_mut(place).map_or(Vec::new(), |r| r.take_before(index))
            }
            ObservedKind::Gaps(_) => Vec::new(),
        }
    }

    /// Events that the kernel has dropped so far.
    pub fn lost(&self) -> u64 {
        self.tracer.lost()
    }

    /// Ends observing.
    pub fn finish(self) -> io::Result<ThreadObservations> {
        let mut observed = ThreadObservations::default();
        self.tracer.end();
        match self.what {
            ObservedKind::Samples { recorders, files, .. } => {
                observed.parts = !files.is_empty();
                for mut file in files {
                    file.flush()?;
                }
                observed.captures = recorders.into_iter().map(EventRecorder::into_snapshots).collect();
            }
            ObservedKind::Gaps(all) => {
                observed.causes = all.into_iter().map(|g| g.causes.into_values().collect()).collect();
            }
        }
        Ok(observed)
    }
}

/// What the trace gave, thread by thread.
#[derive(Default)]
pub(super) struct ThreadObservations {
    /// The parts of samples were written.
    pub parts: bool,
    /// What took the CPU away.
    pub causes: Vec<Vec<message::GapCause>>,
    /// The trace around the latest samples.
    pub captures: Vec<Vec<EventSnapshot>>,
}

/// Wake-ups under the load, on the first of the CPUs, if a trace of samples is asked for.
fn wakeups_without(spec: &HostSpec) -> Option<WakeupCost> {
    let is_traced = spec.probe == Probe::Response || spec.captures > 0 && spec.probe != Probe::Noise;
    let cpu = *spec.cpus.first().filter(|_| is_traced)?;
    let spec = spec.clone();
    WakeupCost::begin(move || take_cpu(&spec, cpu, &mut Vec::new()))
}

fn parts_files(spec: &HostSpec) -> io::Result<Vec<BufWriter<File>>> {
    let open = |cpu: &u32| File::create_new(spec.parts_file(*cpu)).map(|f| BufWriter::with_capacity(1 << 16, f));
    spec.cpus.iter().map(open).collect()
}

/// Writes five numbers of 8 bytes, little-endian, in the order of the type.
fn write_parts(file: &mut impl Write, parts: &LatenessParts) -> io::Result<()> {
    let numbers = [
        parts.irq_latency,
        parts.handler,
        parts.scheduling,
        parts.return_to_user,
        parts.unexplained,
    ];
    for number in numbers {
        file.write_all(&number.0.to_le_bytes())?;
    }
    Ok(())
}

impl ObservedGaps {
    fn of(thread: &WatchedThread) -> ObservedGaps {
        ObservedGaps {
            noise: CpuNoise::new(thread.cpu, thread.tid),
            causes: BTreeMap::new(),
        }
    }

    fn take(&mut self, start: Nanos, length: Nanos) {
        for share in self.noise.attribute(start, start + length) {
            let name = name_of(&share.cause);
            let cause = self.causes.entry(name.clone()).or_insert(message::GapCause {
                name,
                count: 0,
                total: Nanos(0),
                max: Nanos(0),
            });
            cause.count += u64::from(share.pieces);
            cause.total = cause.total + share.time;
            cause.max = cause.max.max(share.time);
        }
    }
}

fn name_of(cause: &noise::NoiseSource) -> String {
    match cause {
        noise::NoiseSource::Interrupt { source } => format!("interrupt {source}"),
        noise::NoiseSource::SoftInterrupt { source } => format!("soft interrupt {source}"),
        noise::NoiseSource::Thread { thread } => format!("thread {}", thread.comm),
        noise::NoiseSource::Nmi => "NMI".to_string(),
        noise::NoiseSource::Way => "the way into the kernel and back".to_string(),
        noise::NoiseSource::Unexplained => noise::UNEXPLAINED.to_string(),
    }
}
