//! The keeper of a command, as its own process sees it.
//!
//! It is `worstcase host-keeper SOCKET COMMAND...`. It starts the command, but keeps it from its first instruction until it is
//! told to let it go, is the parent of all that the command leaves behind, and ends all of them when the other end of the socket
//! is closed: by the worstcase that started it, or by the kernel, however that one ended.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use worstcase_base::child::ends_with_us;

/// What a keeper tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeeperWord {
    /// The command's process waits; this is its id.
    Held(u32),
    /// The command runs, or could not be started for this error of the system.
    Began(Result<(), i32>),
    /// It ended with this exit code.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
}

/// The length of a word on the socket.
pub(super) const WORD: usize = 5;
/// Lets the command go.
pub(super) const GO: u8 = b'g';
/// Ends it with all that it left.
pub(super) const END: u8 = b'e';
/// The same at once.
pub(super) const KILL: u8 = b'k';

/// How long processes may take to end by themselves before they are killed.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it is waited for what is killed.
const DEATH: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

impl KeeperWord {
    fn bytes(self) -> [u8; WORD] {
        let (tag, number) = match self {
            KeeperWord::Held(id) => (b'h', id.cast_signed()),
            KeeperWord::Began(began) => (b'b', began.err().unwrap_or(0)),
            KeeperWord::Exited(code) => (b'e', code),
            KeeperWord::Killed(signal) => (b's', signal),
        };
        let [a, b, c, d] = number.to_ne_bytes();
        [tag, a, b, c, d]
    }

    /// The next word on a socket.
    pub(super) fn next(mut socket: &UnixStream) -> io::Result<KeeperWord> {
        let mut bytes = [0; WORD];
        socket.read_exact(&mut bytes)?;
        let [tag, number @ ..] = bytes;
        let number = i32::from_ne_bytes(number);
        match tag {
            b'h' => Ok(KeeperWord::Held(number.cast_unsigned())),
            b'b' => Ok(KeeperWord::Began(match number {
                0 => Ok(()),
                error => Err(error),
            })),
            b'e' => Ok(KeeperWord::Exited(number)),
            b's' => Ok(KeeperWord::Killed(number)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Keeps a command; `socket` was inherited from the worstcase that started this process.
pub fn run(socket: RawFd, command: &[String]) -> io::Result<()> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: the descriptor was made for this process, and nobody else uses it; another number is refused by its first use.
    let socket = unsafe { UnixStream::from_raw_fd(socket) };
    set_child_subreaper(Some(getpid()))?;
    outlive_signals()?;
    let mut start = Command::new(program);
    start.args(arguments);
    ends_with_us(&mut start, Signal::TERM);
    hold(&mut start, &socket);
    let started = start.spawn();
    let began = started.as_ref().map(drop).map_err(|e| e.raw_os_error().unwrap_or(0));
    tell(&socket, KeeperWord::Began(began));
    let Ok(child) = started else { return Ok(()) };
    let end = socket.try_clone()?;
    std::thread::spawn(move || {
        end_all(&end);
        // One that cannot be killed is waited for by nobody.
        std::process::exit(0);
    });
    reap(child.id(), &socket);
    Ok(())
}

/// The terminal's signals go to the command, too, which may live on; whoever waits for this process ends it by the socket. What
/// was ignored before stays so, for the command's sake.
fn outlive_signals() -> io::Result<()> {
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
        if !is_ignored(signal) {
            signal_hook::flag::register(signal, Arc::clone(&ignored))?;
        }
    }
    Ok(())
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: sigaction only writes into the zeroed structure, which every sigaction is.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
    }
}

/// Has the child tell its id before it becomes the program, and wait.
fn hold(start: &mut Command, socket: &UnixStream) {
    let descriptor = socket.as_raw_fd();
    let held = move || {
        // SAFETY: the child's own copy of the keeper's socket, which is open until the program begins.
        let socket = unsafe { rustix::fd::BorrowedFd::borrow_raw(descriptor) };
        rustix::io::write(socket, &KeeperWord::Held(std::process::id()).bytes())?;
        let mut word = [0; 1];
        match rustix::io::retry_on_intr(|| rustix::io::read(socket, &mut word))? {
            1 if word == [GO] => Ok(()),
            // An error would be told to the keeper, and nobody asks it any more.
            // SAFETY: it ends this process, which has begun nothing.
            _ => unsafe { libc::_exit(1) },
        }
    };
    // SAFETY: between fork and exec only getpid, write, read and _exit are called, which are async-signal-safe.
    unsafe { start.pre_exec(held) };
}

fn tell(mut socket: &UnixStream, word: KeeperWord) {
    // Whoever started this process may have ended.
    let _ = socket.write_all(&word.bytes());
}

/// Waits for the end of the command and of all that it left, until nothing is left.
fn reap(command: u32, socket: &UnixStream) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((process, status))) if process.as_raw_pid().cast_unsigned() == command => {
                let word = match status.terminating_signal() {
                    Some(signal) => KeeperWord::Killed(signal),
                    None => KeeperWord::Exited(status.exit_status().unwrap_or(0)),
                };
                tell(socket, word);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Waits until it is to end, and ends what there is below this process: asks first, then kills.
fn end_all(socket: &UnixStream) {
    let mut is_urgent = is_to_kill(socket, None);
    for (signal, patience) in [(Signal::TERM, PATIENCE), (Signal::KILL, DEATH)] {
        let until = Instant::now() + patience;
        let mut asked = BTreeSet::new();
        while Instant::now() < until && !(is_urgent && signal == Signal::TERM) {
            let members = family();
            if members.is_empty() {
                return;
            }
            for member in members.into_iter().filter(|member| asked.insert(*member)) {
                send(member, signal);
            }
            is_urgent |= is_to_kill(socket, Some(LOOK));
        }
    }
}

/// Waits for a word, or for the end of the socket, and says whether it is the word to kill; with a time, for no longer than that.
fn is_to_kill(mut socket: &UnixStream, time: Option<Duration>) -> bool {
    if let Some(time) = time {
        // Not by the socket, which is always ready once its other end is closed.
        std::thread::sleep(time);
        let mut ready = [PollFd::new(socket, PollFlags::IN)];
        if !matches!(poll(&mut ready, Some(&Timespec::default())), Ok(1..)) {
            return false;
        }
    }
    let mut word = [0; 1];
    matches!(socket.read(&mut word), Ok(1)) && word == [KILL]
}

fn send(id: u32, signal: Signal) {
    // It may have ended by itself just now.
    let _ = Pid::from_raw(id.cast_signed()).map(|pid| kill_process(pid, signal));
}

/// All processes below this one.
fn family() -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for process in crate::isolate::threads::processes() {
        if let Some(parent) = parent(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = BTreeSet::new();
    let mut next = vec![std::process::id()];
    while let Some(process) = next.pop() {
        for child in children.remove(&process).unwrap_or_default() {
            next.push(child);
            found.insert(child);
        }
    }
    found
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood() {
        let (one, other) = UnixStream::pair().unwrap();
        let words = [
            KeeperWord::Held(7),
            KeeperWord::Began(Ok(())),
            KeeperWord::Began(Err(2)),
            KeeperWord::Exited(255),
            KeeperWord::Killed(9),
        ];
        for word in words {
            tell(&one, word);
            assert_eq!(KeeperWord::next(&other).unwrap(), word);
        }
        drop(one);
        assert!(KeeperWord::next(&other).is_err());
    }
}
