//! The kernel's own timerlat threads measure; a thread a CPU reads what their tracer writes.

use super::ring::Writer;
use super::take::Taken;
use super::thread::{Measured, Order, wait_for_start};
use crate::packed::pack;
use crate::spec::HostSpec;
use crate::trace::TraceError;
use crate::trace::timerlat::{Activation, Lines, Periods};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use worstcase_probe::Nanos;
use worstcase_probe::Schedule;
use worstcase_probe::sys::{clock, usage};

/// How often the lines are read: the reader shares its CPU with what is measured.
const READ: Duration = Duration::from_millis(20);
/// A line is waited for this long after its period was due.
const PATIENCE: Nanos = Nanos::from_millis(2_000);

/// The tracer, switched on in an instance of its own; off when this is dropped.
pub(super) struct Running(PathBuf);

impl Running {
    pub fn start(instance: &Path) -> Result<Running, TraceError> {
        let set = |file: &str, value: &str| {
            let path = instance.join(file);
            std::fs::write(&path, value).map_err(|source| TraceError::Set {
                path,
                value: value.to_string(),
                source,
            })
        };
        set("trace_clock", "mono")?;
        set("current_tracer", "timerlat")?;
        let running = Running(instance.to_path_buf());
        set("tracing_on", "1")?;
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // If it fails, removing the instance switches it off.
        let _ = std::fs::write(self.0.join("current_tracer"), "nop");
    }
}

/// The reading thread's whole life.
pub(super) fn run(mut order: Order<'_>) -> Result<Measured, String> {
    let failed = |e: io::Error| format!("the timerlat tracer's lines of CPU {} cannot be read: {e}", order.cpu);
    let instance = order.spec.tracing.as_deref().ok_or("no instance was made")?;
    let path = instance.join(format!("per_cpu/cpu{}/trace_pipe", order.cpu));
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    let mut pipe = options.open(path).map_err(failed)?;
    let parts = File::create_new(order.spec.parts_file(order.cpu)).map_err(failed)?;
    let earliest = wait_for_start(&order, Vec::new()).map_err(failed)?;
    let before = usage::own_thread();
    let mut sink = Sink {
        spec: order.spec,
        earliest,
        periods: None,
        ring: &mut order.ring,
        parts: BufWriter::new(parts),
        next: 0,
        last: -1,
        dropped: 0,
        failure: None,
    };
    let mut lines = Lines::default();
    let mut buffer = vec![0; 1 << 16];
    let end = earliest + order.spec.length() + PATIENCE;
    while sink.next < u64::from(order.spec.periods) && !order.stop.load(Ordering::Relaxed) {
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
    let taken = sink.finish(stopped).map_err(failed)?;
    Ok(Measured {
        cpu: order.cpu,
        taken,
        clock_read: Nanos(0),
        empty_sample: Nanos(0),
        usage: usage::own_thread() - before,
    })
}

/// Where activations go: latencies to the collector, the interrupts' part to a file beside its.
struct Sink<'a> {
    spec: &'a HostSpec,
    earliest: Nanos,
    periods: Option<Periods>,
    ring: &'a mut Writer,
    parts: BufWriter<File>,
    /// The period after the last that was seen.
    next: u64,
    /// The last period that was handed over.
    last: i64,
    dropped: u64,
    failure: Option<io::Error>,
}

impl Sink<'_> {
    fn take(&mut self, activation: Activation) {
        let new = || Periods::new(self.spec.interval, activation.due, self.earliest);
        let Some(index) = self.periods.get_or_insert_with(new).of(activation) else {
            return;
        };
        self.next = index + 1;
        if index >= u64::from(self.spec.periods) {
            return;
        }
        let (words, used) = pack((index as i64 - self.last) as u64, activation.thread.0);
        if !self.ring.push(&words[..used]) {
            self.dropped += 1;
            return;
        }
        self.last = index as i64;
        if let Err(e) = self.parts.write_all(&activation.irq.0.to_le_bytes()) {
            self.failure = Some(e);
        }
    }

    fn finish(mut self, stopped: bool) -> io::Result<Taken> {
        self.parts.flush()?;
        let periods = self.spec.periods;
        let taken = Taken {
            schedule: Schedule {
                start: self.periods.map_or(self.earliest, |seen| seen.start()),
                interval: self.spec.interval,
                periods,
            },
            expected: if stopped {
                (self.next as u32).min(periods)
            } else {
                periods
            },
            dropped: self.dropped,
            early: 0,
            spun: Nanos(0),
        };
        self.failure.map_or(Ok(taken), Err)
    }
}
