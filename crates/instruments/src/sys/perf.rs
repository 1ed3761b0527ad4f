//! Counters of the kernel's own events (perf_event_open(2)).

use super::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct perf_event_attr` of its first version.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    others: [u64; 2],
}

const SOFTWARE: u32 = 1;
const CONTEXT_SWITCHES: u64 = 3;
/// All counters of a group are read at once.
const FORMAT_GROUP: u64 = 1 << 3;
/// Not counting yet.
const DISABLED: u64 = 1;
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;
const WHOLE_GROUP: libc::c_ulong = 1;
/// No descriptor.
const NONE: i32 = -1;

impl Attributes {
    /// Of the calling process's context switches.
    fn of_switches() -> Attributes {
        Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CONTEXT_SWITCHES,
            ..Attributes::default()
        }
    }

    /// A counter in the group of this leader, or the leader of one.
    fn open(&self, leader: i32) -> io::Result<OwnedFd> {
        // SAFETY: the attributes are as long as they say, and the kernel copies them.
        let opened = check(unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const *self, 0, -1, leader, 0) })?;
        // SAFETY: the kernel has just made it, and nobody else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(opened as i32) })
    }
}

/// Counts the calling process's context switches until it is dropped.
#[derive(Debug)]
pub(crate) struct SwitchCounter(OwnedFd);

impl SwitchCounter {
    /// Begins.
    pub(crate) fn open() -> io::Result<SwitchCounter> {
        Attributes::of_switches().open(NONE).map(SwitchCounter)
    }

    /// Switches so far.
    pub fn read(&self) -> io::Result<u64> {
        let mut count = [0; 8];
        rustix::io::read(&self.0, &mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

/// Counters of the calling process's context switches that begin and end together.
#[derive(Debug)]
pub(crate) struct SwitchGroup {
    /// The first is the leader.
    counters: Vec<OwnedFd>,
    /// How many there are, and what each counted.
    read: Vec<u8>,
}

impl SwitchGroup {
    /// So many, which do not count yet.
    pub(crate) fn open(counters: usize) -> io::Result<SwitchGroup> {
        let leader = Attributes {
            read_format: FORMAT_GROUP,
            flags: DISABLED,
            ..Attributes::of_switches()
        };
        let member = Attributes { flags: 0, ..leader };
        let first = leader.open(NONE)?;
        let leads = first.as_raw_fd();
        let rest = (1..counters).map(|_| member.open(leads));
        let counters: Vec<OwnedFd> = std::iter::once(Ok(first)).chain(rest).collect::<io::Result<_>>()?;
        let read = vec![0; (counters.len() + 1) * 8];
        Ok(SwitchGroup { counters, read })
    }

    /// Has all count for a moment, and reads them; returns how many were read.
    pub(crate) fn count(&mut self) -> io::Result<u64> {
        for request in [ENABLE, DISABLE] {
            // SAFETY: no pointers are passed.
            check(unsafe { libc::ioctl(self.counters[0].as_raw_fd(), request as _, WHOLE_GROUP) })?;
        }
        rustix::io::read(&self.counters[0], &mut self.read[..])?;
        Ok(u64::from_ne_bytes(
            *self.read.first_chunk().expect("a group has a counter"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_read_at_once() {
        match SwitchGroup::open(3) {
            Ok(mut group) => assert_eq!((group.count().unwrap(), group.count().unwrap()), (3, 3)),
            Err(e) => assert!(
                matches!(e.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::ENOSYS)),
                "{e}"
            ),
        }
    }
}
