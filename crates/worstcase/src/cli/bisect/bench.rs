//! Measures the kernels of a bisection, and reports the result.

use super::again;
use super::args::BisectArgs;
use super::differences::differences;
use super::kernels::CandidateArgs;
use super::narrower::narrower;
use crate::cli::error::Error;
use crate::cli::lab::{self, run_cells};
use crate::cli::output::print;
use crate::cli::worsening::{breakdown, worsening};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_analysis::explain::ReplayMeans;
use worstcase_base::format::file_name;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::{BisectionEnding, BisectionStep, CandidateOutcome};
use worstcase_bisect::criterion::KernelCriterion;
use worstcase_bisect::figures;
use worstcase_bisect::search::SoughtChange;
use worstcase_kernels::{KernelError, ResolveOptions};
use worstcase_lab::LabError;
use worstcase_lab::additions::Additions;
use worstcase_lab::qemu::Qemus;
use worstcase_plan::{Arch, ExperimentPlan};
use worstcase_report::bisect::{OwnProgram, ShownBisection, ToldLoad, mail, markdown};
use worstcase_results::compare::{Side, compare};

/// The equipment that measures a kernel.
pub(super) struct KernelBench<'a> {
    pub(super) args: &'a BisectArgs,
    pub(super) criterion: KernelCriterion,
    pub(super) qemus: &'a Qemus<'a>,
    pub(super) arch: Arch,
    pub(super) options: &'a ResolveOptions<'a>,
    pub(super) stop: Arc<AtomicBool>,
}

impl KernelBench<'_> {
    /// Measures a candidate, if a kernel can be made of it.
    pub(super) fn candidate(
        &self,
        kernels: &CandidateArgs,
        candidate: &str,
        output: &Path,
    ) -> Result<CandidateOutcome, Error> {
        let built = kernels.name(candidate, self.options.progress);
        if self.stop.load(Ordering::Relaxed) {
            return Err(BisectError::Stopped.into());
        }
        match built? {
            Ok(kernel) => self.measure(&kernel, &run_folder(output, candidate)),
            Err(why) => Ok(CandidateOutcome::Cannot(why)),
        }
    }

    /// Measures a kernel into a run's folder.
    pub(super) fn measure(&self, kernel: &str, folder: &Path) -> Result<CandidateOutcome, Error> {
        let experiment = self.args.selection.experiment(&[kernel.to_string()], None)?;
        let additions = Additions::of(&experiment)?;
        let means = lab::MatrixMeans {
            executor: &self.args.executor.executor,
            jobs: self.args.jobs.count(),
            qemus: self.qemus,
            named: self.args.qemu.path(),
            limit: self.args.qemu.limit(),
            options: self.options,
            stop: &self.stop,
        };
        let plan = ExperimentPlan::new("lab run", experiment);
        match run_cells(plan, folder, &additions, &means) {
            Ok((_, outcome)) if outcome.measured < outcome.of => Err(BisectError::Stopped.into()),
            Ok((run, _)) => Ok(match figures::of_run(&run, self.criterion.measure())? {
                Ok(figures) => CandidateOutcome::Measured(figures),
                Err(why) => CandidateOutcome::Cannot(why),
            }),
            Err(error) => match is_of_the_kernel(&error) {
                true => {
                    let said = error.to_string();
                    Ok(CandidateOutcome::Cannot(
                        said.lines().next().unwrap_or_default().to_string(),
                    ))
                }
                false => Err(error),
            },
        }
    }

    /// The newer end without the commit; or why it cannot be had.
    pub(super) fn reverted(
        &self,
        kernels: &CandidateArgs,
        newer: &str,
        ending: &BisectionEnding,
        output: &Path,
    ) -> Result<Result<BisectionStep, String>, Error> {
        let commit = &ending.first.candidate;
        let progress = self.options.progress;
        progress.line(&format!("reverting {} at the newer end", kernels.shown(commit)));
        let kernel = match kernels.reverted(newer, commit)? {
            Ok(kernel) => kernel,
            Err(why) => return Ok(Err(why)),
        };
        let name = format!("revert-{}", kernels.shown(commit));
        Ok(match self.measure(&kernel, &run_folder(output, &name))? {
            CandidateOutcome::Cannot(why) => Err(why),
            CandidateOutcome::Measured(figures) => Ok(BisectionStep {
                candidate: name,
                word: ending.before.word,
                why: None,
                figures,
            }),
        })
    }

    /// Prints the result, and writes it as a report, and a worsening as a mail.
    pub(super) fn tell(
        &self,
        kernels: &CandidateArgs,
        ending: &BisectionEnding,
        reverted: Option<&Result<BisectionStep, String>>,
        loads: &[ToldLoad],
        ends: [&str; 2],
        output: &Path,
    ) -> Result<ExitCode, Error> {
        let folders = [&ending.before, &ending.first].map(|step| run_folder(output, &step.candidate));
        let why = match self.why(&folders, ending.sought) {
            Ok(why) => why,
            Err(error) => {
                self.options.progress.note(&format!("no breakdown: {error}"));
                None
            }
        };
        let commit = kernels.commit(&ending.first.candidate)?;
        let names = [&ending.first, &ending.before].map(|step| kernels.shown(&step.candidate));
        let first = commit.as_ref().map_or(names[0].clone(), |commit| commit.cited());
        let experiment = self.args.selection.experiment(&["KERNEL".into()], None)?;
        let commands = again::commands(&folders, &experiment.added)?;
        let narrower = match kernels.is_of_every_series() {
            true => narrower(ending, &again::typed(), output, self.options).ok(),
            false => None,
        };
        let differences = match commit {
            Some(_) => Vec::new(),
            None => differences([&ending.before, &ending.first], self.options),
        };
        let found = ShownBisection {
            ending,
            criterion: self.criterion,
            ends,
            commit: commit.as_ref(),
            names: [&first, &names[1]],
            measured_with: &self.qemus.of(self.arch)?.version,
            loads,
            differences: &differences,
            narrower: narrower.as_deref(),
            breakdown: why.as_deref(),
            reverted,
            commands: &commands,
        };
        let write = |file: &str, text: String| {
            let path = output.join(file);
            worstcase_base::output::write(&path, text.as_bytes()).map_err(BisectError::io(&path))
        };
        write("bisect.md", markdown(&found))?;
        let mail = mail(&found);
        let is_mailed = mail.is_some();
        mail.map_or(Ok(()), |text| write("bisect.mail", text))?;
        print(&found.terminal())?;
        let folder = output.display();
        print(&match is_mailed {
            true => format!("\n{folder}/bisect.md and {folder}/bisect.mail have it all\n"),
            false => {
                format!("\n{folder}/bisect.md has it all; a mail for the list of regressions is of a worsening alone\n")
            }
        })?;
        for OwnProgram { path, .. } in loads.iter().filter_map(ToldLoad::lacks_source).filter(|_| is_mailed) {
            let text =
                format!("the mail lacks the source of {path}: attach it, or give this command with --load-source FILE");
            self.options.progress.note(&text);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The causes of the worst sample before and after; nothing if no cell changed in the direction that was searched.
    fn why(&self, [before, after]: &[PathBuf; 2], sought: SoughtChange) -> Result<Option<String>, Error> {
        let (better, worse) = match sought {
            SoughtChange::Worse => (before, after),
            SoughtChange::Better => (after, before),
        };
        let (a, b) = (Side::open(better)?, Side::open(worse)?);
        let comparison = compare(&a, &b, &[], false)?;
        let Some(worst) = worsening(&comparison) else {
            return Ok(None);
        };
        let additions = Additions::default();
        let means = ReplayMeans {
            qemu: self.args.qemu.path(),
            additions: &additions,
            debug_info: None,
            options: self.options,
        };
        let mut told = breakdown(&means, better, worse, worst)?;
        if sought == SoughtChange::Better {
            told.reverse();
        }
        Ok(Some(worstcase_report::breakdown::compare::terminal(&told[0], &told[1])))
    }
}

fn run_folder(output: &Path, candidate: &str) -> PathBuf {
    output
        .join("runs")
        .join(file_name(candidate.rsplit('/').next().unwrap_or(candidate)))
}

/// Whether an error is the kernel's, so that another kernel may do better: it does not boot, is none, or cannot be had.
pub(super) fn is_of_the_kernel(error: &Error) -> bool {
    match error {
        Error::Kernel(e) | Error::Lab(LabError::Kernel(e)) => {
            e.is_listed_in_vain()
                || matches!(
                    e,
                    KernelError::NotAKernel { .. }
                        | KernelError::BadPackage { .. }
                        | KernelError::Lacks { .. }
                        | KernelError::ModelNotInKernel { .. }
                )
        }
        Error::Lab(e) => matches!(
            e,
            LabError::Guest { .. }
                | LabError::NoResult { .. }
                | LabError::TimeLimit(_)
                | LabError::StandsStill(..)
                | LabError::Endless(_)
                | LabError::OtherPreempt { .. }
        ),
        Error::Remote(e) => e.is_of_the_cell(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_the_archive_does_not_give_is_skipped_and_a_lost_network_is_not() {
        let (what, why) = (String::new(), String::new());
        assert!(is_of_the_kernel(&KernelError::AptFailed { what, why }.into()));
        let (what, why) = (String::new(), String::new());
        assert!(!is_of_the_kernel(&KernelError::NoNetwork { what, why }.into()));
    }
}
