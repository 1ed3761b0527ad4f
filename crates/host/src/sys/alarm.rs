//! SIGALRM of a timer, and the handler that takes the instant: one a thread with POSIX timers, one a process with setitimer.
//!
//! The signal stays blocked except inside [`Alarm::wait`], so handler and main flow of a thread never touch the state
//! at the same time.

use super::check;
use std::cell::Cell;
use std::io;
use worstcase_probe::Nanos;
use worstcase_probe::sys::clock;

/// What the handler saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expiry {
    /// Read by the handler's first instructions.
    pub now: Nanos,
    /// Expiries that followed before the signal was delivered; 0 where the timer does not count them.
    pub overrun: u64,
}

thread_local! {
    // Constant and without destructor: reading it in a handler neither allocates nor registers anything.
    static SEEN: Cell<Option<Expiry>> = const { Cell::new(None) };
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
    SEEN.set(Some(Expiry { now, overrun }));
}

/// How the kernel marks the signal of setitimer.
const SI_KERNEL: libc::c_int = 0x80;

/// Which timer sends the signal.
enum Timer {
    Posix(libc::timer_t),
    Interval,
}

/// A timer whose signal goes to the thread that made it.
pub struct Alarm {
    timer: Timer,
    /// The thread's signal mask while it waits.
    open: libc::sigset_t,
}

fn alarm_set() -> libc::sigset_t {
    // SAFETY: sigset_t is plain data that sigemptyset makes valid.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGALRM);
        set
    }
}

/// Blocks SIGALRM in the calling thread and in those that it makes.
pub fn block() {
    // SAFETY: the set is valid; the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &alarm_set(), std::ptr::null_mut()) };
}

/// Installs the handler for this process.
fn install() -> io::Result<()> {
    // SAFETY: sigaction is plain data; the fields that matter are set below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: `action` names a handler of the SA_SIGINFO form; the old action is not asked for.
    check(unsafe { libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut()) })?;
    Ok(())
}

impl Alarm {
    fn new(timer: Timer) -> Alarm {
        // SAFETY: sigset_t is plain data, which pthread_sigmask fills with the thread's mask.
        let open = unsafe {
            let mut open = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut open);
            libc::sigdelset(&mut open, libc::SIGALRM);
            open
        };
        Alarm { timer, open }
    }

    /// A POSIX timer on CLOCK_MONOTONIC for the calling thread, not yet armed.
    pub fn posix() -> io::Result<Alarm> {
        block();
        install()?;
        // SAFETY: sigevent is plain data; the fields that matter are set below.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGALRM;
        // SAFETY: no arguments; the thread's id always exists.
        event.sigev_notify_thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as libc::c_int;
        let mut timer = std::ptr::null_mut();
        // SAFETY: `event` is valid, `timer` is valid to fill.
        check(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) })?;
        Ok(Alarm::new(Timer::Posix(timer)))
    }

    /// The process's setitimer(ITIMER_REAL): every other thread must have SIGALRM blocked.
    pub fn interval() -> io::Result<Alarm> {
        block();
        install()?;
        Ok(Alarm::new(Timer::Interval))
    }

    /// Arms the timer and returns when it is first due: at `first` with a POSIX timer; setitimer only knows how far away that is
    /// and counts in microseconds, so there it is up to the length of a system call later than what is returned.
    pub fn arm(&mut self, first: Nanos, interval: Nanos) -> io::Result<Nanos> {
        SEEN.set(None);
        match self.timer {
            Timer::Posix(timer) => {
                let value = libc::itimerspec {
                    it_interval: timespec(interval),
                    it_value: timespec(first),
                };
                // SAFETY: the timer exists as long as `self`; the old value is not asked for.
                check(unsafe { libc::timer_settime(timer, libc::TIMER_ABSTIME, &value, std::ptr::null_mut()) })?;
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

    /// Sleeps until a signal was handled, and gives what the handler saw; nothing if it was a foreign signal.
    #[inline(always)]
    pub fn wait(&mut self) -> Option<Expiry> {
        // SAFETY: the set is valid; sigsuspend always returns, with EINTR and the old mask.
        unsafe { libc::sigsuspend(&self.open) };
        SEEN.take()
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        match self.timer {
            // SAFETY: the timer was made by `posix` and is deleted once.
            Timer::Posix(timer) => unsafe {
                libc::timer_delete(timer);
            },
            // Switching off cannot fail: the values are valid.
            Timer::Interval => drop(set_interval_timer(Nanos(0), Nanos(0))),
        }
    }
}

fn timespec(t: Nanos) -> libc::timespec {
    libc::timespec {
        tv_sec: (t.0 / 1_000_000_000) as libc::time_t,
        tv_nsec: (t.0 % 1_000_000_000) as libc::c_long,
    }
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
            std::ptr::null_mut::<libc::itimerval>(),
        )
    })?;
    Ok(())
}
