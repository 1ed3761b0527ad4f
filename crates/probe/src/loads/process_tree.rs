//! The processes below a process, from /proc: their CPU time, and their end.

use crate::sys::clock;
use crate::sys::process::{self, Pid};
use crate::sys::signal;
use crate::units::Nanos;
use std::fs;

/// /proc states CPU times in hundredths of a second, whatever HZ is (USER_HZ).
const USER_TICK: Nanos = Nanos(10_000_000);

/// All processes below `root` (without it), parents before their children.
pub(super) fn below(root: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut at = root;
    let mut next = 0;
    loop {
        // The list that the kernel keeps; a process of one of our loads forks from its first thread.
        if let Ok(children) = fs::read_to_string(format!("/proc/{at}/task/{at}/children")) {
            found.extend(
                children
                    .split_ascii_whitespace()
                    .filter_map(|pid| pid.parse::<Pid>().ok()),
            );
        }
        match found.get(next) {
            Some(&pid) => at = pid,
            None => return found,
        }
        next += 1;
    }
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
    let ticks = fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| waited_ticks(&stat))
        .unwrap_or(0);
    Nanos(ticks * USER_TICK.0)
}

/// cutime + cstime (fields 16 and 17) of a line of /proc/PID/stat.
fn waited_ticks(stat: &str) -> Option<u64> {
    // The name (field 2, in brackets) may itself hold spaces and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_children_are_found_behind_any_name() {
        let line = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 50 60 70 80 20 0 1 0 100";
        assert_eq!(waited_ticks(line), Some(150));
        assert_eq!(waited_ticks("7 (x) S 1"), None);
    }
}
