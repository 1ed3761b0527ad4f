//! Signal masks, signals read as data, and waiting for several files at once.

use super::check;
use super::clock::rustix_timespec;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use worstcase_logs::Nanos;

pub use libc::{SIGALRM, SIGCHLD, SIGKILL, SIGTERM};

pub(super) fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: sigset_t is plain data, and sigemptyset makes it valid whatever it held.
    unsafe {
        let mut set = core::mem::zeroed();
        libc::sigemptyset(&mut set);
        for &signal in signals {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

fn change_mask(how: libc::c_int, set: &libc::sigset_t) {
    // SAFETY: `set` is a valid set; the old mask is not asked for. Fails only for an unknown `how`.
    unsafe { libc::pthread_sigmask(how, set, core::ptr::null_mut()) };
}

/// What this thread blocks.
pub(super) fn mask() -> libc::sigset_t {
    let mut mask = set_of(&[]);
    // SAFETY: no set is passed, so nothing changes; `mask` is a valid set to fill.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, core::ptr::null(), &mut mask) };
    mask
}

/// Blocks `signals` in this thread, and in those that it starts.
pub fn block(signals: &[i32]) {
    change_mask(libc::SIG_BLOCK, &set_of(signals));
}

/// Unblocks `signals`.
pub(crate) fn unblock(signals: &[i32]) {
    change_mask(libc::SIG_UNBLOCK, &set_of(signals));
}

/// Blocks no signal, and gives the signals that Rust's runtime or this crate change their default action
/// back: what a freshly forked process needs before it runs something else.
pub(crate) fn reset() {
    for signal in [libc::SIGPIPE, libc::SIGALRM, libc::SIGTERM, libc::SIGCHLD, libc::SIGINT] {
        // SAFETY: SIG_DFL is a valid action for each of these signals.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    change_mask(libc::SIG_SETMASK, &set_of(&[]));
}

/// Whether the (blocked) signal waits to be delivered.
pub(crate) fn is_pending(signal: i32) -> bool {
    let mut set = set_of(&[]);
    // SAFETY: `set` is a valid set to fill and to ask.
    unsafe { libc::sigpending(&mut set) == 0 && libc::sigismember(&set, signal) == 1 }
}

/// Signals as data (signalfd).
#[derive(Debug)]
pub struct SignalFd(OwnedFd);

impl SignalFd {
    /// Blocks `signals` and offers them here instead.
    pub fn new(signals: &[i32]) -> io::Result<SignalFd> {
        block(signals);
        let set = set_of(signals);
        // SAFETY: `set` is a valid set; -1 asks for a new descriptor.
        let fd = check(unsafe { libc::signalfd(-1, &set, libc::SFD_CLOEXEC) })?;
        // SAFETY: the descriptor was just made and belongs to nobody else.
        Ok(SignalFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Waits for the next signal and returns its number.
    pub fn next(&self) -> io::Result<i32> {
        // SAFETY: signalfd_siginfo holds integers only, for which all zeroes are valid.
        let mut info: libc::signalfd_siginfo = unsafe { core::mem::zeroed() };
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: `info` has room for the `size` bytes that are asked for.
        let n = check(unsafe { libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size) })?;
        if n as usize == size {
            Ok(info.ssi_signo as i32)
        } else {
            Err(io::Error::other("a signal was read in part"))
        }
    }

    /// The descriptor, for [`poll`].
    pub fn fd(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.0.as_fd()
    }
}

/// Waits until at least one of the two can be read (or is at its end), and says which.
pub fn poll(first: BorrowedFd<'_>, second: Option<BorrowedFd<'_>>) -> io::Result<(bool, bool)> {
    let mut fds: Vec<PollFd<'_>> = [first].into_iter().chain(second).map(readable).collect();
    match rustix::event::poll(&mut fds, None) {
        Ok(_) => {
            let is_ready = |i: usize| fds.get(i).is_some_and(|fd| !fd.revents().is_empty());
            Ok((is_ready(0), is_ready(1)))
        }
        Err(Errno::INTR) => Ok((false, false)),
        Err(e) => Err(e.into()),
    }
}

/// Waits until `file` can be read (or is at its end), at most for `time`; says whether it can.
pub fn readable_within(file: BorrowedFd<'_>, time: Nanos) -> io::Result<bool> {
    let time = rustix_timespec(time);
    match rustix::event::poll(&mut [readable(file)], Some(&time)) {
        Ok(n) => Ok(n > 0),
        Err(Errno::INTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn readable(file: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(file, PollFlags::IN)
}
