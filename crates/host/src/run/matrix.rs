//! Every load, probe and seed on this machine; each measurement gives a cell for each of its CPUs.

use crate::HostSpec;
use crate::doctor::Finding;
use std::path::PathBuf;
use worstcase_contract::Probe;
use worstcase_contract::priorities::ThreadPriorities;
use worstcase_plan::Apply;
use worstcase_results::record::{CellEntry, ExecutorTask, RecordOrigin, Subject, SubjectMachine};

/// What is going to be measured.
#[derive(Debug)]
pub struct HostMatrix {
    /// This machine.
    pub subject: Subject,
    /// Whether the probe has several policies, each a subject of its own.
    pub(crate) has_policies: bool,
    /// The measurements; their folders are filled in when each begins.
    pub specs: Vec<HostSpec>,
    /// Notes before it begins, in lines.
    pub notes: Vec<String>,
    /// The parent of the folder in which the loads make their files.
    pub(crate) work_parent: PathBuf,
    /// The machine that is measured, and its settings before.
    pub origin: RecordOrigin,
    /// What the doctor found for the CPUs that are measured.
    pub findings: Vec<Finding>,
    /// Which of the findings' remedies are applied during the run.
    pub apply: Apply,
    /// Priorities of kernel threads during the run.
    pub chrt: ThreadPriorities,
}

impl HostMatrix {
    /// The measurements, in order.
    pub fn tasks(&self) -> Vec<ExecutorTask> {
        let task = |spec| ExecutorTask {
            cells: self.cells_of(spec),
        };
        self.specs.iter().map(task).collect()
    }

    /// This machine as the subject of a measurement.
    pub(crate) fn subject_of(&self, spec: &HostSpec) -> Subject {
        let mut subject = self.subject.clone();
        if let SubjectMachine::Host(host) = &mut subject.machine {
            host.io_scheduler = spec.io_scheduler.as_ref().map(ToString::to_string);
            let has_timer = !matches!(spec.probe, Probe::Bench(_));
            host.policy = (self.has_policies && has_timer).then(|| spec.scheduling.to_string());
        }
        subject
    }

    /// A measurement's cells: one for each CPU, or one for all.
    fn cells_of(&self, spec: &HostSpec) -> Vec<CellEntry> {
        let subject = self.subject_of(spec).id();
        let (load, probe) = (spec.load.to_string(), spec.probe.to_string());
        let entry = |cpu: Option<u32>| CellEntry::named(&subject, &load, &probe, spec.seed, cpu);
        match spec.probe {
            Probe::Bench(_) => vec![entry(None)],
            _ => spec.cpus.iter().map(|cpu| entry(Some(*cpu))).collect(),
        }
    }
}
