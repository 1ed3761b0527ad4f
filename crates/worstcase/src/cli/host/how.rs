//! How this machine is measured, as options: the same for a run and a watch.

use clap::Args;
use std::path::{Path, PathBuf};
use worstcase_base::duration;
use worstcase_host::{CpuList, HostError};
use worstcase_plan::{Apply, HostSetup, IoSchedulers, Method, Policy, Subjects, Timer};
use worstcase_probe::Nanos;
use worstcase_probe::priorities::Priorities;

/// CPUs, timer, policy, and what is set meanwhile.
#[derive(Debug, Args)]
pub struct How {
    /// CPUs to measure, e.g. 0,2-5 [default: all that are online, isolated ones too; fewer where a cpuset, or taskset before
    /// this command, leaves fewer]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// CPUs that the loads run on [default: those that are not isolated; all if none is]
    #[arg(long, value_name = "LIST")]
    load_cpus: Option<CpuList>,
    /// The due times of each CPU are this much after those of the CPU before it [default: 0us]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    distance: Option<Nanos>,
    /// What wakes the probe: nanosleep (clock_nanosleep), timerfd, posix (a POSIX timer that sends SIGALRM), setitimer (one CPU
    /// only), rtc (the periodic interrupt of /dev/rtc, jitter on one CPU only) [default: nanosleep; response: posix; jitter: rtc
    /// where there is one]
    #[arg(long, value_name = "TIMER")]
    timer: Option<Timer>,
    /// Scheduling policy of the probe: fifo, rr, deadline (the interval as period; not pinned) or other [default: fifo]
    #[arg(long, value_name = "POLICY")]
    policy: Option<Policy>,
    /// Nice value of the probe, with --policy other: -20 to 19; below 0 needs a right [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-20..=19))]
    nice: Option<i8>,
    /// The loads make their files in a new folder of this one [default: the temporary folder]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    /// Set what `worstcase host doctor` can set, or what is named of it, as long as it is measured; set back even if worstcase
    /// is killed
    #[arg(long, value_name = "SETTING,...", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    apply: Option<Apply>,
    /// Priorities of the kernel's own threads meanwhile, e.g. ktimers=90,irq/30=0 (1 to 99: SCHED_FIFO, 0: SCHED_OTHER); set
    /// back even if worstcase is killed (root)
    #[arg(long, value_name = "THREAD=PRIORITY,...")]
    chrt: Option<Priorities>,
    /// I/O schedulers of the disk that --work-dir is on, one after the other, e.g. none,mq-deadline,bfq{slice_idle=0}; set back
    /// even if worstcase is killed (root) [default: the one that it has]
    #[arg(long, value_name = "SCHEDULER,...")]
    io_scheduler: Option<IoSchedulers>,
}

impl How {
    /// What is measured.
    pub fn subjects(&self) -> Subjects {
        Subjects::Cpus(self.cpus.clone())
    }

    /// The method with this of it.
    pub fn method(&self, method: Method) -> Method {
        Method {
            policy: self.policy,
            nice: self.nice,
            timer: self.timer,
            distance: self.distance,
            ..method
        }
    }

    /// The machine's setup.
    pub fn setup(&self) -> Result<HostSetup, HostError> {
        Ok(HostSetup {
            apply: self.apply.clone().unwrap_or_default(),
            chrt: self.chrt.clone().unwrap_or_default(),
            io_schedulers: self.io_scheduler.clone().unwrap_or_default(),
            load_cpus: self.load_cpus.clone(),
            work_dir: absolute(self.work_dir.as_deref())?,
        })
    }
}

/// The folder of `--work-dir`, so that it is the same from everywhere.
pub fn absolute(work_dir: Option<&Path>) -> Result<Option<PathBuf>, HostError> {
    let absolute = work_dir.map(std::path::absolute).transpose();
    absolute.map_err(|e| HostError::Argument(format!("--work-dir: {e}")))
}
