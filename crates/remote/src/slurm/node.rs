//! What a task of the array does, on a node.

use super::job::{CellFailure, JobFolder, JobPlan};
use crate::RemoteError;
use std::path::Path;
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::progress::Progress;
use worstcase_base::{files, machine};
use worstcase_lab::LabError;
use worstcase_lab::parcel;
use worstcase_lab::prepared::Prepared;
use worstcase_lab::qemu::Qemu;

/// Measures the cells of a task. Reports the first failure to the controller, and then ends.
pub fn run(folder: &Path, task: usize, cache: &Cache, progress: &dyn Progress) -> Result<(), RemoteError> {
    let plan = JobFolder::plan(folder)?;
    let cells = plan.tasks.get(task).cloned().ok_or_else(|| RemoteError::File {
        path: folder.to_path_buf(),
        reason: format!("its plan has no task {task}"),
    })?;
    let mut opened: Option<(usize, Prepared)> = None;
    for cell in &plan.cells[cells] {
        let measured = (|| {
            if opened.as_ref().is_none_or(|(subject, _)| *subject != cell.subject) {
                opened = Some((cell.subject, open(folder, &plan, cell.subject, cache, progress)?));
            }
            let (_, prepared) = opened.as_ref().expect("opened above");
            let spec = cell
                .spec
                .parse()
                .map_err(|e| LabError::Request(format!("{}: {e}", cell.spec)))?;
            let limit = plan.limit_s.map(Duration::from_secs);
            Ok::<_, RemoteError>(parcel::measure(cache, prepared, &spec, limit)?)
        })();
        match measured {
            Ok(key) => JobFolder::tell_done(folder, task, &key),
            Err(error) => {
                let failure = CellFailure {
                    machine: machine::name(),
                    message: error.to_string(),
                    exit: error.exit() as u8,
                };
                JobFolder::tell_failure(folder, &cell.key, &failure)?;
                return Err(error);
            }
        }
    }
    Ok(())
}

fn open(
    folder: &Path,
    plan: &JobPlan,
    subject: usize,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<Prepared, RemoteError> {
    let subject = &plan.subjects[subject];
    let qemu = Qemu::find(plan.qemu.as_deref(), subject.parcel.arch(), cache, progress)?;
    let image = folder.join(format!("{}.initrd", subject.parcel.key));
    let initrd = files::read(&image).map_err(RemoteError::io(&image))?;
    Ok(subject.parcel.open(folder.join(&subject.bzimage), initrd, &qemu)?)
}
