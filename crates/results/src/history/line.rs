//! Lines: records that were measured alike, in order.

use super::judge::MeasureSeries;
use super::measure::HistoryMeasure;
use super::{HistoryPoint, Placed};
use crate::record::{ISOLATED, LOAD_CPUS, MethodRecord, Record, SubjectMachine, Venue};
use serde::Serialize;
use std::cmp::Ordering;
use std::path::PathBuf;
use worstcase_contract::Nanos;
use worstcase_plan::VirtualMachine;

/// The properties that all points of a line share. Kernel, build, boot parameters, firmware, governor and `--apply`
/// may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineKey {
    /// The venue.
    pub venue: Venue,
    /// The machine's host name; in the lab its CPU in QEMU's words.
    pub machine: String,
    /// Digest of its machine-id, if it is known.
    pub machine_id: Option<String>,
    /// The CPU's model, and how many there are; in the lab the machine that was asked for.
    pub cpus: String,
    /// The preemption model.
    pub preempt: String,
    /// The load.
    pub load: String,
    /// The CPUs that it ran on, if not all.
    pub load_cpus: Option<String>,
    /// The CPUs of those measured that the kernel kept free of ordinary work.
    pub isolated: Option<String>,
    /// The probe.
    pub probe: String,
    /// The CPU that was measured.
    pub cpu: Option<u32>,
    /// The interval.
    #[serde(rename = "period_ns")]
    pub period: Nanos,
    /// Time for which the load ran alone.
    #[serde(rename = "warmup_ns")]
    pub warmup: Nanos,
    /// Real-time priority of the probe.
    pub priority: u8,
    /// Timer, policy, CPUs, threshold.
    pub method: Option<MethodRecord>,
    /// In the lab: the machine that was asked for.
    #[serde(skip)]
    virtual_machine: Option<VirtualMachine>,
}

/// A period that is found and not asked for is a little other each time.
fn to_three_digits(period: u64) -> Nanos {
    let unit = 10_u64.pow(period.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Nanos((period + unit / 2) / unit * unit)
}

impl LineKey {
    fn of(record: &Record) -> LineKey {
        let origin = record.origin.as_ref();
        let (machine, cpus) = match &record.subject.machine {
            SubjectMachine::Lab(lab) => (
                lab.qemu.clone(),
                format!("{} at {} MIPS", lab.qemu_cpu, lab.machine.mips),
            ),
            SubjectMachine::Host(host) => (String::new(), format!("{} x {}", host.cpus, host.cpu)),
            SubjectMachine::Foreign(foreign) => (foreign.tool.clone(), String::new()),
        };
        let environment = |name: &str| record.environment.get(name).cloned();
        let is_ours = record.followed.is_none();
        LineKey {
            venue: record.subject.venue(),
            machine: origin.map_or(machine, |o| o.host.clone()),
            machine_id: origin.and_then(|o| o.machine_id.clone()),
            cpus,
            preempt: record.subject.preempt.in_force.clone(),
            load: record.cell.load.clone(),
            load_cpus: environment(LOAD_CPUS),
            isolated: environment(ISOLATED),
            probe: record.cell.probe.clone(),
            cpu: record.cell.cpu,
            period: match is_ours {
                true => Nanos(record.cell.period_ns),
                false => to_three_digits(record.cell.period_ns),
            },
            warmup: Nanos(record.cell.warmup_ns),
            // A program's own scheduling may be what changed it.
            priority: if is_ours { record.cell.priority } else { 0 },
            method: record.cell.method.clone().filter(|_| is_ours),
            virtual_machine: record.subject.virtual_machine().cloned(),
        }
    }

    /// Whether both belong to one line. A machine with an id may have changed its name.
    fn same(&self, other: &LineKey) -> bool {
        let named = |key: &LineKey| LineKey {
            machine: if key.machine_id.is_some() {
                String::new()
            } else {
                key.machine.clone()
            },
            ..key.clone()
        };
        named(self) == named(other)
    }

    /// The line's name: probe, load and CPU; `with_machine` also its machine.
    pub fn name(&self, with_machine: bool) -> String {
        let mut name = format!("{} under {}", self.probe, self.load);
        if let Some(cpu) = self.cpu {
            name += &format!(" on CPU {cpu}");
        }
        if self.venue == Venue::Lab {
            name += &format!(", {}", self.preempt);
        } else if with_machine {
            name += &format!(" of {} ({})", self.machine, self.preempt);
        }
        name
    }
}

/// Points that were measured alike, from the oldest to the newest.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryLine {
    /// The properties that all points share.
    pub key: LineKey,
    /// The points, in order.
    pub points: Vec<HistoryPoint>,
    /// The measures of the line, and their changes.
    pub series: Vec<MeasureSeries>,
    /// Facts that a reader must know before believing the line.
    pub notes: Vec<String>,
}

impl HistoryLine {
    /// The series of a measure.
    pub fn series_of(&self, of: impl Fn(HistoryMeasure) -> bool) -> Option<&MeasureSeries> {
        self.series.iter().find(|s| of(s.measure))
    }

    /// The measure that is typical of it.
    pub fn typical(&self) -> Option<&MeasureSeries> {
        self.series_of(|m| matches!(m, HistoryMeasure::Typical(_)))
    }

    /// Whether the last change of any measure is for the worse.
    pub fn is_worse(&self) -> bool {
        self.series.iter().any(MeasureSeries::is_worse)
    }
}

/// All lines, in the order in which their first records were found; not judged yet.
pub(super) fn lines(records: &[Placed], versions: fn(&str, &str) -> Ordering) -> Vec<HistoryLine> {
    let mut groups: Vec<(LineKey, Vec<&Placed>)> = Vec::new();
    for placed in records {
        let key = LineKey::of(&placed.1);
        match groups.iter_mut().find(|(known, _)| known.same(&key)) {
            Some((_, of)) => of.push(placed),
            None => groups.push((key, vec![placed])),
        }
    }
    let line = |(key, of): (LineKey, Vec<&Placed>)| {
        let points = match key.venue {
            Venue::Lab => kernels(&of, versions),
            Venue::Host => moments(of),
        };
        let (series, notes) = super::series::series(&key, &points);
        HistoryLine {
            key,
            points,
            series,
            notes,
        }
    };
    groups.into_iter().map(line).collect()
}

/// Points by run, in the order in which they began: the seeds of a run depend on what its machine did then, so they are one point.
/// Files of other tools are runs, also where one import took several.
fn moments(mut records: Vec<&Placed>) -> Vec<HistoryPoint> {
    records.sort_by_key(|(_, record)| record.origin.as_ref().map(|o| (o.began, record.cell.seed)));
    let mut runs: Vec<(&PathBuf, Vec<&Record>)> = Vec::new();
    for (run, record) in records {
        let same = |(path, of): &&mut (&PathBuf, Vec<&Record>)| *path == run && of[0].foreign.is_none();
        match runs.iter_mut().find(same).filter(|_| record.foreign.is_none()) {
            Some((_, of)) => of.push(record),
            None => runs.push((run, vec![record])),
        }
    }
    let point = |(run, of): (&PathBuf, Vec<&Record>)| HistoryPoint::of(run.clone(), &of);
    runs.into_iter().map(point).collect()
}

/// Points by kernel: all seeds of equal machines together; a kernel measured by another version of worstcase is a
/// point of its own.
fn kernels(records: &[&Placed], versions: fn(&str, &str) -> Ordering) -> Vec<HistoryPoint> {
    let machine = |record: &Record| match &record.subject.machine {
        SubjectMachine::Lab(lab) => lab.key.clone(),
        SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => String::new(),
    };
    let mut groups: Vec<(String, &Placed, Vec<&Record>)> = Vec::new();
    for placed in records {
        let (_, record) = placed;
        let key = machine(record);
        match groups.iter_mut().find(|(known, ..)| *known == key) {
            Some((.., of)) if of.iter().all(|r| r.cell.seed != record.cell.seed) => of.push(record),
            _ => groups.push((key, placed, vec![record])),
        }
    }
    groups.sort_by(|(_, (_, a), _), (_, (_, b), _)| {
        let (a, b) = (&a.subject.kernel, &b.subject.kernel);
        versions(&a.release, &b.release).then_with(|| versions(&a.version, &b.version))
    });
    groups
        .into_iter()
        .map(|(_, (run, _), of)| HistoryPoint::of(run.clone(), &of))
        .collect()
}
