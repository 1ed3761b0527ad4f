//! The controller's record of a cell, and the folder that keeps records.
//!
//! ```text
//! RawRecord (+ plugin stamps) -> CellResult { Record, samples as Parquet }         build
//! CellResult -> <folder>/record.json, samples.parquet, SHA256SUMS                  folder (atomic)
//! cells of one question -> run.json + cells/<id>/                                  run
//! what is missing of a run -> an executor -> cells/<id>/                           execute
//! ```
//! `docs/formats.md` describes every field. A lab record holds nothing of the host: the same cell gives
//! byte-identical files everywhere.

mod accounting;
pub(crate) mod bounds;
pub mod build;
mod check;
mod columns;
pub mod cycles;
mod details;
mod execute;
pub mod explanations;
mod fit;
pub mod folder;
mod followed;
mod foreign;
mod group;
#[cfg(test)]
mod hostile;
pub mod intervals;
mod judged;
mod missed;
mod origin;
pub mod parquet;
pub mod passes;
pub mod plan;
pub mod run;
pub mod samples;
pub mod stream;
pub mod subject;
pub mod summary;
mod totals;
mod trace_cost;

pub use accounting::{Accounting, GapAccount, LOST_EVENTS, LOST_LINES, Periods};
pub use build::{CellResult, RecordBuildError, Stamp};
pub use check::MOST;
pub use execute::{CompletedCells, Executor, ExecutorTask, execute, parallel};
pub use folder::FolderError;
pub use followed::{AskedTime, FOLLOW_FILE, FollowCommand, FollowedProgram};
pub use foreign::{Beyond, Foreign, Rounding};
pub use judged::{is_host, judged};
pub use missed::MissedPeriods;
pub use origin::{DoctorFinding, RecordOrigin, WasSet};
pub use plan::{CellEntry, Imported, RunPlan};
pub use run::{CellGroup, Run, RunError};
pub use samples::{CycleParts, RowParts, SampleRow};
pub use subject::{
    CellId, ForeignMachine, HostMachine, LabMachine, LoadedModule, Preempt, Subject, SubjectId, SubjectKernel,
    SubjectMachine, Venue, safe,
};
pub use summary::{PeriodSummary, Summary, title_of};
pub use totals::check as check_totals;
pub use trace_cost::{TraceCost, WakeupTimes};
pub use worstcase_contract::Quantity;
pub use worstcase_plan::Claim;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_contract::bench::Details;
use worstcase_contract::probe::ProbeInfo;
use worstcase_contract::spec::SpecError;
use worstcase_contract::{CellSpec, Instructions, Nanos};

/// The form of record.json; see the versioning policy in `docs/formats.md`.
pub const SCHEMA: &str = "worstcase-record/4";

/// The order to the measured machine: [`CellSpec`] with units in the names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRecord {
    /// The instrument with its parameters.
    pub probe: String,
    /// The load with its parameters.
    pub load: String,
    /// Distance of two due times; 0 for a probe that has none.
    pub period_ns: u64,
    /// Number of periods, of repetitions, or of windows of `noise`.
    pub periods: u32,
    /// Phase and access patterns.
    pub seed: u64,
    /// The load ran alone for this long before the first period.
    pub warmup_ns: u64,
    /// Real-time priority of the probe; 0 for a policy without one.
    pub priority: u8,
    /// Host: the CPU that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Host: how it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRecord>,
}

/// Begin of the warning that the probe was an ordinary thread: the right to be a real-time one was missing.
pub const NOT_REAL_TIME: &str = "NOT REAL-TIME";

/// Key of a host record's environment: the CPUs, of those measured at once, that the kernel keeps ordinary work
/// away from.
pub const ISOLATED: &str = "isolated_cpus";
/// Key of the same: the CPUs that the load ran on, if not all.
pub const LOAD_CPUS: &str = "load_cpus";

/// Key of the same: so many of its latest samples have their trace beside the record.
pub const CAPTURES: &str = "captures";

/// Key of the same: why none have, where they would.
pub const CAPTURES_REFUSED: &str = "captures_refused";

/// Key of the same: so many ns later does the trace beside a measurement make a wake-up (median).
pub const TRACE_COST: &str = "trace_cost_ns";

/// Key of the same: what recorded the trace, `tracefs` or `perf`.
pub const TRACE_RECORDER: &str = "trace_recorder";

/// Key of the same: a user ended the measurement before its time.
pub const ENDED_EARLY: &str = "ended_early";

/// Settings for a measurement on the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodRecord {
    /// The timer that wakes the probe: `nanosleep`, `timerfd`, `posix`, `setitimer` or `rtc`; `none` for a probe
    /// that no timer wakes.
    pub timer: String,
    /// Its scheduling policy: `fifo:90`, `rr:90`, `deadline` or `other`.
    pub policy: String,
    /// The CPUs that were measured at once.
    pub cpus: Vec<u32>,
    /// The due times of each of these CPUs are this much after those of the CPU before.
    pub distance_ns: u64,
    /// `noise`: gaps at least this long are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_ns: Option<u64>,
}

impl From<&CellSpec> for CellRecord {
    fn from(spec: &CellSpec) -> CellRecord {
        CellRecord {
            probe: spec.probe.to_string(),
            load: spec.load.clone(),
            period_ns: spec.period.0,
            periods: spec.periods,
            seed: spec.seed,
            warmup_ns: spec.warmup.0,
            priority: spec.priority,
            cpu: None,
            method: None,
        }
    }
}

impl CellRecord {
    /// The description of its probe; none for a probe of another tool.
    pub fn probe_info(&self) -> Option<&'static ProbeInfo> {
        ProbeInfo::of_word(&self.probe)
    }

    /// The cell as it is asked for, to run it again.
    pub fn spec(&self) -> Result<CellSpec, SpecError> {
        Ok(CellSpec {
            probe: self.probe.parse()?,
            load: self.load.clone(),
            period: Nanos(self.period_ns),
            periods: self.periods,
            seed: self.seed,
            warmup: Nanos(self.warmup_ns),
            priority: self.priority,
        })
    }
}

/// The cost of measuring itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfCostRecord {
    /// One read of the clock (minimum of many).
    pub clock_read_ns: u64,
    /// One turn of the sampling loop with nothing to wait for (minimum of many).
    pub empty_sample_ns: u64,
    /// CPU time of the probe while measuring.
    pub cpu_time_ns: u64,
    /// Minor page faults of the probe while measuring.
    pub minor_faults: u64,
    /// Major page faults of the probe while measuring.
    pub major_faults: u64,
}

/// A count of the load's work while measuring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// The counted unit, e.g. `segments`.
    pub unit: String,
    /// The number of units.
    pub count: u64,
}

impl From<&worstcase_contract::record::Work> for WorkRecord {
    fn from(work: &worstcase_contract::record::Work) -> WorkRecord {
        WorkRecord {
            unit: work.unit.clone(),
            count: work.count,
        }
    }
}

/// The distributions of a cell; a quantity that was not measured is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summaries {
    /// Due time to sample. Absent only if every period was missed.
    pub latency: Option<Summary>,
    /// Due time to the first instruction of the timer interrupt.
    pub irq_latency: Option<Summary>,
    /// First instruction of the timer interrupt to sample.
    pub after_irq: Option<Summary>,
    /// Host: timer interrupt entered to wake-up issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<Summary>,
    /// Host: wake-up issued to switched in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Summary>,
    /// Host: switched in to sample.
    #[serde(rename = "return", default, skip_serializing_if = "Option::is_none")]
    pub return_: Option<Summary>,
    /// Host: the part of the latency, or of a program's cycle, that the trace does not explain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<Summary>,
    /// Jitter: distance of a period from what it should be, without its sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Summary>,
    /// Of a program's cycles: release to the begin of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Summary>,
    /// Of a program's cycles: the thread ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Summary>,
    /// Of a program's cycles: it was ready, and something else had the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<Summary>,
    /// Of a program's cycles: it was blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Summary>,
}

impl Summaries {
    /// The summaries that `summary` gives for each quantity.
    pub fn of(mut summary: impl FnMut(Quantity) -> Option<Summary>) -> Summaries {
        Summaries {
            latency: summary(Quantity::Latency),
            irq_latency: summary(Quantity::IrqLatency),
            after_irq: summary(Quantity::AfterIrq),
            handler: summary(Quantity::Handler),
            scheduling: summary(Quantity::Scheduling),
            return_: summary(Quantity::Return),
            unexplained: summary(Quantity::Unexplained),
            jitter: summary(Quantity::Jitter),
            start: summary(Quantity::Start),
            execution: summary(Quantity::Execution),
            interference: summary(Quantity::Interference),
            blocked: summary(Quantity::Blocked),
        }
    }
}

/// The file with all raw samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplesFile {
    /// Its name, beside record.json.
    pub file: String,
    /// Rows, one a sample.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// The kept samples, if not all are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SampleSelection>,
}

/// The samples of a long measurement that are kept: the largest, each with those before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleSelection {
    /// The number of largest samples.
    pub largest: u32,
    /// The number of samples before each of them, and after it.
    pub around: u32,
}

/// Everything one cell gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// The cell's name, also its folder's.
    pub id: CellId,
    /// The subject.
    pub subject: Subject,
    /// The cell.
    pub cell: CellRecord,
    /// The fate of every period, or the time in which gaps were watched.
    pub accounting: Accounting,
    /// The distributions.
    pub summary: Summaries,
    /// Lab: instructions executed while measuring.
    pub instructions: Option<Instructions>,
    /// The cost of measuring itself; another tool does not tell it, and a program that is followed has none of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_cost: Option<SelfCostRecord>,
    /// Proof that the load ran.
    pub work: Vec<WorkRecord>,
    /// Rights and settings that were missing and may have changed the result.
    pub warnings: Vec<String>,
    /// Lab: output of the machine's console meanwhile: grave messages of the kernel, words of programs that wrote
    /// to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<String>,
    /// Host: where and when it was measured, and how the machine was set; older records do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RecordOrigin>,
    /// The other tool that measured the record, and what its file does not contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// The program of the user's own whose cycles the samples are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<FollowedProgram>,
    /// Lab: the scheduler that was loaded into the kernel, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<LoadedScheduler>,
    /// The machine's description of itself.
    pub environment: BTreeMap<String, String>,
    /// SHA-256 over all samples ([`samples::digest`]), `sha256:` and hexadecimal digits: equal digests, equal samples.
    pub digest: String,
    /// `noise`: what took the CPU away, where the kernel's trace was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseRecord>,
    /// `switch`, `hackbench`, `inversion`, `remote`, `shootdown`: the probe's details beside its samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// The raw samples.
    pub samples: SamplesFile,
}

/// A scheduler that was loaded into the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedScheduler {
    /// The kernel's name for it.
    pub name: String,
    /// SHA-256 of its file, `sha256:` and hexadecimal digits.
    pub digest: String,
    /// Its counters from the begin of the cell to its end, if it has any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

/// A cause of gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseRecord {
    /// An interrupt, a soft interrupt, a thread; `unexplained` for time that no event of the kernel accounts for.
    pub name: String,
    /// The number of times.
    pub count: u64,
    /// Its time, all together.
    pub total_ns: u64,
    /// Its longest.
    pub max_ns: u64,
}

impl Record {
    /// The cell as it was asked for, to run it again: a program's own period is not what it was asked for.
    pub fn spec(&self) -> Result<CellSpec, SpecError> {
        let spec = self.cell.spec()?;
        let asked = self.followed.as_ref().and_then(|followed| followed.asked);
        Ok(match asked {
            None => spec,
            Some(asked) => CellSpec {
                period: Nanos(asked.period_ns),
                periods: asked.periods,
                priority: 0,
                ..spec
            },
        })
    }
}

impl Record {
    /// Whether its samples are the lateness of a timer.
    pub fn awaits_timer(&self) -> bool {
        self.details.is_none() && self.followed.is_none() && self.accounting.periods().is_some()
    }

    /// Whether its probe was an ordinary thread, because the right to be a real-time one was missing.
    pub fn is_refused_real_time(&self) -> bool {
        self.warnings.iter().any(|warning| warning.starts_with(NOT_REAL_TIME))
    }

    /// The largest latency, if there is a sample.
    pub fn max_latency(&self) -> Option<u64> {
        self.summary.latency.as_ref().map(|summary| summary.max_ns)
    }

    /// The distribution of a quantity, if it was measured.
    pub fn summary(&self, quantity: Quantity) -> Option<&Summary> {
        match quantity {
            Quantity::Latency => self.summary.latency.as_ref(),
            Quantity::IrqLatency => self.summary.irq_latency.as_ref(),
            Quantity::AfterIrq => self.summary.after_irq.as_ref(),
            Quantity::Handler => self.summary.handler.as_ref(),
            Quantity::Scheduling => self.summary.scheduling.as_ref(),
            Quantity::Return => self.summary.return_.as_ref(),
            Quantity::Unexplained => self.summary.unexplained.as_ref(),
            Quantity::Jitter => self.summary.jitter.as_ref(),
            Quantity::Start => self.summary.start.as_ref(),
            Quantity::Execution => self.summary.execution.as_ref(),
            Quantity::Interference => self.summary.interference.as_ref(),
            Quantity::Blocked => self.summary.blocked.as_ref(),
        }
    }

    /// Periods that passed while the probe was late, if that is known.
    pub fn missed(&self) -> Option<u64> {
        let told = self.foreign.as_ref().is_none_or(|f| f.missed_known);
        told.then(|| self.accounting.missed())
    }

    /// Samples or gaps that were taken and not kept, if that is known: another tool tells it by its samples alone.
    pub fn lost(&self) -> Option<u64> {
        let lost = self.accounting.lost();
        (self.foreign.is_none() || self.has_samples() || lost > 0).then_some(lost)
    }

    /// Whether every sample is kept.
    pub fn has_samples(&self) -> bool {
        match self.foreign {
            Some(_) => self.samples.rows > 0,
            None => self.samples.selection.is_none() || self.samples.rows == self.accounting.rows(),
        }
    }

    /// The observation time: periods times period, or the time watched for gaps.
    pub fn observation_time(&self) -> Nanos {
        if let Some(observed) = self.foreign.as_ref().and_then(|f| f.observed_ns) {
            return Nanos(observed);
        }
        Nanos(match &self.accounting {
            Accounting::Periods(_) if self.followed.is_some() && self.cell.period_ns == 0 => {
                self.followed.as_ref().map_or(0, |followed| followed.observed_ns)
            }
            Accounting::Periods(periods) => self.cell.period_ns.saturating_mul(periods.expected),
            Accounting::Gaps(gaps) => gaps.observed_ns,
        })
    }
}
