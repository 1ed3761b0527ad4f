//! Ending the processes that a killed run left.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// How long killed processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(5);

/// A process, as /proc tells.
struct Stat {
    ended: bool,
    group: i32,
    started: u64,
}

impl Stat {
    /// `None` if there is no such process.
    fn of(pid: i32) -> Option<Stat> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold anything. After it comes field 3, the state; see proc_pid_stat(5).
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some(Stat {
            ended: matches!(*fields.first()?, "Z" | "X"),
            group: fields.get(2)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// When a process started, in clock ticks after boot; `None` if there is no such process.
pub(super) fn start_time(pid: i32) -> Option<u64> {
    Stat::of(pid).map(|stat| stat.started)
}

/// Whether a process of the group still runs. One that has ended stays a member until its parent looks at it.
fn runs(group: i32) -> bool {
    let names = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let mut processes = names.filter_map(|name| Stat::of(name.to_str()?.parse().ok()?));
    processes.any(|process| process.group == group && !process.ended)
}

/// Ends a process group; says whether there was one. A leader that started at another time is somebody else's.
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
