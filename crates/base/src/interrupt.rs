//! What is still done when a signal ends this process at once: children that a kill would leave are ended, and what is
//! half-made is removed.
//!
//! Everything that worstcase writes survives a kill at any instant, so nothing has to wait: whoever makes something that
//! outlives the process, if only until the next command, says here how it is taken back.

use crate::ExitKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

static WORK: Mutex<Vec<(u64, Work)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

type Work = Box<dyn FnOnce() + Send>;

fn work() -> MutexGuard<'static, Vec<(u64, Work)>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work that is done if the process is ended while this is held; dropped, there is nothing left to do.
#[derive(Debug)]
#[must_use]
pub struct LastWork(u64);

impl LastWork {
    /// What was begun last is ended first.
    pub fn new(act: impl FnOnce() + Send + 'static) -> LastWork {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        work().push((number, Box::new(act)));
        LastWork(number)
    }

    /// Removes a folder for temporary files.
    pub fn remove(folder: impl Into<PathBuf>) -> LastWork {
        let folder = folder.into();
        // Somebody may still write into it; the next command removes what is left.
        LastWork::new(move || drop(std::fs::remove_dir_all(folder)))
    }
}

impl Drop for LastWork {
    fn drop(&mut self) {
        work().retain(|(number, _)| *number != self.0);
    }
}

/// Does the last work and ends the process.
pub fn end() -> ! {
    ENDING.store(true, Ordering::SeqCst);
    do_last_work();
    std::process::exit(ExitKind::Interrupted as i32)
}

fn do_last_work() {
    let mut all = std::mem::take(&mut *work());
    while let Some((_, act)) = all.pop() {
        act();
    }
}

/// Waits for the end if another thread is ending this process: what the caller has come to is a consequence of that.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_last_is_ended_first_and_what_is_over_is_not_done() {
        let done: Arc<Mutex<Vec<&str>>> = Arc::default();
        let says = |what: &'static str| {
            let done = Arc::clone(&done);
            LastWork::new(move || done.lock().unwrap().push(what))
        };
        let (_first, over, _last) = (says("first"), says("over"), says("last"));
        drop(over);
        do_last_work();
        assert_eq!(*done.lock().unwrap(), ["last", "first"]);
    }
}
