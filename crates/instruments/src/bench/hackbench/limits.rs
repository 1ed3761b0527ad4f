//! What the probe needs of this machine.

use super::latency::SEAT_BYTES;
use crate::bench::limits::{self, number_in};
use crate::bench::{BenchError, Hackbench, Transport};
use crate::sys::process;

/// Kernel and user memory of one small process, and of one thread with the touched part of its stack: somewhat more than
/// what 5000 of each were seen to take.
const PROCESS: u64 = 128 << 10;
const THREAD: u64 = 48 << 10;
/// A pipe holds 16 pages.
const PIPE: u64 = 64 << 10;
/// Files of a run that are none of the channels: two pipes, and one being made.
const OTHER_FILES: u64 = 8;

/// Refuses what this machine has too little of.
pub(super) fn check(what: &Hackbench) -> Result<(), BenchError> {
    let tasks = what.tasks() as u64 + u64::from(what.threads);
    let files = [
        limits::open_files(open_files_needed(what)),
        limits::system_files(what.tasks() as u64 + OTHER_FILES),
    ];
    let demands = limits::tasks(tasks).into_iter().chain(files);
    limits::meet(what, demands.chain([limits::memory(memory(what))]))
}

/// Most files that one process has open at once.
pub(super) fn open_files_needed(what: &Hackbench) -> u64 {
    ends(what) + limits::open_now() + OTHER_FILES
}

/// As threads all ends, else the ends of one group that are written to.
fn ends(what: &Hackbench) -> u64 {
    let ends = if what.threads { what.tasks() } else { what.pairs.into() };
    ends as u64
}

/// What silently changes the result.
pub(super) fn warnings(what: &Hackbench) -> Vec<String> {
    let pages = what.receivers() as u64 * PIPE / 4096;
    let granted = number_in("/proc/sys/fs/pipe-user-pages-soft").filter(|pages| *pages > 0);
    match granted {
        Some(granted) if what.transport == Transport::Pipes && pages > granted && !process::is_root() => {
            vec![format!(
                "SMALL PIPES: {} pipes exceed fs.pipe-user-pages-soft ({granted} pages), later ones hold 2 pages instead of 16: \
                 raise it with sysctl, or run as root",
                what.receivers()
            )]
        }
        _ => Vec::new(),
    }
}

/// Bytes at most, roughly: tasks, full channels, histograms.
fn memory(what: &Hackbench) -> u64 {
    let task = match what.threads {
        true => THREAD,
        false => PROCESS,
    };
    let channel = match what.transport {
        Transport::Pipes => PIPE,
        Transport::Sockets => number_in("/proc/sys/net/core/wmem_default").unwrap_or(212_992),
    };
    let seat = if what.latency { SEAT_BYTES as u64 } else { 0 };
    let message = u64::from(what.size);
    what.tasks() as u64 * (task + message) + what.receivers() as u64 * (channel.max(message) + seat)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hackbench(name: &str) -> Hackbench {
        crate::bench::testing::named(name)
    }

    #[test]
    fn threads_need_all_files_in_one_process() {
        assert_eq!(ends(&hackbench("hackbench:10x25")), 25);
        let threads = hackbench("hackbench:10x25+threads");
        assert_eq!(ends(&threads), 500);
        assert!(open_files_needed(&threads) > 500);
    }

    #[test]
    fn memory_grows_with_all_that_is_asked_for() {
        let memory = |name| memory(&hackbench(name));
        assert!(memory("hackbench:2") > memory("hackbench:1"));
        assert!(memory("hackbench:1x25x100x64k") > memory("hackbench:1"));
        assert_eq!(
            memory("hackbench:1+latency") - memory("hackbench:1"),
            25 * SEAT_BYTES as u64
        );
    }
}
