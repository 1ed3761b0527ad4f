//! Loads that take all there is: processes, and memory.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

/// Every process forks until it may not any more, `most` times each; then all sleep. Without a parent that waits.
pub(crate) fn forks(most: u32) -> io::Result<Infallible> {
    for _ in 0..most {
        // SAFETY: this process has one thread.
        let child = unsafe { libc::fork() };
        if child < 0 {
            break;
        }
    }
    loop {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes so many MiB more each time, writes to all of them and never gives one back.
pub(crate) fn memory(mib: usize) -> io::Result<Infallible> {
    loop {
        let block = vec![1_u8; mib << 20].leak();
        std::hint::black_box(block);
    }
}
