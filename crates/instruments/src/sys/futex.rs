//! Waiting for a word of memory to change (futex).

use super::clock::rustix_timespec;
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use std::io;
use std::num::NonZeroU32;
use std::sync::atomic::AtomicU32;
use worstcase_logs::Nanos;

/// Who uses the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Threads of one process.
    Private,
    /// Several processes, in memory that they share.
    Shared,
}

impl Scope {
    #[inline(always)]
    fn flags(self) -> Flags {
        match self {
            Scope::Private => Flags::PRIVATE,
            Scope::Shared => Flags::empty(),
        }
    }
}

/// Sleeps until somebody wakes the word's waiters; returns at once if it does not hold `expected`. May also return for no reason.
#[inline(always)]
pub fn wait(word: &AtomicU32, expected: u32, scope: Scope) -> io::Result<()> {
    match futex::wait(word, scope.flags(), expected, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// The same, at the longest until `end` on CLOCK_MONOTONIC; says whether that has passed.
pub fn wait_until(word: &AtomicU32, expected: u32, scope: Scope, end: Nanos) -> bool {
    let end = rustix_timespec(end);
    let anybody = NonZeroU32::MAX;
    futex::wait_bitset(word, scope.flags(), expected, Some(&end), anybody) == Err(Errno::TIMEDOUT)
}

/// Wakes one waiter of the word, if there is one.
#[inline(always)]
pub(crate) fn wake_one(word: &AtomicU32, scope: Scope) -> io::Result<()> {
    futex::wake(word, scope.flags(), 1)?;
    Ok(())
}

/// Wakes all waiters of the word.
pub(crate) fn wake_all(word: &AtomicU32, scope: Scope) -> io::Result<()> {
    futex::wake(word, scope.flags(), i32::MAX as u32)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_waiter_is_woken_and_a_changed_word_is_not_waited_for() {
        for scope in [Scope::Private, Scope::Shared] {
            let word = AtomicU32::new(1);
            wait(&word, 0, scope).unwrap();
            word.store(0, Ordering::SeqCst);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    while word.load(Ordering::SeqCst) == 0 {
                        wait(&word, 0, scope).unwrap();
                    }
                });
                word.store(1, Ordering::SeqCst);
                wake_one(&word, scope).unwrap();
            });
        }
    }
}
