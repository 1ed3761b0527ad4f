//! A mutex that a thread without priority holds for long while one above the probe wants it.
//!
//! If the mutex hands the waiter's priority on, its owner runs before the probe; if not, the probe runs before the owner.

use super::threads::{compute, gone, highest_every_period, named};
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mutex in user memory; only the kernel's side of it matters here.
pub(crate) trait UserMutex: Sync {
    /// Waits until it is ours.
    fn lock(&self);
    /// Gives it to the next.
    fn unlock(&self);
}

/// With priority inheritance: PTHREAD_PRIO_INHERIT without the fast path.
#[derive(Default)]
pub(crate) struct Inheriting(AtomicU32);

/// Without: 0 is free, 1 is held.
#[derive(Default)]
pub(crate) struct Plain(AtomicU32);

/// A futex operation of this process; the result of the system call.
fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) -> libc::c_long {
    let none = std::ptr::null::<libc::timespec>();
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call, and there is no timeout.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, none) }
}

impl UserMutex for Inheriting {
    fn lock(&self) {
        assert_eq!(futex(&self.0, libc::FUTEX_LOCK_PI, 0), 0, "no lock");
    }

    fn unlock(&self) {
        assert_eq!(futex(&self.0, libc::FUTEX_UNLOCK_PI, 0), 0, "no unlock");
    }
}

impl UserMutex for Plain {
    fn lock(&self) {
        while self.0.swap(1, Ordering::Acquire) == 1 {
            futex(&self.0, libc::FUTEX_WAIT, 1);
        }
    }

    fn unlock(&self) {
        self.0.store(0, Ordering::Release);
        futex(&self.0, libc::FUTEX_WAKE, 1);
    }
}

/// The owner computes under the mutex, with a short pause; the waiter only wants to have had it.
pub(crate) fn run<L: UserMutex + Default + Send + 'static>(instructions: u32) -> io::Result<Infallible> {
    let lock: &'static L = Box::leak(Box::default());
    named("planted-waiter", || {
        let failed = highest_every_period(|| {
            lock.lock();
            lock.unlock();
        });
        failed.expect("root may have every priority");
    })?;
    let owner = named("planted-owner", move || {
        loop {
            lock.lock();
            compute(instructions);
            lock.unlock();
            compute(instructions / 4);
        }
    })?;
    Err(gone(owner))
}
