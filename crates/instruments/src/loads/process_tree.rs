//! The processes below a process, from /proc: their CPU time, and their end.

use crate::processes;
use crate::sys::clock;
use crate::sys::process::{self, Pid};
use crate::sys::signal;
use worstcase_logs::Nanos;

/// /proc states CPU times in hundredths of a second, whatever HZ is (USER_HZ).
const USER_TICK: Nanos = Nanos(10_000_000);

/// All processes below `root` (without it), parents before their children.
pub(super) fn below(root: Pid) -> Vec<Pid> {
    let mut found = processes::children(root);
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        found.extend(processes::children(pid));
        next += 1;
    }
    found
}

/// CPU time of all processes below `root`, and of those that ended and were waited for there.
///
/// Exact for processes that live; in steps of 10 ms for those that ended.
pub(super) fn cpu_time_below(root: Pid) -> Nanos {
    let living = below(root);
    let ended = std::iter::once(&root).chain(&living).map(|&pid| waited_cpu_time(pid));
    let running = living.iter().map(|&pid| clock::cpu_time_of(pid).unwrap_or_default());
    running.chain(ended).fold(Nanos(0), |sum, t| sum + t)
}

fn waited_cpu_time(pid: Pid) -> Nanos {
    let ticks = processes::stat(pid).map_or(0, |stat| stat.cutime + stat.cstime);
    Nanos(ticks.max(0) as u64 * USER_TICK.0)
}

/// Kills and reaps everything below this process, which must be the reaper of its orphans.
pub(super) fn kill_below_self() {
    loop {
        for pid in below(process::own_pid()) {
            // One that is gone already is just as well.
            let _ = process::kill(pid, signal::SIGKILL);
        }
        match process::wait(-1, true) {
            Ok(process::Waited::Ended(..)) => {}
            _ => return,
        }
    }
}
