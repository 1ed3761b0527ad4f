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
    /// The measurements; their folders are filled in when each begins.
    pub specs: Vec<HostSpec>,
    /// What to know of it before it begins, in lines.
    pub notes: Vec<String>,
    /// Where the loads make their files: a folder in this one.
    pub work_parent: PathBuf,
    /// Where it is measured, and how this machine was set before.
    pub origin: RecordOrigin,
    /// What the doctor found for the CPUs that are measured.
    pub findings: Vec<Finding>,
    /// Which of the findings' remedies are set for the length of the run.
    pub apply: Apply,
    /// Priorities of the kernel's threads for the length of the run.
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

    /// This machine as a measurement has it.
    pub fn subject_of(&self, spec: &HostSpec) -> Subject {
        let mut subject = self.subject.clone();
        if let SubjectMachine::Host(host) = &mut subject.machine {
            host.io_scheduler = spec.io_scheduler.as_ref().map(ToString::to_string);
        }
        subject
    }

    /// A measurement's cells: one a CPU, or one alone.
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
