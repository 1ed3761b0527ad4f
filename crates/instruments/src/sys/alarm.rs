//! SIGALRM of a timer, and the handler that takes the instant: one a thread with POSIX timers, one a process with setitimer.
//!
//! The signal stays blocked except inside [`Alarm::wait`], so handler and main flow of a thread never touch the state
//! at the same time: no lock, no race at the end.

use super::clock::{self, timespec};
use super::{check, signal};
use std::cell::{Cell, UnsafeCell};
use std::io;
use worstcase_logs::Nanos;

/// What the handler does with an expiry of the timer.
pub trait OnExpiry {
    /// Called in the signal handler: `now` was read by its first instructions, `overrun` expiries followed
    /// the one that sent this signal before it was delivered (`si_overrun`; 0 with setitimer, which does not count
    /// them). Must not allocate or block.
    fn expired(&mut self, now: Nanos, overrun: u64);
}

/// The head of `siginfo_t` as a POSIX timer's signal fills it (64-bit machines).
#[repr(C)]
struct TimerSignalInfo {
    signo: libc::c_int,
    errno: libc::c_int,
    code: libc::c_int,
    pad: libc::c_int,
    timer: libc::c_int,
    overrun: libc::c_int,
}

/// How the kernel marks the signal of setitimer.
const SI_KERNEL: libc::c_int = 0x80;

/// Whom the handler tells: a function that knows the type of the state, and the state.
type Callback = (unsafe fn(*mut libc::c_void, Nanos, u64), *mut libc::c_void);

thread_local! {
    // The state of this thread's alarm. Constant and without destructor: reading it in a handler neither allocates nor
    // registers anything.
    static STATE: Cell<Option<Callback>> = const { Cell::new(None) };
}

extern "C" fn handler(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let now = clock::monotonic();
    // SAFETY: the kernel passes a valid siginfo_t (SA_SIGINFO), whose head has this shape for SI_TIMER; for other
    // codes these bytes are initialised integers, too.
    let info = unsafe { &*info.cast::<TimerSignalInfo>() };
    // What a person sends with kill(1) is no expiry.
    let overrun = match info.code {
        libc::SI_TIMER => info.overrun.max(0) as u64,
        SI_KERNEL => 0,
        _ => return,
    };
    if let Some((tell, state)) = STATE.get() {
        // SAFETY: `Alarm::new` stored both for each other, and the alarm's drop takes them back. The handler runs only
        // inside `wait`, which holds the alarm exclusively, and SIGALRM is blocked while it runs.
        unsafe { tell(state, now, overrun) };
    }
}

/// Tells an `S`.
///
/// # Safety
/// `state` points to an `S` to which no other reference exists.
unsafe fn tell<S: OnExpiry>(state: *mut libc::c_void, now: Nanos, overrun: u64) {
    // SAFETY: the caller's promise.
    unsafe { &mut *state.cast::<S>() }.expired(now, overrun);
}

/// Which timer sends the signal.
enum Timer {
    Posix(libc::timer_t),
    Interval,
}

impl Drop for Timer {
    fn drop(&mut self) {
        match self {
            // SAFETY: the timer was made by `Alarm::posix` and is deleted once.
            Timer::Posix(timer) => unsafe {
                libc::timer_delete(*timer);
            },
            // Switching off cannot fail: the values are valid.
            Timer::Interval => drop(set_interval_timer(Nanos(0), Nanos(0))),
        }
    }
}

/// A timer whose signal goes to the thread that made it, and the state that its handler uses. A thread has one at a time.
pub struct Alarm<S: OnExpiry> {
    // Dropped first: from then on no signal is sent.
    timer: Timer,
    _mask: Mask,
    state: Box<UnsafeCell<S>>,
    /// The thread's signal mask while it waits.
    open: libc::sigset_t,
    /// Handler and mask are those of one thread.
    _of_one_thread: core::marker::PhantomData<*mut ()>,
}

impl<S: OnExpiry> Alarm<S> {
    /// With a POSIX timer on CLOCK_MONOTONIC, not yet armed.
    pub fn posix(state: S) -> io::Result<Alarm<S>> {
        Self::new(state, posix_timer)
    }

    /// With the process's setitimer(ITIMER_REAL): every other thread must have SIGALRM blocked.
    pub fn interval(state: S) -> io::Result<Alarm<S>> {
        Self::new(state, || Ok(Timer::Interval))
    }

    fn new(state: S, timer: impl FnOnce() -> io::Result<Timer>) -> io::Result<Alarm<S>> {
        if STATE.get().is_some() {
            return Err(io::Error::from_raw_os_error(libc::EBUSY));
        }
        let (mask, open) = Mask::close();
        install()?;
        let timer = timer()?;
        let state = Box::new(UnsafeCell::new(state));
        STATE.set(Some((tell::<S>, state.get().cast())));
        Ok(Alarm {
            timer,
            _mask: mask,
            state,
            open,
            _of_one_thread: core::marker::PhantomData,
        })
    }

    /// Deletes the timer and gives the state back.
    pub fn into_state(self) -> S {
        let Alarm {
            timer, _mask, state, ..
        } = self;
        drop((timer, _mask));
        state.into_inner()
    }

    /// Arms the timer and returns when it is first due: at `first` with a POSIX timer; setitimer only knows how far away
    /// that is and counts in microseconds, so there it is up to the length of a system call later than what is returned.
    /// `interval` 0: it is due once.
    pub fn arm(&mut self, first: Nanos, interval: Nanos) -> io::Result<Nanos> {
        match self.timer {
            Timer::Posix(timer) => {
                set_posix_timer(timer, first, interval)?;
                Ok(first)
            }
            Timer::Interval => {
                let now = clock::monotonic();
                let away = Nanos(first.saturating_sub(now).0.max(1_000) / 1_000 * 1_000);
                set_interval_timer(away, interval)?;
                Ok(now + away)
            }
        }
    }

    /// Switches the timer off.
    pub fn disarm(&mut self) -> io::Result<()> {
        match self.timer {
            Timer::Posix(timer) => set_posix_timer(timer, Nanos(0), Nanos(0)),
            Timer::Interval => set_interval_timer(Nanos(0), Nanos(0)),
        }
    }

    /// Sleeps until a signal was handled; only here can the handler run.
    #[inline(always)]
    pub fn wait(&mut self) {
        // SAFETY: the set is valid; sigsuspend always returns, with EINTR and the old mask.
        unsafe { libc::sigsuspend(&self.open) };
    }

    /// The handler's state, between two waits.
    #[inline(always)]
    pub fn state(&mut self) -> &mut S {
        // SAFETY: the handler runs only inside `wait`, which needs the same exclusive borrow.
        unsafe { &mut *self.state.get() }
    }
}

/// SIGALRM blocked in this thread, until dropped.
struct Mask {
    was_blocked: bool,
}

impl Mask {
    /// Also the mask in which the signal is open.
    fn close() -> (Mask, libc::sigset_t) {
        let before = signal::mask();
        signal::block(&[signal::SIGALRM]);
        let mut open = before;
        // SAFETY: `before` and `open` are valid sets.
        let was_blocked = unsafe {
            libc::sigdelset(&mut open, signal::SIGALRM);
            libc::sigismember(&before, signal::SIGALRM) == 1
        };
        (Mask { was_blocked }, open)
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        // An expiry that still waits finds nobody to tell.
        STATE.set(None);
        if !self.was_blocked {
            signal::unblock(&[signal::SIGALRM]);
        }
    }
}

/// Installs the handler for this process, for good: without an alarm it does nothing.
fn install() -> io::Result<()> {
    // SAFETY: sigaction is plain data; the fields that matter are set below.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    action.sa_mask = signal::set_of(&[]);
    // SAFETY: `action` names a handler of the SA_SIGINFO form; the old action is not asked for.
    check(unsafe { libc::sigaction(signal::SIGALRM, &action, core::ptr::null_mut()) })?;
    Ok(())
}

fn posix_timer() -> io::Result<Timer> {
    // SAFETY: sigevent is plain data; the fields that matter are set below.
    let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = signal::SIGALRM;
    event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
    let mut timer = core::ptr::null_mut();
    // SAFETY: `event` is valid, `timer` is valid to fill.
    check(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) })?;
    Ok(Timer::Posix(timer))
}

fn set_posix_timer(timer: libc::timer_t, first: Nanos, interval: Nanos) -> io::Result<()> {
    let value = libc::itimerspec {
        it_interval: timespec(interval),
        it_value: timespec(first),
    };
    // SAFETY: the timer exists as long as the alarm; `value` is valid, the old value is not asked for.
    check(unsafe { libc::timer_settime(timer, libc::TIMER_ABSTIME, &value, core::ptr::null_mut()) })?;
    Ok(())
}

fn set_interval_timer(first: Nanos, interval: Nanos) -> io::Result<()> {
    let timeval = |t: Nanos| libc::timeval {
        tv_sec: (t.0 / 1_000_000_000) as libc::time_t,
        tv_usec: (t.0 % 1_000_000_000 / 1_000) as libc::suseconds_t,
    };
    let value = libc::itimerval {
        it_interval: timeval(interval),
        it_value: timeval(first),
    };
    // SAFETY: setitimer's kernel interface takes a valid itimerval; the old value is not asked for.
    check(unsafe {
        libc::syscall(
            libc::SYS_setitimer,
            libc::ITIMER_REAL,
            &raw const value,
            core::ptr::null_mut::<libc::itimerval>(),
        )
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Count(u64);

    impl OnExpiry for Count {
        fn expired(&mut self, now: Nanos, overrun: u64) {
            assert!(now > Nanos(0));
            self.0 += 1 + overrun;
        }
    }

    /// Each thread's expiries are its own, and one that ends takes none from another.
    #[test]
    fn threads_have_alarms_of_their_own() {
        std::thread::scope(|scope| {
            for expiries in [3, 30, 100] {
                scope.spawn(move || {
                    let mut alarm = Alarm::posix(Count::default()).unwrap();
                    assert!(Alarm::posix(Count::default()).is_err(), "two in a thread");
                    alarm.arm(clock::monotonic(), Nanos::from_millis(1)).unwrap();
                    while alarm.state().0 < expiries {
                        alarm.wait();
                    }
                    alarm.disarm().unwrap();
                    assert!(alarm.into_state().0 >= expiries);
                    assert!(Alarm::posix(Count::default()).is_ok(), "one after the other");
                });
            }
        });
    }
}
