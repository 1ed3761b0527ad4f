//! System calls of the program.

use crate::events::ARGUMENTS;
use std::fmt;
use syscalls::Sysno;
use worstcase_contract::Nanos;

/// A system call that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Its number.
    pub number: u32,
    /// Its first arguments.
    pub arguments: [u64; ARGUMENTS],
    /// When it was entered.
    pub entered: Nanos,
}

/// What the first argument of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Descriptor,
    Futex,
    Other,
}

/// A call with what it works on, without when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKind {
    /// The call's number.
    pub number: u32,
    /// The descriptor or futex that it works on.
    pub object: Option<u64>,
    /// Of futex the operation without its flags, of clock_nanosleep whether it sleeps until an instant.
    pub operation: u32,
}

/// The operation bits of futex(2).
const FUTEX_OPERATION: u64 = 0x7f;
/// The flag of clock_nanosleep(2) to sleep until an instant.
const TIMER_ABSTIME: u64 = 1;
/// FUTEX_LOCK_PI and FUTEX_LOCK_PI2.
const FUTEX_LOCK_PI: [u32; 2] = [6, 13];
/// FUTEX_WAIT, with which a mutex of the C library is awaited.
const FUTEX_WAIT: u32 = 0;

impl Call {
    /// The call as what it works on.
    pub fn kind(&self) -> CallKind {
        let first = first(self.number);
        CallKind {
            number: self.number,
            object: (first != First::Other).then_some(self.arguments[0]),
            operation: match first {
                First::Futex => (self.arguments[1] & FUTEX_OPERATION) as u32,
                _ if self.number == Sysno::clock_nanosleep.id() as u32 => (self.arguments[1] & TIMER_ABSTIME) as u32,
                _ => 0,
            },
        }
    }
}

impl CallKind {
    /// No call: a mark that a user named.
    pub const MARK: CallKind = CallKind {
        number: u32::MAX,
        object: None,
        operation: 0,
    };

    /// Whether the first argument of the call with this number is what it works on: a descriptor or a futex.
    pub fn works_on_first(number: u32) -> bool {
        first(number) != First::Other
    }

    /// It is a call of this name.
    pub fn is(&self, call: Sysno) -> bool {
        self.number == call.id() as u32
    }

    /// Whether it waits for a mutex that does not hand its owner the waiter's priority. A condition or semaphore of the C
    /// library waits with FUTEX_WAIT_BITSET.
    pub fn is_plain_mutex(&self) -> bool {
        self.is(Sysno::futex) && self.operation == FUTEX_WAIT
    }

    /// Whether it waits for a mutex with priority inheritance.
    pub fn inherits(&self) -> bool {
        self.is(Sysno::futex) && FUTEX_LOCK_PI.contains(&self.operation)
    }

    /// Whether it sleeps for a time, not until an instant.
    pub fn is_relative_sleep(&self) -> bool {
        match self.is(Sysno::clock_nanosleep) {
            true => self.operation == 0,
            false => ["nanosleep", "poll", "ppoll", "select", "pselect6"].contains(&self.name().as_str()),
        }
    }

    /// The same wait for a loop: a futex is waited for in several ways.
    pub fn is_same_wait(&self, other: &CallKind) -> bool {
        let is_futex = self.is(Sysno::futex);
        (self.number, self.object) == (other.number, other.object) && (is_futex || self.operation == other.operation)
    }

    /// Forgets which futex it is: that differs from run to run.
    pub(super) fn forget_address(&mut self) {
        if self.is(Sysno::futex) {
            self.object = None;
        }
    }

    /// Its name.
    pub fn name(&self) -> String {
        match Sysno::new(self.number as usize) {
            Some(call) => call.name().to_string(),
            None if *self == CallKind::MARK => "mark".into(),
            None => format!("system call {}", self.number),
        }
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self.object {
            Some(address) if self.is(Sysno::futex) => write!(f, "(0x{address:x})"),
            Some(descriptor) => write!(f, "(descriptor {descriptor})"),
            None if self.is(Sysno::clock_nanosleep) && self.operation == 0 => f.write_str("(relative)"),
            None => Ok(()),
        }
    }
}

/// Calls whose first argument is a descriptor, by their names on every architecture.
const ON_DESCRIPTORS: [&str; 36] = [
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "recvfrom",
    "sendto",
    "recvmsg",
    "sendmsg",
    "recvmmsg",
    "sendmmsg",
    "accept",
    "accept4",
    "connect",
    "fsync",
    "fdatasync",
    "ioctl",
    "close",
    "fcntl",
    "flock",
    "ftruncate",
    "fallocate",
    "getdents64",
    "sync_file_range",
    "timerfd_settime",
    "io_uring_enter",
    "splice",
    "sendfile",
    "lseek",
    "shutdown",
];

fn first(number: u32) -> First {
    match Sysno::new(number as usize).map(|call| call.name()) {
        Some("futex") => First::Futex,
        Some(name) if ON_DESCRIPTORS.contains(&name) => First::Descriptor,
        _ => First::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: Sysno, arguments: [u64; ARGUMENTS]) -> CallKind {
        let call = Call {
            number: name.id() as u32,
            arguments,
            entered: Nanos(0),
        };
        call.kind()
    }

    #[test]
    fn a_call_is_named_with_what_it_works_on() {
        assert_eq!(call(Sysno::write, [4, 9, 9, 9]).to_string(), "write(descriptor 4)");
        assert_eq!(call(Sysno::futex, [0x7f00, 0x80, 2, 0]).to_string(), "futex(0x7f00)");
        assert_eq!(
            call(Sysno::clock_nanosleep, [1, 1, 9, 0]).to_string(),
            "clock_nanosleep"
        );
        assert_eq!(call(Sysno::write, [4, 1, 1, 1]), call(Sysno::write, [4, 2, 2, 2]));
    }

    #[test]
    fn the_operation_tells_which_lock_inherits() {
        let futex = |operation| call(Sysno::futex, [1, operation, 0, 0]);
        assert!(futex(0x80).is_plain_mutex() && !futex(0x80).inherits());
        assert!(futex(0x86).inherits() && futex(0x8d).inherits());
        assert!(!futex(0x189).is_plain_mutex());
    }
}
