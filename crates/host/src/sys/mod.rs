//! One small module for each system interface that needs `unsafe` and that the lab's guest does not need.
//!
//! ```text
//! policy   scheduling policies of a thread, SCHED_DEADLINE among them
//! alarm    SIGALRM of a POSIX timer a thread, or of setitimer
//! usage    CPU time and page faults of one thread
//! rtc      the periodic interrupt of the real-time clock
//! ```

pub mod alarm;
pub mod policy;
pub mod rtc;
pub mod usage;

use std::io;

/// Turns the -1 of a failed system call into the error that `errno` holds.
fn check<T: From<i8> + PartialEq>(result: T) -> io::Result<T> {
    if result == T::from(-1) {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
