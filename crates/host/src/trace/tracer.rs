//! A trace of some CPUs for one purpose.

use super::TracingError;
use super::events::{CpuEvent, TracedChange};
use super::perf::{Counter, CounterRequest, Ring, RingRecord};
use super::points::{Decode, TracePoint, points};
use super::tracefs::Tracefs;
use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_traces::purpose::Purpose;

/// Bytes of a ring: `response` at 10 kHz writes 4 MB/s on a CPU.
const RING: usize = 1 << 20;
/// Bytes of a ring for everything that happens on a CPU.
const BIG_RING: usize = 4 << 20;
/// Bytes of a ring for a followed program: it is read by an ordinary thread, which a busy machine keeps waiting.
const FOLLOW_RING: usize = 32 << 20;
/// Above so many CPUs the rings are smaller.
const FOLLOW_CPUS: usize = 16;
/// Bytes of a ring for thousands of call chains, of 4 kB at most.
pub(super) const CHAINS_RING: usize = 8 << 20;

/// An open trace. It runs until it is dropped.
#[derive(Debug)]
pub struct Tracer {
    /// Events before this time are incomplete.
    began: Nanos,
    cpus: Vec<CpuTracer>,
    decode: HashMap<u64, Reading>,
    lost: u64,
}

/// How the records of a counter are read.
#[derive(Debug)]
struct Reading {
    decode: Decode,
    has_chain: bool,
}

#[derive(Debug)]
struct CpuTracer {
    cpu: u32,
    ring: Ring,
    /// With the place of each one's tracepoint in the list; the first counter owns the ring.
    counters: Vec<(Counter, usize)>,
    /// The instant of the last event; 0 before the first drain.
    last: Nanos,
}

impl Tracer {
    /// Begins a trace of these CPUs.
    pub fn open(cpus: &[u32], purpose: &Purpose) -> Result<Tracer, TracingError> {
        let points = points(&Tracefs::of_threads()?, purpose)?;
        let bytes = room_of(purpose, cpus.len());
        let plan: Vec<_> = cpus.iter().map(|cpu| (*cpu, &points[..])).collect();
        Tracer::of_points(&plan, bytes)
    }

    /// Begins a trace of each CPU's own tracepoints.
    pub(super) fn of_points(plan: &[(u32, &[TracePoint])], bytes: usize) -> Result<Tracer, TracingError> {
        let mut decode = HashMap::new();
        let mut traced = Vec::with_capacity(plan.len());
        for (cpu, points) in plan {
            traced.push(CpuTracer::open(*cpu, points, bytes, &mut decode)?);
        }
        for (cpu, (_, points)) in traced.iter().zip(plan) {
            for (counter, place) in &cpu.counters {
                let point = &points[*place];
                counter
                    .enable()
                    .map_err(failed("PERF_EVENT_IOC_ENABLE", point, cpu.cpu))?;
            }
        }
        // Enabling one tracepoint after the other takes milliseconds, in which events are missing.
        let began = clock::monotonic();
        Ok(Tracer {
            began,
            cpus: traced,
            decode,
            lost: 0,
        })
    }

    /// Hands over all available events, CPU by CPU, each CPU's in order of time; returns their number. All events of a
    /// sample that was taken before the call come with this call or an earlier one.
    pub fn drain(&mut self, mut each: impl FnMut(&CpuEvent<'_>)) -> u64 {
        let mut count = 0;
        for cpu in &mut self.cpus {
            let (number, decode) = (cpu.cpu, &self.decode);
            let (mut last, mut lost) = (cpu.last, 0);
            let missing = |since, at, count| CpuEvent {
                at,
                cpu: number,
                tid: 0,
                what: TracedChange::Lost { since, count },
                chain: &[],
            };
            if last == Nanos(0) {
                last = self.began;
                each(&missing(Nanos(0), last, 0));
            }
            let full = cpu.ring.drain(|record| match record {
                RingRecord::Sample { at, .. } if at < self.began => {}
                RingRecord::Sample { id, at, tid, mut rest } => {
                    let Some(reading) = decode.get(&id) else {
                        return;
                    };
                    let chain = if reading.has_chain { rest.take_chain() } else { &[] };
                    let what = match &reading.decode {
                        Decode::Function(tells) => rest.arguments().map(tells),
                        decode => decode.decode(rest.record()),
                    };
                    let Some(what) = what else {
                        return;
                    };
                    last = at;
                    count += 1;
                    each(&CpuEvent {
                        at,
                        cpu: number,
                        tid,
                        what,
                        chain,
                    });
                }
                RingRecord::Lost { at, count } => {
                    lost += count;
                    each(&missing(last, at, count));
                    last = at;
                }
            });
            if full {
                each(&missing(last, clock::monotonic(), 0));
            }
            cpu.last = last;
            self.lost += lost;
        }
        count
    }

    /// Events that did not fit into a ring so far, on all CPUs.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes that the kernel wrote so far, and that were taken.
    pub fn bytes(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.ring.taken()).sum()
    }
}

/// Bytes for each of so many CPUs.
pub(super) fn room_of(purpose: &Purpose, cpus: usize) -> usize {
    match purpose {
        Purpose::Response { .. } => RING,
        Purpose::Noise | Purpose::Recorder { .. } => BIG_RING,
        Purpose::Entries | Purpose::Sends { .. } => CHAINS_RING,
        Purpose::Follow { .. } if cpus <= FOLLOW_CPUS => FOLLOW_RING,
        Purpose::Follow { .. } => BIG_RING,
    }
}

impl CpuTracer {
    fn open(
        cpu: u32,
        points: &[TracePoint],
        bytes: usize,
        decode: &mut HashMap<u64, Reading>,
    ) -> Result<CpuTracer, TracingError> {
        let mut counters: Vec<(Counter, usize)> = Vec::with_capacity(points.len());
        let mut ring = None;
        let each = points.iter().enumerate().flat_map(|(place, point)| {
            let threads: Vec<Option<u32>> = match &point.threads[..] {
                [] => vec![None],
                threads => threads.iter().copied().map(Some).collect(),
            };
            threads.into_iter().map(move |thread| (place, point, thread))
        });
        for (place, point, thread) in each {
            let request = CounterRequest {
                source: &point.source,
                cpu,
                thread,
                chain: point.chain,
                wake_at: bytes as u32 / 2,
            };
            let counter = match Counter::open(request) {
                // A thread can end before it has a counter.
                Err(e) if thread.is_some() && e.raw_os_error() == Some(libc::ESRCH) => continue,
                opened => opened.map_err(failed("perf_event_open", point, cpu))?,
            };
            if !point.filter.is_empty() {
                let set = counter.filter(&point.filter);
                set.map_err(failed("PERF_EVENT_IOC_SET_FILTER", point, cpu))?;
            }
            match counters.first() {
                None => {
                    let with_chains = points.iter().any(|p| p.chain);
                    let mapped = Ring::map(counter.as_fd(), bytes, with_chains);
                    ring = Some(mapped.map_err(failed("mmap", point, cpu))?);
                }
                Some((first, _)) => {
                    let set = counter.write_to_ring_of(first);
                    set.map_err(failed("PERF_EVENT_IOC_SET_OUTPUT", point, cpu))?;
                }
            }
            let id = counter.id().map_err(failed("PERF_EVENT_IOC_ID", point, cpu))?;
            let reading = Reading {
                decode: point.decode.clone(),
                has_chain: point.chain,
            };
            decode.insert(id, reading);
            counters.push((counter, place));
        }
        Ok(CpuTracer {
            cpu,
            ring: ring.ok_or(TracingError::NoTracepoint("irq_vectors/local_timer_entry"))?,
            counters,
            last: Nanos(0),
        })
    }
}

fn failed(what: &'static str, point: &TracePoint, cpu: u32) -> impl FnOnce(io::Error) -> TracingError {
    let name = point.name.clone();
    move |source| match source.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) if what == "perf_event_open" => TracingError::NotPermitted {
            name,
            cpu,
            paranoid: std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
                .map_or_else(|_| "unknown".to_string(), |text| text.trim().to_string()),
        },
        _ => TracingError::Perf {
            what,
            name,
            cpu,
            source,
        },
    }
}
