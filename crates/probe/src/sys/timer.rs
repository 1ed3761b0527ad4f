//! A POSIX interval timer that sends SIGALRM to this thread, and the handler that takes the instant.
//!
//! The signal stays blocked except inside [`Alarm::wait`], so handler and main flow never touch the state
//! at the same time: no lock, no race at the end.

use super::clock::{self, timespec};
use super::{check, signal};
use crate::units::Nanos;
use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What the handler does with an expiry of the timer.
pub trait OnExpiry {
    /// Called in the signal handler: `now` was read by its first instructions, `overrun` expiries followed
    /// the one that sent this signal before it was delivered (`si_overrun`). Must not allocate or block.
    fn expired(&mut self, now: Nanos, overrun: u32);
}

/// The head of `siginfo_t` as a timer's signal fills it (x86-64 and other 64-bit machines).
#[repr(C)]
struct TimerSignalInfo {
    signo: libc::c_int,
    errno: libc::c_int,
    code: libc::c_int,
    pad: libc::c_int,
    timer: libc::c_int,
    overrun: libc::c_int,
}

/// The state of the one [`Alarm`] that exists, or null.
static STATE: AtomicPtr<libc::c_void> = AtomicPtr::new(core::ptr::null_mut());

extern "C" fn handler<S: OnExpiry>(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let now = clock::monotonic();
    // SAFETY: the kernel passes a valid siginfo_t (SA_SIGINFO), whose head has this shape for SI_TIMER; the
    // other signals' fields are integers of the same places.
    let info = unsafe { &*info.cast::<TimerSignalInfo>() };
    // A SIGALRM that somebody sent by hand is no expiry.
    if info.code == libc::SI_TIMER {
        // SAFETY: `Alarm::new` stored a pointer to an `S`, and `Installed`'s drop takes it back after the
        // handler can no longer run. The handler runs only inside `wait`, which holds the alarm exclusively,
        // and SIGALRM is blocked while it runs, so this is the only reference.
        if let Some(state) = unsafe { STATE.load(Ordering::Relaxed).cast::<S>().as_mut() } {
            state.expired(now, info.overrun.max(0) as u32);
        }
    }
}

/// The timer, the handler and the handler's state.
pub struct Alarm<S: OnExpiry> {
    // Dropped first: from then on the handler cannot run.
    armed: Installed,
    state: Box<UnsafeCell<S>>,
}

/// Timer and signal action, taken back when dropped.
struct Installed {
    timer: libc::timer_t,
    old_action: libc::sigaction,
}

impl<S: OnExpiry> Alarm<S> {
    /// Makes the timer (not yet armed). There can be one at a time in a process.
    pub fn new(state: S) -> io::Result<Alarm<S>> {
        let state = Box::new(UnsafeCell::new(state));
        STATE
            .compare_exchange(
                core::ptr::null_mut(),
                state.get().cast(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .map_err(|_| io::Error::from_raw_os_error(libc::EBUSY))?;
        let made = Self::install();
        if made.is_err() {
            STATE.store(core::ptr::null_mut(), Ordering::Relaxed);
        }
        Ok(Alarm { armed: made?, state })
    }

    /// Deletes the timer and gives the state back.
    pub fn into_state(self) -> S {
        let Alarm { armed, state } = self;
        drop(armed);
        state.into_inner()
    }

    fn install() -> io::Result<Installed> {
        signal::block(&[signal::SIGALRM]);
        // SAFETY: sigaction is plain data; the fields that matter are set below.
        let (mut action, mut old): (libc::sigaction, libc::sigaction) =
            unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
        action.sa_sigaction = handler::<S> as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        action.sa_mask = signal::set_of(&[]);
        // SAFETY: `action` names a handler of the SA_SIGINFO form; `old` is valid to fill.
        check(unsafe { libc::sigaction(signal::SIGALRM, &action, &mut old) })?;
        // SAFETY: sigevent is plain data; the fields that matter are set below.
        let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal::SIGALRM;
        // Not libc::gettid: Rust's runtime declares that weak, and a static, link-time optimised program then calls null.
        // SAFETY: no arguments; the thread id always exists.
        event.sigev_notify_thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as libc::c_int;
        let mut timer = core::ptr::null_mut();
        // SAFETY: `event` is valid, `timer` is valid to fill.
        let made = check(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) });
        if let Err(error) = made {
            // SAFETY: `old` is the action that was in force before.
            unsafe { libc::sigaction(signal::SIGALRM, &old, core::ptr::null_mut()) };
            return Err(error);
        }
        Ok(Installed { timer, old_action: old })
    }

    /// Arms the timer: first expiry at `first` on CLOCK_MONOTONIC, then every `interval` (zero: once).
    pub fn arm(&mut self, first: Nanos, interval: Nanos) -> io::Result<()> {
        let value = libc::itimerspec {
            it_interval: timespec(interval),
            it_value: timespec(first),
        };
        // SAFETY: the timer exists as long as `self`; `value` is valid, the old value is not asked for.
        check(unsafe { libc::timer_settime(self.armed.timer, libc::TIMER_ABSTIME, &value, core::ptr::null_mut()) })?;
        Ok(())
    }

    /// Sleeps until a signal was handled; only here can the handler run.
    #[inline(always)]
    pub fn wait(&mut self) {
        let none = signal::set_of(&[]);
        // SAFETY: `none` is a valid set; sigsuspend always returns with EINTR and the old mask.
        unsafe { libc::sigsuspend(&none) };
    }

    /// The handler's state, between two waits.
    #[inline(always)]
    pub fn state(&mut self) -> &mut S {
        // SAFETY: the handler runs only inside `wait`, which needs the same exclusive borrow.
        unsafe { &mut *self.state.get() }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        // SAFETY: the timer was made by `new` and is deleted once.
        unsafe { libc::timer_delete(self.timer) };
        // An expiry that is still pending would be delivered to the old action: ignoring discards it.
        // SAFETY: SIG_IGN is a valid action, `old_action` the one that was in force before.
        unsafe {
            libc::signal(signal::SIGALRM, libc::SIG_IGN);
            libc::sigaction(signal::SIGALRM, &self.old_action, core::ptr::null_mut());
        }
        signal::unblock(&[signal::SIGALRM]);
        STATE.store(core::ptr::null_mut(), Ordering::Relaxed);
    }
}
