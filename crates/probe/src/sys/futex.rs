//! Waiting for a word of memory to change (futex).

use super::check;
use std::io;
use std::sync::atomic::AtomicU32;

/// Who uses the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Threads of one process.
    Private,
    /// Several processes, in memory that they share.
    Shared,
}

impl Scope {
    fn flag(self) -> libc::c_int {
        match self {
            Scope::Private => libc::FUTEX_PRIVATE_FLAG,
            Scope::Shared => 0,
        }
    }
}

/// Sleeps until somebody wakes the word's waiters; returns at once if it does not hold `expected`. May also return for no reason.
#[inline(always)]
pub fn wait(word: &AtomicU32, expected: u32, scope: Scope) -> io::Result<()> {
    let forever: *const libc::timespec = core::ptr::null();
    // SAFETY: `word` is a valid aligned word for the time of the call; no timeout is passed.
    let waited = check(unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | scope.flag(),
            expected,
            forever,
        )
    });
    match waited {
        Ok(_) => Ok(()),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => Ok(()),
        Err(e) => Err(e),
    }
}

/// Wakes one waiter of the word, if there is one.
#[inline(always)]
pub fn wake_one(word: &AtomicU32, scope: Scope) -> io::Result<()> {
    let one: libc::c_int = 1;
    // SAFETY: the kernel does not read the word, which is valid and aligned.
    check(unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | scope.flag(), one) })?;
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
