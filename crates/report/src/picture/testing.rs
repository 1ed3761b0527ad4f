//! Records for the tests of pictures, without a machine.

use std::collections::BTreeMap;
use worstcase_contract::Probe;
use worstcase_contract::RawRecord;
use worstcase_contract::record::{Sample, SelfCost};
use worstcase_contract::{CellSpec, Nanos};
use worstcase_plan::{StudyVariant, Venue, VirtualMachine, study};
use worstcase_results::record::{
    CellEntry, CellResult, LabMachine, Preempt, Record, RunPlan, Subject, SubjectKernel, SubjectMachine,
};

/// A subject of the lab.
pub fn subject(label: &str, preempt: &str) -> Subject {
    Subject {
        kernel: SubjectKernel {
            name: "debian".into(),
            label: label.into(),
            release: label.into(),
            version: "#1".into(),
            digest: "sha256:00".into(),
        },
        preempt: Preempt {
            asked: Some(preempt.into()),
            in_force: preempt.into(),
        },
        machine: SubjectMachine::Lab(Box::new(LabMachine {
            qemu: "7.2".into(),
            machine: VirtualMachine::default(),
            qemu_cpu: "max".into(),
            command_line: String::new(),
            modules: Vec::new(),
            key: "0".repeat(64),
        })),
    }
}

/// A cell whose period `index` was `ns` late; all others of `periods` were missed.
pub fn cell(subject: Subject, load: &str, seed: u64, periods: u32, samples: &[(u32, u64)]) -> CellResult {
    let spec = CellSpec {
        probe: Probe::Wakeup,
        load: load.into(),
        period: Nanos(1_000_000),
        periods,
        seed,
        warmup: Nanos(0),
        priority: 90,
    };
    let raw = RawRecord {
        spec: spec.to_text().unwrap(),
        start: Nanos(5_000_000_000),
        expected: periods,
        samples: samples
            .iter()
            .map(|(index, ns)| Sample {
                index: *index,
                latency: Nanos(*ns),
            })
            .collect(),
        self_cost: SelfCost {
            clock_read: Nanos(1),
            empty_sample: Nanos(1),
            cpu_time: Nanos(1),
            minor_faults: 0,
            major_faults: 0,
        },
        work: vec![],
        warnings: vec![],
        environment: BTreeMap::new(),
        details: None,
        counters: BTreeMap::new(),
        trace: None,
    };
    CellResult::new(subject, &raw, &[], None).unwrap()
}

/// A plan of exactly these.
pub fn plan<'a>(records: impl Iterator<Item = &'a Record>) -> RunPlan {
    let entry = |r: &Record| CellEntry::named(&r.subject.id(), &r.cell.load, &r.cell.probe, r.cell.seed, r.cell.cpu);
    let asked = study::plan("preemption-models", Venue::Lab, StudyVariant::Quick).expect("a study of ours");
    let mut plan = RunPlan::new(asked, records.map(entry).collect());
    plan.experiment.criterion = None;
    plan.claims.clear();
    plan
}

/// Turns a record into one of this probe, with these details.
pub(crate) fn of_bench(mut record: Record, probe: &str, details: worstcase_contract::bench::Details) -> Record {
    record.cell.probe = probe.into();
    record.details = Some(details);
    record
}
