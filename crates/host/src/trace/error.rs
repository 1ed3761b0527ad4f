//! Errors of the kernel's trace.

use std::io;
use std::path::PathBuf;
use worstcase_traces::format::FormatError;

/// Each is one line: what, where, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum TracingError {
    /// tracefs cannot be mounted or found.
    #[error(
        "tracefs cannot be reached: {0}; run as root (CAP_SYS_ADMIN), or mount it at /sys/kernel/tracing and make it readable"
    )]
    Tracefs(#[source] io::Error),
    /// A container's thread ids differ from those of the trace.
    #[error(
        "this container numbers its processes by itself, so the kernel's trace cannot be matched with them; share the machine's processes with it (--pid=host; in a pod hostPID: true)"
    )]
    OwnProcesses,
    /// A file of tracefs cannot be read.
    #[error("tracefs: {path} cannot be read: {source}; run as root, or make tracefs readable (mount option gid=)")]
    Read {
        /// Its path in tracefs.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file of tracefs refuses its value.
    #[error("cannot set {} to {value}: {source}; run as root, and end what else uses timerlat or osnoise", path.display())]
    Set {
        /// The file.
        path: PathBuf,
        /// The value.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// An instance of the kernel's trace refuses its value.
    #[error("cannot write {value:?} to {}: {source}", path.display())]
    Instance {
        /// The file.
        path: PathBuf,
        /// The value.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// This kernel lacks a tracepoint that is needed.
    #[error("this kernel has no tracepoint {0}; it needs CONFIG_FTRACE and CONFIG_PERF_EVENTS")]
    NoTracepoint(&'static str),
    /// Without tracepoints of vectors an instance's events cannot be told apart.
    #[error("this kernel traces the timer's interrupt as a device's, which perf alone tells apart")]
    NoVectors,
    /// A format file has an unexpected form.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// perf refuses for lack of rights.
    #[error(
        "perf_event_open: tracepoint {name} on CPU {cpu} is not permitted (kernel.perf_event_paranoid is {paranoid}); run as root, grant CAP_PERFMON, or set it to -1; a container's engine must let the call through, too (--security-opt seccomp=FILE)"
    )]
    NotPermitted {
        /// The tracepoint.
        name: String,
        /// The CPU.
        cpu: u32,
        /// The kernel's value of perf_event_paranoid.
        paranoid: String,
    },
    /// perf fails.
    #[error("perf: {what} of {name} on CPU {cpu} failed: {source}; {}", remedy(source))]
    Perf {
        /// The call that failed.
        what: &'static str,
        /// The tracepoint.
        name: String,
        /// The CPU.
        cpu: u32,
        /// Why.
        source: io::Error,
    },
}

fn remedy(source: &io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(libc::EMFILE) => "allow more open files (ulimit -n)",
        Some(libc::ENFILE) => "allow more open files (sysctl fs.file-max)",
        Some(libc::ENODEV | libc::ENXIO) => "choose a CPU that is online",
        Some(libc::ENOMEM | libc::EPERM) => "run as root, or allow more locked memory (ulimit -l)",
        Some(libc::ENOSYS | libc::EOPNOTSUPP) => "use a kernel with CONFIG_PERF_EVENTS and CONFIG_FTRACE",
        _ => "measure without the trace",
    }
}
