//! Runs the program that does the operations. It takes one CPU, a real-time priority, and a file system and a network of its
//! own; all of that ends with it, and it ends with worstcase.

use crate::HostError;
use crate::facts::FileTree;
use crate::facts::virtualization::CpuTimes;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Output, Stdio};
use worstcase_base::child::ends_with_us;
use worstcase_timing::Delivery;

/// What it printed, and what the kernel counted meanwhile.
pub(super) struct OperationRounds {
    /// The ns of each round's batch, by the operation's name.
    pub(super) operations: Vec<(String, Vec<u64>)>,
    /// From due until interrupted, and the interruption's length (ns).
    timers: Vec<[u64; 2]>,
    /// The share of the CPU's time that the machine's host took (%).
    pub(super) steal_percent: f64,
}

/// It ends with this if the machine refuses it something.
const REFUSED: i32 = 3;

impl OperationRounds {
    /// Does all operations on this CPU.
    pub(super) fn measure(program: &[u8], cpu: u32, rounds: usize) -> Result<OperationRounds, HostError> {
        let before = cpu_times(cpu);
        let output = run(program, cpu, rounds).map_err(|source| HostError::Command {
            program: "the operations".into(),
            source,
        })?;
        let steal_percent = match (before, cpu_times(cpu)) {
            (Some(before), Some(after)) => after.since(before).steal_percent().unwrap_or_default(),
            _ => 0.0,
        };
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(REFUSED) => return Err(refused(said.trim_end(), cpu)),
            _ => return Err(HostError::Worker(format!("{}: {}", output.status, last_line(&said)))),
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut all = OperationRounds {
            steal_percent,
            ..OperationRounds::read(&text).ok_or_else(|| HostError::Worker("its lines are damaged".into()))?
        };
        all.operations.retain(|(_, rounds)| !rounds.is_empty());
        Ok(all)
    }

    /// Lines `operation NAME CLASS PURPOSE TIMES WINDOWS NS...` and `delivery NS NS`, of which the last is `done`.
    fn read(text: &str) -> Option<OperationRounds> {
        let mut all = OperationRounds {
            operations: Vec::new(),
            timers: Vec::new(),
            steal_percent: 0.0,
        };
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match &words[..] {
                ["operation", name, _, _, _, _, rounds @ ..] => {
                    let rounds = rounds.iter().map(|ns| ns.parse().ok()).collect::<Option<_>>()?;
                    all.operations.push(((*name).into(), rounds));
                }
                ["delivery", until, length] => all.timers.push([until.parse().ok()?, length.parse().ok()?]),
                ["done"] => return Some(all),
                _ => return None,
            }
        }
        None
    }

    /// The median of an operation's rounds; 0 without any.
    pub(super) fn median_of(&self, name: &str) -> f64 {
        let mut rounds = self.operations.iter().filter(|(other, _)| other == name);
        rounds
            .next()
            .map_or(0.0, |(_, rounds)| quantile(rounds.iter().copied(), 0.5))
    }

    /// What timers met.
    pub(super) fn delivery(&self) -> Option<Delivery> {
        let resumed = || self.timers.iter().map(|[until, length]| until + length);
        (!self.timers.is_empty()).then(|| Delivery {
            count: self.timers.len(),
            until_interrupted_ns: quantile(self.timers.iter().map(|[until, _]| *until), 0.5),
            until_resumed_ns: quantile(resumed(), 0.5),
            until_resumed_p90_ns: quantile(resumed(), 0.9),
        })
    }
}

/// The smallest value that is not below a share of all.
pub(super) fn quantile(values: impl Iterator<Item = u64>, share: f64) -> f64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).map_or(0.0, |value| *value as f64)
}

/// The program is a file in memory, of which nothing stays.
fn run(program: &[u8], cpu: u32, rounds: usize) -> io::Result<Output> {
    let mut file = File::from(memfd_create("operations", MemfdFlags::CLOEXEC)?);
    file.write_all(program)?;
    // What is open for writing cannot be executed.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let read_only = File::open(&path)?;
    drop(file);
    let mut command = Command::new(format!("/proc/self/fd/{}", read_only.as_raw_fd()));
    command.args([cpu.to_string(), rounds.to_string()]);
    command.stdin(Stdio::null()).env_clear();
    ends_with_us(&mut command, Signal::KILL).output()
}

fn refused(said: &str, cpu: u32) -> HostError {
    let (what, reason) = said.split_once(' ').unwrap_or((said, ""));
    HostError::Missing(match what {
        "fifo" => format!(
            "a calibration needs a real-time priority (SCHED_FIFO), and the system refuses it ({reason}); run as root, or \
             raise RLIMIT_RTPRIO to 50"
        ),
        "cpu" => format!("the system refuses CPU {cpu} ({reason}); choose another with --cpu"),
        what => format!(
            "a calibration needs a file system and a network of its own, and the system refuses them ({what}: {reason}); run as \
             root"
        ),
    })
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("it said nothing")
}

fn cpu_times(cpu: u32) -> Option<CpuTimes> {
    let text = FileTree::at("/".as_ref()).text("proc/stat")?;
    let name = format!("cpu{cpu}");
    let mut lines = text.lines();
    CpuTimes::parse(lines.find(|line| line.split(' ').next() == Some(&name))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "delivery 0 6400\ndelivery 100 6500\noperation getppid call fit 500 1 81000 80000 99000\ndone\n";

    #[test]
    fn what_the_program_prints_is_read() {
        let read = OperationRounds::read(TEXT).unwrap();
        assert_eq!(read.median_of("getppid"), 81_000.0);
        assert_eq!(read.median_of("uname"), 0.0);
        let delivery = read.delivery().unwrap();
        assert_eq!((delivery.count, delivery.until_interrupted_ns), (2, 0.0));
        assert_eq!(
            (delivery.until_resumed_ns, delivery.until_resumed_p90_ns),
            (6_400.0, 6_600.0)
        );
        for damaged in [&TEXT[..40], &TEXT.replace("81000", "x"), "done of what\n"] {
            assert!(OperationRounds::read(damaged).is_none(), "{damaged}");
        }
    }

    #[test]
    fn what_is_refused_is_told_with_the_remedy() {
        let said = refused("fifo Operation not permitted (os error 1)", 1).to_string();
        assert!(said.contains("SCHED_FIFO") && said.contains("run as root"), "{said}");
        let said = refused("namespaces Operation not permitted (os error 1)", 1).to_string();
        assert!(said.contains("namespaces: Operation not permitted"), "{said}");
    }
}
