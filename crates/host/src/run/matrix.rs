//! Every load, probe and seed in turn; each measurement gives a cell for each of its CPUs.

use super::keep::keep;
use super::measurement::{Watch, measure};
use super::timerlat;
use crate::HostSpec;
use crate::doctor::{Finding, apply};
use crate::facts::Tree;
use crate::journal::failures;
use crate::loads::cgroup;
use crate::{HostError, Journal, StateFolder};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_probe::Probe;
use worstcase_results::record::{CellEntry, Run, Subject};

/// What is going to be measured.
#[derive(Debug)]
pub struct Matrix {
    /// This machine.
    pub subject: Subject,
    /// The measurements; their folders are filled in when each begins.
    pub specs: Vec<HostSpec>,
    /// Where the loads make their files: a folder in this one.
    pub work_parent: PathBuf,
    /// Findings whose remedies are set for the length of the run.
    pub apply: Option<Vec<Finding>>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Measurements that were taken, now or before.
    pub measured: usize,
    /// All of them.
    pub of: usize,
}

impl Matrix {
    /// The cells, in order.
    pub fn cells(&self) -> Vec<CellEntry> {
        self.specs.iter().flat_map(|spec| self.cells_of(spec)).collect()
    }

    /// A measurement's cells: one a CPU, or one alone.
    fn cells_of(&self, spec: &HostSpec) -> Vec<CellEntry> {
        let subject = self.subject.id();
        let (load, probe) = (spec.load.to_string(), spec.probe.to_string());
        let entry = |cpu: Option<u32>| CellEntry::named(&subject, &load, &probe, spec.seed, cpu);
        match spec.probe {
            Probe::Bench(_) => vec![entry(None)],
            _ => spec.cpus.iter().map(|cpu| entry(Some(*cpu))).collect(),
        }
    }

    fn is_measured(&self, run: &Run, spec: &HostSpec) -> bool {
        self.cells_of(spec).iter().all(|cell| run.has_cell(&cell.id))
    }
}

/// Measures what the run does not have yet. `stop` ends the measurement that runs, which is kept, and begins no further one.
pub fn run(
    matrix: &Matrix,
    run: &Run,
    state: &StateFolder,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Outcome, HostError> {
    let mut journal = Journal::begin(state, "worstcase host run")?;
    journal.start_guard()?;
    let applied = matrix
        .apply
        .as_ref()
        .map(|findings| apply(findings, &Tree::at("/".as_ref()), &mut journal));
    for outcome in applied.iter().flat_map(|a| &a.outcomes) {
        watch.note(&outcome.line());
    }
    let timerlat = matrix.specs.iter().find(|spec| spec.probe == Probe::Timerlat);
    let tracing = timerlat.map(|spec| timerlat::prepare(spec, &mut journal)).transpose()?;
    let mut measured = 0;
    for (nth, spec) in matrix.specs.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if !matrix.is_measured(run, spec) {
            watch.begin(nth + 1, matrix.specs.len(), spec);
            let spec = HostSpec {
                tracing: tracing.clone().filter(|_| spec.probe == Probe::Timerlat),
                ..spec.clone()
            };
            let result = one(matrix, run, &spec, nth, &mut journal, stop, watch);
            watch.end();
            result?;
        }
        measured += usize::from(matrix.is_measured(run, spec));
    }
    drop(applied);
    let undone = journal.finish()?;
    match failures(&undone) {
        0 => Ok(Outcome {
            measured,
            of: matrix.specs.len(),
        }),
        count => Err(HostError::NotRestored { count }),
    }
}

fn one(
    matrix: &Matrix,
    run: &Run,
    spec: &HostSpec,
    nth: usize,
    journal: &mut Journal,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<(), HostError> {
    let scratch = run.scratch()?;
    let work_dir = matrix
        .work_parent
        .join(format!("worstcase-work-{}-{nth}", std::process::id()));
    let spec = HostSpec {
        work_dir,
        cgroup: cgroup::propose(std::process::id() as i32),
        samples_dir: scratch.path().to_path_buf(),
        ..spec.clone()
    };
    let done = measure(&spec, journal, stop, watch)?;
    if let (Probe::Bench(bench), Some(taken)) = (spec.probe, &done.bench) {
        return super::bench::keep(run, &matrix.subject, &spec, bench, &done, taken);
    }
    for cpu in &done.cpus {
        keep(run, scratch.path(), &matrix.subject, &spec, &done, cpu)?;
    }
    Ok(())
}
