//! Waits until QEMU's main loop rests, before the guest's CPU halts.
//!
//! When the CPU has halted, QEMU's main loop moves virtual time to the next timer. QEMU marks the CPU as halted before
//! it has added the instructions just executed to virtual time, and without the lock that would keep the main loop
//! out. A main loop that looks in between (it was woken for something else, and this host was slow to run it) takes
//! the time for earlier than it is and moves it too far, by those instructions. A main loop that sleeps in `ppoll`
//! cannot look: only the CPU's own thread wakes it while a cell runs, and that does so after the addition.
//!
//! A stop that the guest asks for has a race of the same kind: the CPU stops, and a main loop that comes only then takes
//! the stopped CPU for an idle one and moves time to the next timer before it sees that it is to stop the machine. So the
//! CPU's thread waits within the stopping instruction until the main loop has seen it, and waits for the CPU.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Between two looks; with what the host adds, some 70 us. Waits are counted in looks, not in time: a QEMU that was stopped
/// or got no CPU has not waited.
const PAUSE: Duration = Duration::from_micros(10);
/// Looks at a main loop that waits itself, at most: it then stops the machine, and asks for no time. About 2 ms.
const STOPPING: u32 = 30;
/// The same before anybody has a reason to stop the machine: it then waits for a lock, whose holder a busy host keeps from
/// running for a while. About 3 s.
const HELD_UP: u32 = 45_000;
/// More looks than the main loop waits for a lock that nobody keeps. About 1 ms.
const WAITS_FOR_CPU: u32 = 15;
/// Looks at a main loop that does not stop the machine, at most. About 30 s.
const NO_STOP: u32 = 450_000;

/// QEMU's main loop, as the kernel shows it.
pub struct MainLoop {
    /// What its thread is doing: `running`, or the number of the system call that it sleeps in.
    syscall: File,
}

/// The main loop did not do in time what was waited for.
#[derive(Debug, PartialEq, Eq)]
pub struct GaveUp;

/// What the main loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Waits for something to do.
    Rests,
    /// Waits for a lock, or for the CPU to stop.
    Waits,
    /// Anything else, or is about to.
    Works,
}

impl MainLoop {
    /// Of this process: QEMU's main loop runs on its first thread.
    pub fn find() -> Result<MainLoop, String> {
        let path = format!("/proc/self/task/{}/syscall", std::process::id());
        let open = || {
            let main_loop = MainLoop {
                syscall: File::open(&path)?,
            };
            main_loop.doing()?;
            Ok::<_, io::Error>(main_loop)
        };
        open().map_err(|e| format!("cannot see what QEMU's main loop does ({path}: {e}); mount /proc"))
    }

    /// Returns when the main loop cannot disturb a halt; `measured`: the machine may be about to be stopped.
    ///
    /// Once `measured`, a main loop that waits is stopping the machine; before, giving it up is an error.
    pub fn await_rest(&self, measured: bool) -> Result<(), GaveUp> {
        self.until(|doing, looks| match doing {
            Doing::Rests => Some(Ok(())),
            Doing::Waits if measured && looks > STOPPING => Some(Ok(())),
            Doing::Waits if looks > HELD_UP => Some(Err(GaveUp)),
            Doing::Waits | Doing::Works => None,
        })
    }

    /// Returns when the main loop stops the machine and waits for the CPU.
    pub fn await_stop(&self) -> Result<(), GaveUp> {
        let mut left = NO_STOP;
        self.until(|doing, looks| {
            left -= 1;
            match doing {
                Doing::Waits if looks > WAITS_FOR_CPU => Some(Ok(())),
                _ => (left == 0).then_some(Err(GaveUp)),
            }
        })
    }

    /// Looks again and again until `end` has an answer to what the main loop does, and how many looks in a row have shown
    /// that; or until nothing can be seen.
    fn until(&self, mut end: impl FnMut(Doing, u32) -> Option<Result<(), GaveUp>>) -> Result<(), GaveUp> {
        let mut seen = None;
        while let Ok(doing) = self.doing() {
            let looks = match seen {
                Some((before, looks)) if before == doing => looks + 1,
                _ => 1,
            };
            seen = Some((doing, looks));
            if let Some(answer) = end(doing, looks) {
                return answer;
            }
            std::thread::sleep(PAUSE);
        }
        Err(GaveUp)
    }

    fn doing(&self) -> io::Result<Doing> {
        let mut text = [0; 24];
        let length = self.syscall.read_at(&mut text, 0)?;
        Ok(what(&text[..length]))
    }
}

fn what(text: &[u8]) -> Doing {
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    match std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()) {
        Some(libc::SYS_ppoll) => Doing::Rests,
        Some(libc::SYS_futex) => Doing::Waits,
        _ => Doing::Works,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_shows_is_read() {
        let shown = |number: i64| format!("{number} 0x55 0x3 0x0 0x0 0x8 0x0 0x7ffd 0x7f\n");
        assert_eq!(what(shown(libc::SYS_ppoll).as_bytes()), Doing::Rests);
        assert_eq!(what(shown(libc::SYS_futex).as_bytes()), Doing::Waits);
        assert_eq!(what(shown(libc::SYS_ppoll).split_at(24).0.as_bytes()), Doing::Rests);
        for working in [&shown(libc::SYS_write), "running\n", "-1 0x7ffd 0x7f\n", ""] {
            assert_eq!(what(working.as_bytes()), Doing::Works, "{working}");
        }
    }

    /// The thread that runs this test is not the process's first, which waits for it.
    #[test]
    fn a_thread_that_waits_is_seen() {
        let main_loop = MainLoop::find().unwrap();
        assert_ne!(main_loop.doing().unwrap(), Doing::Rests);
        assert_eq!(main_loop.await_rest(true), Ok(()));
    }

    /// Before anything was measured, a main loop that waits and waits is not taken for one that rests.
    #[test]
    fn a_wait_that_is_given_up_is_told() {
        let main_loop = MainLoop::find().unwrap();
        assert_eq!(main_loop.await_rest(false), Err(GaveUp));
        let unseen = MainLoop {
            syscall: File::open("/proc/self").unwrap(),
        };
        assert_eq!(unseen.await_rest(true), Err(GaveUp));
    }
}
