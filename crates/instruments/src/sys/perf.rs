//! Counters of the kernel's own events (perf_event_open(2)).

use super::check;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// `struct perf_event_attr` of its first version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    others: [u64; 6],
}

const SOFTWARE: u32 = 1;
const CONTEXT_SWITCHES: u64 = 3;

/// Counts the calling process's context switches until it is dropped.
#[derive(Debug)]
pub(crate) struct SwitchCounter(OwnedFd);

impl SwitchCounter {
    /// Begins.
    pub(crate) fn open() -> io::Result<SwitchCounter> {
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CONTEXT_SWITCHES,
            ..Attributes::default()
        };
        // SAFETY: the attributes are as long as they say, and the kernel copies them.
        let opened = check(unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, 0) })?;
        // SAFETY: the kernel has just made it, and nobody else has it.
        Ok(SwitchCounter(unsafe { OwnedFd::from_raw_fd(opened as i32) }))
    }

    /// Switches so far.
    pub fn read(&self) -> io::Result<u64> {
        let mut count = [0; 8];
        rustix::io::read(&self.0, &mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}
