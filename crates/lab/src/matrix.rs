//! Many cells, with the subjects that they run on.

use super::additions::Additions;
use super::cell::RawResult;
use super::followed::{self, FollowTelling};
use super::machine::{self, Mips};
use super::prepared::Prepared;
use super::qemu::Qemus;
use super::ready::ReadyReport;
use super::scheduler::LabScheduler;
use super::subject::LabSubject;
use super::{LabError, labels, stamps};
use std::collections::BTreeMap;
use worstcase_contract::CellSpec;
use worstcase_kernels::preempt::{ModelChoice, PreemptModel};
use worstcase_kernels::{self as kernels, Kernel, ResolveOptions, preempt};
use worstcase_plan::{PlannedCell, VirtualMachine};
use worstcase_results::record::{self, CellEntry, CellResult, LabMachine, Record, SubjectId};

/// Subjects with all their inputs, and the cells to run on them.
pub struct LabMatrix {
    pub(super) subjects: Vec<Prepared>,
    pub(super) cells: Vec<MatrixCell>,
    /// How a program that is followed is told of; nothing is told without it.
    pub telling: Option<FollowTelling>,
}

/// One cell of a matrix.
pub struct MatrixCell {
    pub(super) subject: usize,
    /// The cell.
    pub spec: CellSpec,
    /// Its entry in the plan.
    pub entry: CellEntry,
}

impl LabMatrix {
    /// Finds the kernels, checks that they can boot the requested models, and builds the images.
    pub fn prepare(
        planned: &[PlannedCell],
        additions: &Additions,
        qemus: &Qemus,
        options: &ResolveOptions<'_>,
    ) -> Result<LabMatrix, LabError> {
        let mut found: BTreeMap<&str, Kernel> = BTreeMap::new();
        for cell in planned {
            if !found.contains_key(cell.kernel.as_str()) {
                found.insert(&cell.kernel, kernels::resolve(&cell.kernel, options)?);
            }
        }
        labels::make_unique(found.values_mut());
        let mut indices: BTreeMap<(&str, &str, &VirtualMachine), usize> = BTreeMap::new();
        let mut matrix = LabMatrix {
            subjects: Vec::new(),
            cells: Vec::new(),
            telling: None,
        };
        for cell in planned {
            let key = (cell.kernel.as_str(), cell.preempt.as_str(), &cell.machine);
            let subject = match indices.get(&key) {
                Some(index) => *index,
                None => {
                    let subject = subject(&found[key.0], cell, additions)?;
                    matrix.subjects.push(Prepared::of(subject, qemus)?);
                    indices.insert(key, matrix.subjects.len() - 1);
                    matrix.subjects.len() - 1
                }
            };
            let entry = CellEntry::new(&subject_id(&matrix.subjects[subject].subject), &cell.spec);
            matrix.cells.push(MatrixCell {
                subject,
                spec: cell.spec.clone(),
                entry,
            });
        }
        Ok(matrix)
    }

    /// The cells, in order.
    pub fn cells(&self) -> &[MatrixCell] {
        &self.cells
    }

    /// The subjects, each once.
    pub fn subjects(&self) -> &[Prepared] {
        &self.subjects
    }

    /// The subject of a cell.
    pub fn subject(&self, cell: &MatrixCell) -> &Prepared {
        &self.subjects[cell.subject]
    }
}

fn subject(kernel: &Kernel, cell: &PlannedCell, additions: &Additions) -> Result<LabSubject, LabError> {
    additions.fit(kernel)?;
    let mips: Mips = cell.machine.mips.to_string().parse()?;
    let disk = cell.machine.disk.as_ref().map(|disk| {
        let profile = disk.profile().map_err(|e| LabError::Request(e.to_string()))?;
        Ok::<String, LabError>(profile.encode())
    });
    Ok(LabSubject {
        kernel: kernel.clone(),
        preempt: preempt::choose(kernel, cell.preempt.parse()?)?,
        machine: cell.machine.clone(),
        mips,
        disk: disk.transpose()?,
        scheduler: match &cell.machine.scheduler {
            Some(asked) => LabScheduler::of(asked, &kernel.label, cell.machine.arch())?,
            None => None,
        },
        additions: additions.clone(),
    })
}

fn subject_id(subject: &LabSubject) -> SubjectId {
    SubjectId::lab(&subject.kernel.label, subject.preempt.model.name(), &subject.machine)
}

/// The cell of a record, as an experiment would ask for it.
pub fn planned(record: &Record) -> Result<PlannedCell, LabError> {
    let record::SubjectMachine::Lab(machine) = &record.subject.machine else {
        return Err(LabError::Request(format!(
            "{} was not measured in the lab: it cannot be replayed",
            record.id
        )));
    };
    let preempt = &record.subject.preempt;
    Ok(PlannedCell {
        kernel: record.subject.kernel.name.clone(),
        preempt: preempt.asked.clone().unwrap_or_else(|| preempt.in_force.clone()),
        machine: machine.machine.clone(),
        spec: record
            .spec()
            .map_err(|e| LabError::Request(format!("{}: {e}", record.id)))?,
    })
}

/// A kernel's version does not tell `none` from `voluntary`, nor everywhere `lazy` from `full`; its configuration does, where that
/// leaves no choice.
fn in_force(of: &PreemptModel, said: String) -> String {
    match of.chosen {
        ModelChoice::Fixed if !said.starts_with(of.model.name()) => of.model.to_string(),
        _ => said,
    }
}

/// Makes the record that is kept from a cell's result.
///
/// `ready` is the report of the subject's machine; `telling` is for the probe that is a program.
pub fn result(
    prepared: &Prepared,
    ready: &ReadyReport,
    raw: &RawResult,
    telling: Option<&FollowTelling>,
) -> Result<CellResult, LabError> {
    let subject = &prepared.subject;
    let label = subject.label();
    let cpus = subject.machine.smp.cpus;
    let stamps = stamps::join(raw, subject.mips, cpus).map_err(|e| LabError::Stamps(label.clone(), e))?;
    let said = |key: &str| ready.said.get(key).cloned().unwrap_or_default();
    let described = record::Subject {
        kernel: record::SubjectKernel {
            name: subject.kernel.name.clone(),
            label: subject.kernel.label.clone(),
            release: said("release"),
            version: said("version"),
            digest: subject.kernel.digest.clone(),
        },
        preempt: record::Preempt {
            asked: Some(subject.preempt.model.to_string()),
            in_force: in_force(&subject.preempt, said("preempt")),
        },
        machine: record::SubjectMachine::Lab(Box::new(LabMachine {
            qemu: prepared.qemu.version.clone(),
            machine: subject.machine.clone(),
            qemu_cpu: machine::qemu_cpu(&subject.machine),
            command_line: prepared.command_line.clone(),
            modules: subject.modules(),
            key: prepared.key.clone(),
        })),
    };
    let mut result = match &raw.record.trace {
        Some(trace) => followed::result(prepared, described, raw, trace, stamps.instructions, telling)
            .map_err(|why| LabError::Followed(label, why))?,
        None => CellResult::new(described, &raw.record, &stamps.samples, Some(stamps.instructions))
            .map_err(|e| LabError::Stamps(label, e.to_string()))?,
    };
    result.record.scheduler = subject.scheduler.as_ref().map(|scheduler| record::LoadedScheduler {
        name: said("scheduler"),
        digest: scheduler.digest.clone(),
        counters: raw.record.counters.clone(),
    });
    result.record.console.splice(..0, raw.console.iter().cloned());
    result.record.environment.insert("random".into(), said("random"));
    let understands = |word: &&str| !said("not_understood").split(' ').any(|other| other == *word);
    let strange = subject.machine.append.words().filter(|word| !understands(word));
    let warning = |word| format!("the kernel does not know the boot parameter '{word}'");
    result.record.warnings.extend(strange.map(warning));
    Ok(result)
}
