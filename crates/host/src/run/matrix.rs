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
use rustix::rand::GetRandomFlags;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_base::trust;
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
            let result = one(matrix, run, &spec, &mut journal, stop, watch);
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
    journal: &mut Journal,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<(), HostError> {
    let scratch = run.scratch()?;
    let spec = HostSpec {
        work_dir: work_dir(&matrix.work_parent)?,
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

/// A name for the loads' work folder that nobody can foresee. It is made later, by the measuring process, when it stands in
/// the journal; one that is there by then is refused.
fn work_dir(parent: &Path) -> Result<PathBuf, HostError> {
    let failed = |source| HostError::Read {
        path: parent.to_path_buf(),
        source,
    };
    let parent = std::path::absolute(parent).map_err(failed)?;
    if let Some(others) = trust::others_than_root_in(&parent).map_err(failed)? {
        return Err(HostError::WorkNotOurs { path: parent, others });
    }
    let mut random = [0; 16];
    let taken = rustix::rand::getrandom(&mut random, GetRandomFlags::empty());
    if taken != Ok(random.len()) {
        return Err(failed(io::Error::other("the kernel gives no random numbers")));
    }
    Ok(parent.join(format!("worstcase-work-{:032x}", u128::from_ne_bytes(random))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_work_folder_is_never_called_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (work_dir(dir.path()).unwrap(), work_dir(dir.path()).unwrap());
        assert_ne!(one, two);
        let name = one.file_name().unwrap().to_str().unwrap();
        assert_eq!(name.len(), "worstcase-work-".len() + 32);
        assert!(!name.contains(&format!("-{}-", std::process::id())), "{name}");
    }

    #[test]
    fn root_makes_none_where_others_could_replace_it() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        for (bits, is_refused) in [(0o777, true), (0o1777, false), (0o755, false)] {
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(bits)).unwrap();
            assert_eq!(work_dir(&open).is_err(), is_refused, "{bits:o}");
        }
        std::os::unix::fs::chown(&open, Some(12_345), None).unwrap();
        let error = work_dir(&open).unwrap_err().to_string();
        assert!(
            error.contains("belongs to user 12345; choose another with --work-dir"),
            "{error}"
        );
    }
}
