//! One measuring thread: gets ready, waits for the common start, takes its samples.

use super::report::{Checkpoints, Report};
use super::rights::take_cpu;
use super::ring::RingWriter;
use super::segments::take_segments;
use super::source::{IntervalTimer, Nanosleep, PosixTimer, RtcTicks, TimerSource, Timerfd};
use super::spin::{SpinWindows, spin};
use crate::message::ThreadCounts;
use crate::spec::{HostSpec, WakeSource};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender};
use worstcase_contract::{Nanos, Probe, Schedule};
use worstcase_instruments::sys::rtc::Rtc;
use worstcase_instruments::sys::usage::{self, Usage};
use worstcase_instruments::sys::{clock, memory};
use worstcase_plan::{SchedulingPolicy, TimerKind};

/// How long the collector may be kept from running before samples are lost.
const RING_SECONDS: u64 = 8;
/// Words for gaps, three for each.
const GAP_WORDS: usize = 1 << 18;

/// Words of the ring between a thread and its collector.
pub(super) fn ring_words(spec: &HostSpec) -> usize {
    match spec.probe {
        // Gaps have no fixed rate: this many a second would leave no time for anything else.
        Probe::Noise => GAP_WORDS,
        _ => (RING_SECONDS * 1_000_000_000 / spec.interval.0).max(1024) as usize,
    }
}

/// How often clock reads and empty turns are tried; the shortest is the self-cost. It is often enough to touch all that
/// the loop needs.
const TRIALS: usize = 200;

/// Where a thread puts its samples.
pub(super) struct Outlet {
    pub ring: RingWriter,
    /// Of a watch.
    pub checkpoints: Option<Checkpoints>,
}

/// What a thread is started with.
pub(super) struct ThreadOrder<'a> {
    pub spec: &'a HostSpec,
    pub cpu: u32,
    pub(crate) outlet: Outlet,
    pub stop: &'a AtomicBool,
    /// Where it reports that it is ready, with its thread id and what was refused.
    pub ready: SyncSender<Result<ReadyThread, String>>,
    /// Receives the start, once every thread is ready.
    pub start: Receiver<Nanos>,
}

/// What measuring costs a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnCost {
    pub clock_read: Nanos,
    /// One turn of the loop with nothing to wait for.
    pub empty_sample: Nanos,
}

/// A thread that waits for the start.
#[derive(Debug)]
pub(super) struct ReadyThread {
    pub tid: i32,
    pub cost: OwnCost,
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct ThreadResult {
    pub cpu: u32,
    /// When period 0 was due, or the first window began.
    pub start: Nanos,
    pub seen: ThreadCounts,
    /// Samples before their due time.
    pub early: u64,
    pub(crate) lost_lines: u64,
    pub cost: OwnCost,
    /// CPU time and page faults.
    pub used: Usage,
}

impl ThreadResult {
    /// Of a segment; a run is one.
    pub(super) fn of_segment(cpu: u32, report: &Report, cost: OwnCost) -> ThreadResult {
        ThreadResult {
            cpu,
            start: report.start,
            seen: ThreadCounts::Periods(report.periods),
            early: report.early,
            lost_lines: 0,
            cost,
            used: report.used,
        }
    }
}

/// Runs a measuring thread to its end.
pub(super) fn run(order: ThreadOrder<'_>) -> Result<ThreadResult, String> {
    let spec = order.spec;
    let prepare = |warnings: &mut Vec<String>| take_cpu(spec, order.cpu, warnings);
    let mut warnings = Vec::new();
    if let Err(e) = prepare(&mut warnings) {
        let reason = format!("cannot run on CPU {}: {e}; choose another with --cpus", order.cpu);
        // The waiting thread also gets this error from the thread's result.
        let _ = order.ready.send(Err(reason.clone()));
        return Err(reason);
    }
    memory::prefault_stack();
    let result = match spec.waker {
        _ if spec.probe == Probe::Noise => measure_noise(order, warnings),
        WakeSource::Timer(TimerKind::Nanosleep) => Ok(Nanosleep).and_then(|source| measure(source, order, warnings)),
        WakeSource::Timer(TimerKind::Timerfd) => Timerfd::new().and_then(|source| measure(source, order, warnings)),
        WakeSource::Timer(TimerKind::Posix) => PosixTimer::new().and_then(|source| measure(source, order, warnings)),
        WakeSource::Timer(TimerKind::Setitimer) => {
            IntervalTimer::new().and_then(|source| measure(source, order, warnings))
        }
        WakeSource::Timer(TimerKind::Rtc) => {
            Rtc::open(spec.interval).and_then(|rtc| measure(RtcTicks::new(rtc), order, warnings))
        }
        WakeSource::Timerlat | WakeSource::None => Err(io::Error::other("no thread waits for it")),
    };
    result.map_err(|e| format!("the timer '{}' cannot be used: {e}", spec.waker.name()))
}

/// Reports that this thread is ready, and waits for the start.
pub(super) fn wait_for_start(order: &ThreadOrder<'_>, cost: OwnCost, warnings: Vec<String>) -> io::Result<Nanos> {
    let ready = ReadyThread {
        tid: rustix::thread::gettid().as_raw_nonzero().get(),
        cost,
        warnings,
    };
    let nobody = "the collecting thread is gone";
    order.ready.send(Ok(ready)).map_err(|_| io::Error::other(nobody))?;
    order.start.recv().map_err(|_| io::Error::other(nobody))
}

/// One part in this many of a window is rest where the kernel would throttle, or the thread would starve others.
const REST_SHARE: u64 = 10;

/// The part of each window in which `noise` rests.
pub(super) fn noise_rest(spec: &HostSpec) -> Nanos {
    match spec.scheduling.policy() {
        SchedulingPolicy::Other => Nanos(0),
        _ => Nanos(spec.interval.0 / REST_SHARE),
    }
}

fn measure_noise(mut order: ThreadOrder<'_>, warnings: Vec<String>) -> io::Result<ThreadResult> {
    let clock_read = clock::read_cost(TRIALS);
    let cost = OwnCost {
        clock_read,
        empty_sample: clock_read,
    };
    let start = wait_for_start(&order, cost, warnings)?;
    let spec = order.spec;
    let windows = SpinWindows {
        start,
        length: spec.interval,
        rest: noise_rest(spec),
        count: spec.periods,
        threshold: spec.threshold,
    };
    let before = usage::own_thread();
    let spun = spin(windows, &mut order.outlet.ring, order.stop);
    Ok(ThreadResult {
        cpu: order.cpu,
        start,
        seen: ThreadCounts::Gaps {
            windows: spun.windows,
            observed: spun.spun,
            lost: spun.lost,
        },
        early: 0,
        lost_lines: 0,
        cost,
        used: usage::own_thread() - before,
    })
}

fn measure<S: TimerSource>(
    mut source: S,
    mut order: ThreadOrder<'_>,
    warnings: Vec<String>,
) -> io::Result<ThreadResult> {
    let clock_read = clock::read_cost(TRIALS);
    let empty_sample = empty_sample(&mut source, order.spec)?;
    let cost = OwnCost {
        clock_read,
        empty_sample,
    };
    let start = wait_for_start(&order, cost, warnings)?;
    let schedule = Schedule {
        start,
        interval: order.spec.interval,
        periods: order.spec.periods,
    };
    let Outlet { ring, checkpoints } = &mut order.outlet;
    let report = take_segments(&mut source, schedule, ring, checkpoints, order.stop)?;
    Ok(ThreadResult::of_segment(order.cpu, &report, cost))
}

/// The shortest turn with due times in the past, which leaves nothing to wait for. The real-time clock and an interval timer
/// cannot be due in the past: 0.
fn empty_sample<S: TimerSource>(source: &mut S, spec: &HostSpec) -> io::Result<Nanos> {
    if matches!(spec.waker, WakeSource::Timer(TimerKind::Rtc | TimerKind::Setitimer)) {
        return Ok(Nanos(0));
    }
    let mut shortest = Nanos(u64::MAX);
    for _ in 0..TRIALS {
        let past = Schedule {
            start: Nanos(1),
            interval: Nanos(u64::MAX / 2),
            periods: 1,
        };
        let before = clock::monotonic();
        let schedule = source.arm(past)?;
        source.wait(&schedule, 0)?;
        shortest = shortest.min(clock::monotonic() - before);
    }
    Ok(shortest)
}
