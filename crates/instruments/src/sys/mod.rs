//! One small module for each system interface that needs `unsafe`; what they offer outside is safe.
//!
//! ```text
//! clock    read and sleep on CLOCK_MONOTONIC, CPU time        memory  lock, map, touch
//! sched    policy, priority, nice                             shm     System V segments
//! signal   masks, signalfd, poll                              alarm   SIGALRM of a timer, and its handler
//! process  fork, exec, wait, kill, who reaps                  affinity  which CPUs a thread may run on
//! futex    wait for a word of memory                          eventfd   an event counter
//! gate     one thread lets another one pass                   mutex     the C library's, and its owner's priority
//! usage    CPU time and switches                              rlimit    resource limits
//! thread   threads of little stack                            timerfd   timers that are files
//! udp      sockets that share a port                          filter    of packets
//! perf     counters of events                                 membarrier  barriers in other threads
//! device   mount, device nodes, network interface             epoll     waiting for several files
//! rtc      the periodic interrupt of the real-time clock      seccomp   filters of system calls
//! map      of the kernel's own programs
//! ```
//! What one crate alone needs stands there: Linux AIO and the page cache in `io`, ports and counters in `wires`.

pub mod affinity;
pub mod alarm;
pub mod clock;
pub mod device;
pub mod epoll;
pub(crate) mod eventfd;
pub mod filter;
pub mod futex;
pub mod gate;
pub(crate) mod map;
pub mod membarrier;
pub mod memory;
pub mod mutex;
pub mod perf;
pub mod process;
pub mod rlimit;
pub mod rtc;
pub mod sched;
pub(crate) mod seccomp;
pub mod shm;
pub mod signal;
pub mod thread;
pub mod timerfd;
pub mod udp;
pub mod usage;

use std::io;

/// Turns the -1 of a failed system call into the error that `errno` holds.
pub fn check<T: From<i8> + PartialEq>(result: T) -> io::Result<T> {
    if result == T::from(-1) {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The same kind of error, in other words.
pub fn say(error: &io::Error, words: String) -> io::Error {
    io::Error::new(error.kind(), words)
}
