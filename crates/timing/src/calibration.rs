//! A machine's calibration, and its file.

use crate::fit::{EventTimes, TimedCounts, modelled};
use crate::predict::Interval;
use crate::quality::{self, ErrorShares, Quality};
use crate::table::{CountedOperation, NOTHING, OperationTable, USER};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use worstcase_base::files::read_most;
use worstcase_costs::{CostEvent, EventCounts};

/// The form of a file.
pub const SCHEMA: &str = "worstcase-calibration/1";
/// No file is longer.
const LONGEST: u64 = 1 << 20;
/// With fewer operations no ns can be told.
const FEWEST: usize = 10;

worstcase_base::errors! {
    /// Why there is no calibration.
    #[derive(Debug, thiserror::Error)]
    pub enum CalibrationError {
        /// The file cannot be read.
        #[error("cannot read the calibration {}: {source}; 'worstcase host calibrate -o FILE' makes one", path.display())]
        Read {
            /// The file.
            path: PathBuf,
            /// The system's error.
            source: std::io::Error,
        } => Usage,
        /// It is something else.
        #[error("{} is no calibration of this version ({reason}); 'worstcase host calibrate -o FILE' makes one", path.display())]
        Unreadable {
            /// The file.
            path: PathBuf,
            /// Why.
            reason: String,
        } => Usage,
        /// What was measured is not enough.
        #[error("only {0} operations could be measured, at least {FEWEST} are needed; give the command again")]
        TooFew(usize) => Measured,
    }
}

/// The machine, as far as it was recognised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibratedMachine {
    /// The processor's model.
    pub processor: Option<String>,
    /// The running kernel's release.
    pub kernel: Option<String>,
    /// Whether there is a hypervisor; absent: not known.
    pub hypervisor: Option<bool>,
    /// The hypervisor's name.
    pub hypervisor_name: Option<String>,
    /// Whether a core has several CPUs at work.
    pub smt: Option<bool>,
    /// The driver of the frequency.
    pub frequency_driver: Option<String>,
    /// The governor of the CPU's frequency.
    pub governor: Option<String>,
    /// The CPU that measured.
    pub cpu: u32,
}

/// What a timer that is due meets before it has an effect: the machine's own part of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Timers.
    pub count: usize,
    /// From due until a program that computes stands still (ns, median).
    pub until_interrupted_ns: f64,
    /// From due until it goes on: hypervisor, entry, handler and return (ns, median).
    pub until_resumed_ns: f64,
    /// The same, one in ten is longer.
    pub until_resumed_p90_ns: f64,
}

/// An operation on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredOperation {
    /// Its name.
    pub name: String,
    /// What it is like.
    pub class: String,
    /// Whether the ns were not made from it.
    pub held_out: bool,
    /// How often it is done in a batch.
    pub times: u64,
    /// The events of a batch, in the lab.
    pub events: EventCounts,
    /// ns of one, the median of all rounds.
    pub ns: f64,
    /// How far the rounds lie apart: their 90th percentile by their 10th.
    pub spread: f64,
}

/// A machine's calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    schema: String,
    /// The machine.
    pub machine: CalibratedMachine,
    /// The kernel whose events were counted.
    pub counted: String,
    /// ns of each event.
    pub ns: BTreeMap<String, f64>,
    /// How wrong it is.
    pub quality: Quality,
    /// How far predictions are off.
    pub(crate) interval: Interval,
    /// The machine's own part of a wake-up; none where no timer was seen.
    pub delivery: Option<Delivery>,
    /// Why it may be wrong.
    pub doubts: Vec<String>,
    /// What it was made from.
    pub operations: Vec<MeasuredOperation>,
}

impl MeasuredOperation {
    /// From the ns of each round's batch; none where they say nothing: fewer than what a measurement itself takes.
    pub fn of(counted: &CountedOperation, table: &OperationTable, rounds: &[u64], nothing_ns: f64) -> Option<Self> {
        let batches = crate::sorted(rounds.iter().map(|ns| *ns as f64));
        if batches.is_empty() {
            return None;
        }
        let around = nothing_ns * counted.windows as f64;
        let ns = (crate::quantile(&batches, 0.5) - around) / counted.times as f64;
        let mut events = counted.counts;
        if let Some(nothing) = table.named(NOTHING) {
            let marks = nothing.counts[CostEvent::Instruction] * counted.windows;
            let own = &mut events[CostEvent::Instruction];
            *own = own.saturating_sub(marks);
        }
        (ns > 0.0 && events.lab_instructions() > 0).then(|| MeasuredOperation {
            name: counted.name.clone(),
            class: counted.class.clone(),
            held_out: counted.is_held_out,
            times: counted.times,
            events,
            ns: crate::rounded(ns),
            spread: crate::rounded(crate::quantile(&batches, 0.9) / crate::quantile(&batches, 0.1)),
        })
    }

    fn timed(&self) -> TimedCounts {
        TimedCounts {
            counts: modelled(&self.events, self.times as f64),
            ns: self.ns,
        }
    }

    /// Code that never calls the kernel tells of the processor, but no path of the kernel is like it.
    fn is_path(&self) -> bool {
        self.class != USER
    }
}

impl Calibration {
    /// Fits the ns of each event, and tells how wrong they are.
    pub fn of(
        machine: CalibratedMachine,
        counted: &str,
        operations: Vec<MeasuredOperation>,
        delivery: Option<Delivery>,
        doubts: Vec<String>,
    ) -> Result<Calibration, CalibrationError> {
        let mut calibration = Calibration {
            schema: SCHEMA.into(),
            machine,
            counted: counted.into(),
            ns: BTreeMap::new(),
            quality: NOT_KNOWN,
            interval: Interval {
                low: 0.0,
                high: 0.0,
                variance: 0.0,
                widening: 0.0,
            },
            delivery,
            doubts,
            operations,
        };
        let known = calibration.timed(false);
        if known.len() < FEWEST {
            return Err(CalibrationError::TooFew(known.len()));
        }
        let times = EventTimes::fitted(&known);
        calibration.ns = times
            .named()
            .map(|(event, ns)| (event.name().into(), crate::rounded(ns)))
            .collect();
        let classes: Vec<&str> = calibration.paths(false).map(|o| o.class.as_str()).collect();
        let (near, far) = (
            quality::leave_one_out(&known),
            quality::leave_class_out(&known, &classes),
        );
        let held_out = quality::residuals(&known, &calibration.timed(true));
        let shares = |residuals: &[quality::Residual]| ErrorShares::of(residuals.iter().map(|r| r.log));
        calibration.quality = Quality {
            leave_one_out: shares(&near).unwrap_or(NO_SHARES),
            leave_class_out: shares(&far).unwrap_or(NO_SHARES),
            held_out: shares(&held_out),
        };
        calibration.interval = Interval::of(&near, &far);
        Ok(calibration)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Calibration, CalibrationError> {
        let unreadable = |reason: String| CalibrationError::Unreadable {
            path: path.to_path_buf(),
            reason,
        };
        let bytes = read_most(path, LONGEST).map_err(|source| CalibrationError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Calibration::decode(&bytes).map_err(unreadable)
    }

    /// From a file's bytes; the error says what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Calibration, String> {
        #[derive(Deserialize)]
        struct Form {
            schema: String,
        }
        let Form { schema } = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        if schema != SCHEMA {
            return Err(format!("its form is '{schema}', not '{SCHEMA}'"));
        }
        let read: Calibration = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        match read.flaw() {
            Some(flaw) => Err(flaw),
            None => Ok(read),
        }
    }

    fn flaw(&self) -> Option<String> {
        let is_time = |ns: f64| ns.is_finite() && ns > 0.0;
        if let Some((name, _)) = self.ns.iter().find(|(_, ns)| !is_time(**ns)) {
            return Some(format!("the ns of {name} are no time"));
        }
        if !self.ns.contains_key(CostEvent::Instruction.name()) {
            return Some("it has no ns of instructions".into());
        }
        let is_wrong = |o: &&MeasuredOperation| !is_time(o.ns) || o.times == 0 || o.events.lab_instructions() == 0;
        if let Some(operation) = self.operations.iter().find(is_wrong) {
            return Some(format!("the operation {} has no time or no events", operation.name));
        }
        if self.timed(false).len() < FEWEST {
            return Some(format!("it has fewer than {FEWEST} operations"));
        }
        (!self.interval.is_sound()).then(|| "its interval is none".into())
    }

    /// As the text of a file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts") + "\n"
    }

    /// The operations that the ns are made from.
    pub fn fitted(&self) -> impl Iterator<Item = &MeasuredOperation> {
        self.paths(false)
    }

    /// Times and events of those, or of those that are kept from them.
    pub(crate) fn timed(&self, held_out: bool) -> Vec<TimedCounts> {
        self.paths(held_out).map(MeasuredOperation::timed).collect()
    }

    fn paths(&self, held_out: bool) -> impl Iterator<Item = &MeasuredOperation> {
        self.operations
            .iter()
            .filter(move |o| o.is_path() && o.held_out == held_out)
    }

    /// The slowest of the calibrated operations, per instruction of the lab (ns): no path that stays in the machine was
    /// slower.
    pub fn slowest_rate(&self) -> f64 {
        let rate = |o: &MeasuredOperation| o.ns * o.times as f64 / o.events.lab_instructions() as f64;
        self.operations
            .iter()
            .filter(|o| o.is_path())
            .map(rate)
            .fold(0.0, f64::max)
    }
}

const NO_SHARES: ErrorShares = ErrorShares {
    operations: 0,
    median: 1.0,
    p90: 1.0,
    within_1_5: 0.0,
};

const NOT_KNOWN: Quality = Quality {
    leave_one_out: NO_SHARES,
    leave_class_out: NO_SHARES,
    held_out: None,
};
