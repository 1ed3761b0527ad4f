//! Forking (from single-threaded processes only), ending and reaping processes.

use super::usage::{self, Usage};
use super::{check, signal};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// A process id.
pub type Pid = i32;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// This process.
pub fn own_pid() -> Pid {
    std::process::id() as Pid
}

/// Whether this process runs with the rights of root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Gives up user and group numbers that are only saved, and with them the way back to rights that were laid down.
pub(crate) fn forget_saved_rights() -> io::Result<()> {
    // SAFETY: no pointers are passed; -1 leaves a number as it is.
    check(unsafe { libc::setresgid(!0, !0, libc::getegid()) })?;
    // SAFETY: as above.
    check(unsafe { libc::setresuid(!0, !0, libc::geteuid()) })?;
    Ok(())
}

/// Sets a variable of the environment of what this process starts; it must have one thread only, as a forked one has.
pub(crate) fn set_variable(name: &str, value: impl AsRef<std::ffi::OsStr>) {
    // SAFETY: no other thread of this process reads the environment meanwhile: there is none.
    unsafe { std::env::set_var(name, value) };
}

/// Ends this process at once, without running anything registered for a normal exit.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: never returns; nothing of this process is used afterwards.
    unsafe { libc::_exit(code) }
}

/// Forks a child that runs `body` and ends with the code that it returns (101 after a panic).
///
/// The child gets default signals, and dies by `death_signal` when its parent ends. The calling process must
/// have one thread only: a lock held by another thread would stay locked in the child for ever.
pub fn fork(death_signal: i32, body: impl FnOnce() -> i32) -> io::Result<Pid> {
    let parent = own_pid();
    // SAFETY: the caller's process has one thread (see above), so the child is a faithful copy of it.
    let pid = check(unsafe { libc::fork() })?;
    if pid != 0 {
        return Ok(pid);
    }
    signal::reset();
    if die_with_parent(death_signal, parent).is_err() {
        exit_now(101);
    }
    let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
    exit_now(code)
}

fn die_with_parent(signal: i32, parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(rustix::process::Signal::from_named_raw(signal))?;
    if rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get()) != parent {
        exit_now(0); // the parent ended before the request was in force
    }
    Ok(())
}

/// Names this thread, as the kernel's reports call it: at most 15 bytes are kept. Children begin with the same name.
pub fn set_name(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(rustix::thread::set_name(&name)?)
}

/// Sets whether orphans among the descendants become children of this process, which then has to reap them;
/// returns how that was before.
pub fn adopt_orphans(yes: bool) -> io::Result<bool> {
    let before = rustix::process::child_subreaper()?.is_some();
    rustix::process::set_child_subreaper(yes.then(rustix::process::getpid))?;
    Ok(before)
}

/// Puts `pid` (0: this process) into the process group `group` (0: a new one of its own).
pub fn set_group(pid: Pid, group: Pid) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    check(unsafe { libc::setpgid(pid, group) })?;
    Ok(())
}

/// Sends `signal` to `pid`, or to the process group `-pid`.
pub fn kill(pid: Pid, signal: i32) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    check(unsafe { libc::kill(pid, signal) })?;
    Ok(())
}

/// What [`wait`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// This child ended and is gone.
    Ended(Pid, Exit),
    /// There are such children, none has ended (only without `block`).
    Running,
    /// There is no such child.
    NoChild,
}

/// Reaps a child: `pid` itself, any (-1), any of the process group `-pid`, or of this process' own (0).
pub fn wait(pid: Pid, block: bool) -> io::Result<Waited> {
    reap(pid, block).map(|(waited, _)| waited)
}

/// The same, and what the child had used if it ended.
pub(crate) fn reap(pid: Pid, block: bool) -> io::Result<(Waited, Usage)> {
    let flags = if block { 0 } else { libc::WNOHANG };
    let mut status = 0;
    let mut used = usage::nothing();
    loop {
        // SAFETY: `status` and `used` are a valid integer and a valid rusage to fill.
        let waited = match check(unsafe { libc::wait4(pid, &mut status, flags, &mut used) }) {
            Ok(0) => Waited::Running,
            Ok(pid) if libc::WIFSIGNALED(status) => Waited::Ended(pid, Exit::Signal(libc::WTERMSIG(status))),
            Ok(pid) => Waited::Ended(pid, Exit::Code(libc::WEXITSTATUS(status))),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) if e.raw_os_error() == Some(libc::ECHILD) => Waited::NoChild,
            Err(e) => return Err(e),
        };
        return Ok((waited, Usage::of(&used)));
    }
}

/// Replaces this process by `program` (looked up in PATH); returns only with the error.
pub fn exec(program: &str, arguments: &[String]) -> io::Error {
    let words: Result<Vec<CString>, _> = std::iter::once(program)
        .chain(arguments.iter().map(String::as_str))
        .map(CString::new)
        .collect();
    let Ok(words) = words else {
        return io::Error::from(io::ErrorKind::InvalidInput);
    };
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|w| w.as_ptr()).collect();
    pointers.push(core::ptr::null());
    // SAFETY: `pointers` is a null-terminated array of C strings that outlive the call.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// A pipe: the end to read from, which does not block, and the end to write to, which does.
pub fn pipe() -> io::Result<(File, OwnedFd)> {
    let (reader, writer) = blocking_pipe()?;
    fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// A pipe whose ends both block.
pub fn blocking_pipe() -> io::Result<(File, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((File::from(reader), writer))
}

/// A descriptor that can be read once this child has ended.
pub fn watch(pid: Pid) -> io::Result<OwnedFd> {
    let pid = rustix::process::Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?)
}

/// Makes descriptor `number` of this process a copy of `file`.
pub fn redirect(file: BorrowedFd<'_>, number: i32) -> io::Result<()> {
    // SAFETY: no pointers are passed; used between fork and exec on the standard descriptors, which nobody owns.
    check(unsafe { libc::dup2(file.as_raw_fd(), number) })?;
    Ok(())
}
