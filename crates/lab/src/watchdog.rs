//! Decides when a machine is given up: it stands still, it never ends, or its real time is over.
//!
//! Real time says nothing about a machine on a busy host. The plugin writes the machine's instruction count to a file,
//! some times a second. A machine stands still if that count does not change although QEMU uses CPU time, or sleeps,
//! with nothing to do; but not while QEMU is stopped or waits for a CPU or a disk of the host. A machine that runs but
//! never ends is limited by its instructions.

use super::LabError;
use procfs::ProcResult;
use procfs::process::{ProcState, Process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use worstcase_contract::Instructions;

/// Time between two looks.
pub const LOOK: Duration = Duration::from_millis(500);

/// How long a machine may stand still.
const STILL: Duration = Duration::from_secs(60);

/// Limit in seconds of real time for any machine, in addition to what its instructions may take. The other limits come
/// first, as they say more.
const REAL_SECS: u64 = 12 * 3600;

/// Instructions a second on a host that is hardly usable; a usual host makes 200 to 320 million.
const SLOWEST: u64 = 5_000_000;

/// Limit in instructions for a boot. Debian's 6.1 takes 5.4 thousand million.
pub const BOOT: Instructions = Instructions(50_000_000_000);

/// Limits of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MachineLimits {
    instructions: Instructions,
    real: Duration,
    /// How long it may stand still.
    still: Duration,
}

impl MachineLimits {
    /// Limits for a machine that never needs more than so many instructions; `asked` is the real time that the user
    /// allows.
    pub const fn new(instructions: Instructions, asked: Option<Duration>) -> MachineLimits {
        MachineLimits {
            instructions,
            real: match asked {
                Some(real) => real,
                None => Duration::from_secs(REAL_SECS + instructions.0 / SLOWEST),
            },
            still: STILL,
        }
    }
}

/// Watches one QEMU.
pub(crate) struct Watchdog {
    process: i32,
    /// The plugin's progress file; none before a machine runs.
    progress: Option<PathBuf>,
    limits: MachineLimits,
    begun: Instant,
    looked: Instant,
    seen: WatchdogLook,
    still: Duration,
}

/// The state at one look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WatchdogLook {
    count: u64,
    /// CPU time of all threads so far.
    cpu: Duration,
    /// Whether every thread sleeps.
    asleep: bool,
}

impl Watchdog {
    /// Watches this process from now on.
    pub fn new(process: u32, progress: Option<&Path>, limits: MachineLimits) -> Watchdog {
        let now = Instant::now();
        Watchdog {
            process: process.cast_signed(),
            progress: progress.map(Path::to_path_buf),
            limits,
            begun: now,
            looked: now,
            seen: WatchdogLook::default(),
            still: Duration::ZERO,
        }
    }

    /// Looks, if the last look is [`LOOK`] ago. The error says why the machine must be ended.
    pub fn look(&mut self) -> Result<(), LabError> {
        let elapsed = self.looked.elapsed();
        if elapsed < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        // A process that cannot be seen has ended, which its QMP session reports.
        if let Ok(now) = self.see() {
            self.still = stands_still(self.still, self.seen, now, elapsed);
            self.seen = now;
        }
        self.judge()
    }

    fn judge(&self) -> Result<(), LabError> {
        let count = Instructions(self.seen.count);
        if count > self.limits.instructions {
            return Err(LabError::Endless(count));
        }
        if self.still > self.limits.still {
            return Err(LabError::StandsStill(self.still, count));
        }
        if self.begun.elapsed() > self.limits.real {
            return Err(LabError::TimeLimit(self.limits.real));
        }
        Ok(())
    }

    fn see(&self) -> ProcResult<WatchdogLook> {
        let process = Process::new(self.process)?;
        let stat = process.stat()?;
        // A thread that has ended meanwhile does nothing.
        let mut threads = process.tasks()?.flatten().filter_map(|task| task.stat().ok());
        let asleep = threads.all(|thread| matches!(thread.state(), Ok(ProcState::Sleeping | ProcState::Idle)));
        Ok(WatchdogLook {
            count: self.count(),
            cpu: Duration::from_secs(stat.utime + stat.stime)
                / u32::try_from(procfs::ticks_per_second()).unwrap_or(100),
            asleep,
        })
    }

    fn count(&self) -> u64 {
        let bytes = self.progress.as_ref().and_then(|path| std::fs::read(path).ok());
        bytes
            .and_then(|b| b.try_into().ok())
            .map_or(self.seen.count, u64::from_le_bytes)
    }
}

/// How long the machine has stood still, `elapsed` after the last look.
fn stands_still(before: Duration, last: WatchdogLook, now: WatchdogLook, elapsed: Duration) -> Duration {
    if now.count != last.count {
        return Duration::ZERO;
    }
    // If the controller was stopped together with QEMU, it has not seen QEMU sleep for all that time.
    let slept = if last.asleep && now.asleep {
        elapsed.min(2 * LOOK)
    } else {
        Duration::ZERO
    };
    before + now.cpu.saturating_sub(last.cpu) + slept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    const HALF: Duration = Duration::from_millis(500);

    fn seen(count: u64, cpu_ms: u64, asleep: bool) -> WatchdogLook {
        let cpu = Duration::from_millis(cpu_ms);
        WatchdogLook { count, cpu, asleep }
    }

    #[test]
    fn only_a_machine_that_had_the_cpu_or_nothing_to_do_stands_still() {
        let still = |last, now, elapsed| stands_still(10 * HALF, last, now, elapsed);
        // The machine executed something, however little.
        assert_eq!(still(seen(7, 0, false), seen(8, 500, false), HALF), Duration::ZERO);
        // The machine had a CPU and executed nothing.
        assert_eq!(still(seen(7, 0, false), seen(7, 500, false), HALF), 11 * HALF);
        // The machine was stopped, or waited for a CPU: no time counts.
        assert_eq!(still(seen(7, 0, false), seen(7, 0, false), 1000 * HALF), 10 * HALF);
        // The machine has nothing to do, and never will.
        assert_eq!(still(seen(7, 0, true), seen(7, 0, true), HALF), 11 * HALF);
        // The same after the controller, too, was stopped for long.
        assert_eq!(still(seen(7, 0, true), seen(7, 0, true), 1000 * HALF), 12 * HALF);
    }

    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            // An error means that the process has ended already.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn shell(text: &str) -> Killed {
        Killed(Command::new("sh").args(["-c", text]).spawn().unwrap())
    }

    /// Looks until the watchdog gives up, or `looks` times.
    fn watch(process: &Killed, progress: Option<&Path>, limits: MachineLimits, looks: usize) -> Result<(), LabError> {
        let mut watchdog = Watchdog::new(process.0.id(), progress, limits);
        (0..looks).try_for_each(|_| {
            std::thread::sleep(LOOK);
            watchdog.look()
        })
    }

    fn limits(still: Duration) -> MachineLimits {
        let none = MachineLimits::new(Instructions(u64::MAX), None);
        MachineLimits { still, ..none }
    }

    #[test]
    fn a_process_that_spins_or_sleeps_without_progress_is_given_up() {
        for text in ["while :; do :; done", "exec sleep 1000"] {
            let process = shell(text);
            let ended = watch(&process, None, limits(HALF), usize::MAX);
            assert!(matches!(ended, Err(LabError::StandsStill(..))), "{text}: {ended:?}");
        }
    }

    #[test]
    fn a_process_that_is_stopped_is_waited_for() {
        let process = shell("kill -STOP $$; while :; do :; done");
        // Its way to the stop takes some ms of CPU time, whatever else the host does.
        watch(&process, None, limits(HALF), 6).unwrap();
    }

    #[test]
    fn too_many_instructions_are_the_end_and_progress_is_not() {
        let process = shell("while :; do :; done");
        let progress = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(progress.path(), 5_000u64.to_le_bytes()).unwrap();
        let most = |instructions| MachineLimits::new(Instructions(instructions), None);
        watch(&process, Some(progress.path()), most(5_000), 2).unwrap();
        let ended = watch(&process, Some(progress.path()), most(4_999), 2);
        assert!(
            matches!(ended, Err(LabError::Endless(Instructions(5_000)))),
            "{ended:?}"
        );
    }

    #[test]
    fn the_users_own_limit_is_real_time() {
        let process = shell("kill -STOP $$");
        let ended = watch(
            &process,
            None,
            MachineLimits::new(Instructions(1), Some(HALF)),
            usize::MAX,
        );
        assert!(matches!(ended, Err(LabError::TimeLimit(HALF))), "{ended:?}");
    }
}
