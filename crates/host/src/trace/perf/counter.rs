//! One tracepoint, or one function's beginning, on one CPU: `perf_event_open` and its ioctls.

use perf_event_open_sys::{bindings as sys, ioctls, perf_event_open};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What a record of each counter holds, in this order: see [`super::ring`].
const SAMPLE: sys::perf_event_sample_format = sys::PERF_SAMPLE_IDENTIFIER
    | sys::PERF_SAMPLE_TID
    | sys::PERF_SAMPLE_TIME
    | sys::PERF_SAMPLE_CPU
    | sys::PERF_SAMPLE_RAW;

/// What a counter counts.
#[derive(Clone, Debug)]
pub enum CounterSource {
    /// A tracepoint, by its number.
    Tracepoint(u64),
    /// The entry of a kernel function (a kprobe), with its first two arguments.
    Function {
        /// The type number of perf's kprobe PMU.
        kind: u32,
        /// The function's name in /proc/kallsyms.
        name: CString,
    },
}

/// The registers of a function's first two arguments, as bits of sample_regs_intr (asm/perf_regs.h); [`super::ring`] reads
/// them.
const ARGUMENTS: u64 = match (cfg!(target_arch = "x86_64"), cfg!(target_arch = "riscv64")) {
    // SI and DI.
    (true, _) => 1 << 4 | 1 << 5,
    // A0 and A1.
    (_, true) => 1 << 10 | 1 << 11,
    // X0 and X1 of arm64, R0 and R1 of arm.
    _ => 1 << 0 | 1 << 1,
};

/// What to count, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterRequest<'s> {
    /// What is counted.
    pub source: &'s CounterSource,
    /// The CPU.
    pub cpu: u32,
    /// Only while this thread runs there, or one that it has started since; all threads otherwise.
    pub thread: Option<u32>,
    /// With the kernel's call chain.
    pub chain: bool,
    /// A poller is woken when the ring holds this many bytes.
    pub wake_at: u32,
}

/// A counter; closed when dropped.
#[derive(Debug)]
pub struct Counter(OwnedFd);

impl Counter {
    /// Makes the counter, disabled.
    pub(crate) fn open(request: CounterRequest<'_>) -> io::Result<Counter> {
        let mut attr = sys::perf_event_attr {
            size: size_of::<sys::perf_event_attr>() as u32,
            clockid: libc::CLOCK_MONOTONIC,
            sample_type: u64::from(SAMPLE),
            ..sys::perf_event_attr::default()
        };
        match request.source {
            CounterSource::Tracepoint(number) => (attr.type_, attr.config) = (sys::PERF_TYPE_TRACEPOINT, *number),
            CounterSource::Function { kind, name } => {
                attr.type_ = *kind;
                attr.__bindgen_anon_3.kprobe_func = name.as_ptr() as u64;
                attr.sample_type |= u64::from(sys::PERF_SAMPLE_REGS_INTR);
                attr.sample_regs_intr = ARGUMENTS;
            }
        }
        attr.sample_period = 1;
        attr.wakeup_watermark = request.wake_at;
        attr.set_watermark(1);
        attr.set_disabled(1);
        attr.set_sample_id_all(1);
        attr.set_use_clockid(1);
        attr.set_inherit(u64::from(request.thread.is_some()));
        if request.chain {
            attr.sample_type |= u64::from(sys::PERF_SAMPLE_CALLCHAIN);
            attr.set_exclude_callchain_user(1);
        }
        // SAFETY: `attr` is a whole perf_event_attr of the stated size; it asks for records alone, and the name that it may
        // point to lives as long as the request.
        let fd = unsafe {
            perf_event_open(
                &mut attr,
                request.thread.map_or(-1, |tid| tid as libc::pid_t),
                request.cpu as libc::c_int,
                -1,
                libc::c_ulong::from(sys::PERF_FLAG_FD_CLOEXEC),
            )
        };
        check(fd)?;
        // SAFETY: the descriptor was just made and belongs to nobody else.
        Ok(Counter(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The id that its records carry.
    pub fn id(&self) -> io::Result<u64> {
        let mut id = 0;
        // SAFETY: `id` is valid to fill.
        check(unsafe { ioctls::ID(self.0.as_raw_fd(), &mut id) })?;
        Ok(id)
    }

    /// Keeps only records that match the expression (the kernel's `Documentation/trace/events.rst`, event filtering).
    pub fn filter(&self, expression: &str) -> io::Result<()> {
        let text = CString::new(expression)?;
        // SAFETY: the kernel copies the terminated string and does not write to it.
        check(unsafe { ioctls::SET_FILTER(self.0.as_raw_fd(), text.as_ptr().cast_mut()) })
    }

    /// Redirects records to the ring of `first`, which must be mapped and belong to the same CPU.
    pub(crate) fn write_to_ring_of(&self, first: &Counter) -> io::Result<()> {
        // SAFETY: no pointers are passed.
        check(unsafe { ioctls::SET_OUTPUT(self.0.as_raw_fd(), first.0.as_raw_fd()) })
    }

    /// Begins.
    pub(crate) fn enable(&self) -> io::Result<()> {
        // SAFETY: no pointers are passed.
        check(unsafe { ioctls::ENABLE(self.0.as_raw_fd(), 0) })
    }
}

impl AsFd for Counter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
