//! Signal masks, signals read as data, and waiting for several files at once.

use super::check;
use crate::units::Nanos;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

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
    unsafe { libc::sigprocmask(how, set, core::ptr::null_mut()) };
}

/// Blocks `signals` in this (single-threaded) process.
pub fn block(signals: &[i32]) {
    change_mask(libc::SIG_BLOCK, &set_of(signals));
}

/// Unblocks `signals`.
pub fn unblock(signals: &[i32]) {
    change_mask(libc::SIG_UNBLOCK, &set_of(signals));
}

/// Blocks no signal, and gives the signals that Rust's runtime or this crate change their default action
/// back: what a freshly forked process needs before it runs something else.
pub fn reset() {
    for signal in [libc::SIGPIPE, libc::SIGALRM, libc::SIGTERM, libc::SIGCHLD, libc::SIGINT] {
        // SAFETY: SIG_DFL is a valid action for each of these signals.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    change_mask(libc::SIG_SETMASK, &set_of(&[]));
}

/// Whether the (blocked) signal waits to be delivered.
pub fn is_pending(signal: i32) -> bool {
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
    let entry = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // A negative descriptor is skipped by the kernel.
    let mut fds = [entry(first.as_raw_fd()), entry(second.map_or(-1, |f| f.as_raw_fd()))];
    // SAFETY: `fds` is an array of the stated length.
    match check(unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, -1) }) {
        Ok(_) => Ok((fds[0].revents != 0, fds[1].revents != 0)),
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok((false, false)),
        Err(e) => Err(e),
    }
}

/// Waits until `fd` can be read (or is at its end), at most `time` (whole milliseconds); says whether it can.
pub fn poll_for(fd: BorrowedFd<'_>, time: Nanos) -> io::Result<bool> {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let millis = libc::c_int::try_from(time.0 / 1_000_000).unwrap_or(libc::c_int::MAX);
    // SAFETY: `entry` is one valid pollfd.
    match check(unsafe { libc::poll(&mut entry, 1, millis) }) {
        Ok(ready) => Ok(ready != 0),
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(e) => Err(e),
    }
}
