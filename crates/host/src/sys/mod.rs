//! One small module for each system interface that needs `unsafe` and that the lab's guest does not need.
//!
//! ```text
//! rtc      the periodic interrupt of the real-time clock
//! ```

pub mod rtc;

use std::io;

/// Turns the -1 of a failed system call into the error that `errno` holds.
fn check<T: From<i8> + PartialEq>(result: T) -> io::Result<T> {
    if result == T::from(-1) {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
