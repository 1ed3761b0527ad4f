//! The kernel's own timerlat threads measure; a thread on each CPU reads the lines of their tracer.

use super::books::PeriodBooks;
use super::ring::RingWriter;
use super::thread::{OwnCost, ThreadOrder, ThreadResult, wait_for_start};
use crate::message::ThreadCounts;
use crate::packed::pack;
use crate::spec::HostSpec;
use crate::trace::TracingError;
use crate::trace::timerlat::{self, Activation, TimerlatLines};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use worstcase_contract::Nanos;
use worstcase_contract::record::Periods;
use worstcase_instruments::sys::{clock, usage};

/// How often the lines are read: the reader shares its CPU with the measured thread.
const READ: Duration = Duration::from_millis(20);
/// How long after its period's due time a line is waited for.
const PATIENCE: Nanos = Nanos::from_millis(2_000);

/// The tracer, switched on in an instance of its own; off when this is dropped.
pub(super) struct RunningTracer(PathBuf);

impl RunningTracer {
    pub(crate) fn start(instance: &Path) -> Result<RunningTracer, TracingError> {
        let set = |file: &str, value: &str| {
            let path = instance.join(file);
            std::fs::write(&path, value).map_err(|source| TracingError::Set {
                path,
                value: value.to_string(),
                source,
            })
        };
        set("trace_clock", "mono")?;
        set("current_tracer", "timerlat")?;
        let running = RunningTracer(instance.to_path_buf());
        set("tracing_on", "1")?;
        Ok(running)
    }
}

impl Drop for RunningTracer {
    fn drop(&mut self) {
        // If it fails, removing the instance switches it off.
        let _ = std::fs::write(self.0.join("current_tracer"), "nop");
    }
}

/// Runs a reading thread to its end.
pub(super) fn run(mut order: ThreadOrder<'_>) -> Result<ThreadResult, String> {
    let failed = |e: io::Error| format!("the timerlat tracer's lines of CPU {} cannot be read: {e}", order.cpu);
    let instance = order.spec.tracing.as_deref().ok_or("no instance was made")?;
    let path = instance.join(format!("per_cpu/cpu{}/trace_pipe", order.cpu));
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    let mut pipe = options.open(path).map_err(failed)?;
    let parts = File::create_new(order.spec.parts_file(order.cpu)).map_err(failed)?;
    let earliest = wait_for_start(&order, OwnCost::default(), Vec::new()).map_err(failed)?;
    let before = usage::own_thread();
    let mut sink = Sink {
        spec: order.spec,
        earliest,
        periods: None,
        ring: &mut order.outlet.ring,
        parts: BufWriter::new(parts),
        books: PeriodBooks::default(),
        last: -1,
        failure: None,
    };
    let mut lines = TimerlatLines::default();
    let mut buffer = vec![0; 1 << 16];
    let end = earliest + order.spec.length() + PATIENCE;
    while !sink.is_full() && !order.stop.load(Ordering::Relaxed) {
        match pipe.read(&mut buffer) {
            Ok(length) if length > 0 => {
                let fed = lines.feed(&buffer[..length], |activation| sink.take(activation));
                fed.map_err(|e| e.to_string())?;
            }
            Err(e) if !matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Err(failed(e)),
            _ if clock::monotonic() > end => break,
            _ => std::thread::sleep(READ),
        }
    }
    let stopped = order.stop.load(Ordering::Relaxed);
    if sink.periods.is_none() && !stopped {
        return Err(format!("the timerlat tracer wrote nothing of CPU {}", order.cpu));
    }
    let (start, periods) = sink.finish(stopped).map_err(failed)?;
    Ok(ThreadResult {
        cpu: order.cpu,
        start,
        seen: ThreadCounts::Periods(periods),
        early: 0,
        lost_lines: lines.lost,
        cost: OwnCost::default(),
        used: usage::own_thread() - before,
    })
}

/// Where activations go: latencies to the collector, the IRQ latency to a file beside the collector's.
struct Sink<'a> {
    spec: &'a HostSpec,
    earliest: Nanos,
    periods: Option<timerlat::ActivationPeriods>,
    ring: &'a mut RingWriter,
    parts: BufWriter<File>,
    /// The account of the periods up to the last that was seen.
    books: PeriodBooks,
    /// The last period that was handed over.
    last: i64,
    failure: Option<io::Error>,
}

impl Sink<'_> {
    fn take(&mut self, activation: Activation) {
        let new = || timerlat::ActivationPeriods::new(self.spec.interval, activation.due, self.earliest);
        let Some(place) = self.periods.get_or_insert_with(new).position(activation) else {
            return;
        };
        if self.is_full() {
            return;
        }
        let between = place.index.min(self.end()) - self.books.so_far();
        let lost = place.lost.min(between);
        self.books.gap(between - lost, lost);
        if self.is_full() {
            return;
        }
        let (words, used) = pack((place.index as i64 - self.last) as u64, activation.thread.0);
        if !self.ring.push(&words[..used]) {
            self.books.lost(1);
            return;
        }
        self.books.taken();
        self.last = place.index as i64;
        if let Err(e) = self.parts.write_all(&activation.irq.0.to_le_bytes()) {
            self.failure = Some(e);
        }
    }

    fn end(&self) -> u64 {
        u64::from(self.spec.periods)
    }

    /// Every period is accounted for.
    fn is_full(&self) -> bool {
        self.books.so_far() >= self.end()
    }

    /// When period 0 was due, and where the periods went.
    fn finish(mut self, stopped: bool) -> io::Result<(Nanos, Periods)> {
        self.parts.flush()?;
        if !stopped {
            // No line came for so long that none can be on its way.
            self.books.missed(self.end() - self.books.so_far());
        }
        let start = self.periods.map_or(self.earliest, |seen| seen.start());
        self.failure.map_or(Ok((start, self.books.close())), Err)
    }
}
