//! One cell's census, with its samples and the names of its code.

use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{Census, Section};
use worstcase_lab::execution::Symbols;
use worstcase_lab::moments::SampleMoment;
use worstcase_results::record::{Record, SubjectId};

/// A CPU of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CensusCpu {
    /// Its number.
    pub cpu: u32,
    /// Whether the probe is on it.
    pub has_probe: bool,
}

/// The cell of a census.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// The cell's name.
    pub cell: String,
    /// The CPU, if the cell's machine has several.
    #[serde(flatten)]
    pub of: Option<CensusCpu>,
    /// Its subject's name.
    pub subject: SubjectId,
    /// Its load.
    pub load: String,
    /// Its probe.
    pub probe: String,
    /// Its seed.
    pub seed: u64,
    /// The preemption model in force.
    pub preempt: String,
    /// The unit of times, e.g. `virtual us at 1000 MIPS`.
    pub unit: String,
    /// The interval.
    pub period_ns: u64,
    /// Periods without a sample.
    pub missed: u64,
    /// The probe is a program of the user's own: its cycles are no samples of a wake-up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_program: bool,
}

impl About {
    /// Describes the record's cell, and this CPU or the probe's.
    pub(crate) fn of(record: &Record, cpu: Option<u32>) -> About {
        let smp = record.subject.virtual_machine().map(|machine| &machine.smp);
        let of = smp.filter(|smp| smp.cpus > 1).map(|smp| {
            let cpu = cpu.unwrap_or(smp.probe_cpu());
            CensusCpu {
                cpu,
                has_probe: cpu == smp.probe_cpu(),
            }
        });
        About {
            cell: record.id.to_string(),
            of,
            subject: record.subject.id(),
            load: record.cell.load.clone(),
            probe: record.cell.probe.clone(),
            seed: record.cell.seed,
            preempt: record.subject.preempt.in_force.clone(),
            unit: record.subject.time_unit(),
            period_ns: record.cell.period_ns,
            missed: record.accounting.missed(),
            is_program: record.followed.is_some(),
        }
    }

    /// Whether the probe is on its CPU, and has samples of wake-ups.
    pub fn has_samples(&self) -> bool {
        !self.is_program && self.of.is_none_or(|of| of.has_probe)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct CellCensus {
    /// The cell of the census.
    pub about: About,
    /// The plugin's counts, in instructions.
    pub census: Census,
    /// Whether it is known how this kernel polls for rescheduling; if not, no section is cut at polls.
    pub polls_known: bool,
    /// Names of code.
    pub symbols: Symbols,
    /// The cell's samples, in order.
    pub moments: Vec<SampleMoment>,
    /// QEMU's icount shift: an instruction takes 2^shift ns of virtual time.
    pub shift: u32,
}

impl CellCensus {
    /// Virtual time of so many instructions.
    pub fn time_of(&self, instructions: u64) -> Nanos {
        Nanos(instructions << self.shift)
    }

    /// The long sections of a kind, in order.
    pub(crate) fn sections(&self, kind: Kind) -> impl Iterator<Item = &Section> {
        self.census.sections.iter().filter(move |s| s.kind == kind)
    }
}

/// The name of a kind, as in JSON.
pub fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::InterruptsOff => "interrupts-off",
        Kind::PreemptionOff => "preemption-off",
        Kind::NonPreemptible => "non-preemptible",
        Kind::HigherPriority => "higher-priority",
    }
}
