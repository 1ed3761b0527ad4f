//! Ending the processes that a killed run left.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io;
use std::time::{Duration, Instant};
use worstcase_instruments::processes;

/// How long killed processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(5);

/// When a process started, in clock ticks after boot; `None` if there is no such process.
pub(super) fn start_time(pid: i32) -> Option<u64> {
    processes::stat(pid).map(|stat| stat.starttime)
}

/// Whether a process of the group still runs. A zombie stays a member until its parent waits for it.
fn runs(group: i32) -> bool {
    let names = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let mut all = names.filter_map(|name| processes::stat(name.to_str()?.parse().ok()?));
    all.any(|stat| stat.pgrp == group && !processes::has_ended(&stat))
}

/// Ends a process group; says whether there was one. If the leader's start time differs, the id belongs to another
/// process by now.
pub(super) fn end_group(leader: i32, started: u64) -> io::Result<bool> {
    let reused = start_time(leader).is_some_and(|time| time != started);
    let Some(group) = Pid::from_raw(leader).filter(|_| !reused) else {
        return Ok(false);
    };
    match kill_process_group(group, Signal::KILL) {
        Ok(()) => {}
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        Err(e) => return Err(e.into()),
    }
    let end = Instant::now() + PATIENCE;
    while runs(leader) && Instant::now() < end {
        std::thread::sleep(STEP);
    }
    Ok(true)
}
