//! `worstcase explain --against`: samples of this machine against a run of the lab.

use super::error::Error;
use super::explain::ExplainArgs;
use super::output::print;
use super::progress::ProgressDisplay;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use worstcase_analysis::against::{AgainstError, Confrontation, LabReference, SLOWEST_PS, against, check};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::explain::{self, ReplayMeans, can_be_explained, worst_cell};
use worstcase_base::progress::Progress;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::qemu::Qemus;
use worstcase_plan::Arch;
use worstcase_report::breakdown::against as shown;
use worstcase_report::terminal::Style;
use worstcase_results::record::{Record, Run, RunError};
use worstcase_timing::Calibration;

/// A run of the lab, and what it has told.
pub(super) struct LabRun {
    run: Run,
    /// The slowest that an instruction is taken to be on the machine that is laid against it, in ps.
    slowest_ps: u64,
    told: Vec<(LabQuestion, LabReference)>,
}

/// What the lab's cells are chosen by: load, probe, release, preemption model.
type LabQuestion = [String; 4];

impl LabRun {
    /// Opens it.
    pub(super) fn open(dir: &Path) -> Result<LabRun, RunError> {
        Ok(LabRun {
            run: Run::open(dir)?,
            slowest_ps: SLOWEST_PS,
            told: Vec::new(),
        })
    }

    /// An error unless it has cells that a record can be laid against.
    fn check(&self, record: &Record) -> Result<(), AgainstError> {
        check(&self.run, record)
    }

    /// Lays a breakdown of a record against it.
    pub(super) fn confront(
        &mut self,
        means: &ReplayMeans,
        jobs: NonZeroUsize,
        record: &Record,
        breakdown: Breakdown,
    ) -> Result<Confrontation, AgainstError> {
        let (cell, subject) = (&record.cell, &record.subject);
        let asked = [
            &cell.load,
            &cell.probe,
            &subject.kernel.release,
            &subject.preempt.in_force,
        ]
        .map(String::clone);
        let at = match self.told.iter().position(|(known, _)| *known == asked) {
            Some(at) => at,
            None => {
                let bar = ProgressDisplay::new();
                let told = LabReference::of(means, &self.run, record, jobs, &bar);
                bar.end();
                self.told.push((asked, told?));
                self.told.len() - 1
            }
        };
        Ok(against(breakdown, record, &self.told[at].1, self.slowest_ps))
    }
}

/// Refuses, before anything is measured, what could not be laid against a run of the lab: another kernel, none of these loads, no
/// QEMU.
pub(super) fn check_before(lab: &Path, release: &str, loads: &[String]) -> Result<(), Error> {
    worstcase_analysis::against::check_before(&Run::open(lab)?, release, loads)?;
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    Qemus::new(None, &options.cache, options.progress).of(Arch::default())?;
    Ok(())
}

/// Runs the command with this run of the lab.
pub(super) fn run(args: &ExplainArgs, run: &Run, records: &[Record], lab: &Path) -> Result<ExitCode, Error> {
    let mut lab = LabRun::open(lab)?;
    if let Some(path) = &args.on_machine {
        lab.slowest_ps = (Calibration::read(path)?.slowest_rate() * 1e3).ceil() as u64;
    }
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal).map_err(LabError::from)?;
    let additions = args.replay.added.named()?;
    let means = args.replay.means(&additions, &options, None);
    let named = args.cell.as_ref().map(|id| run.record_of(id)).transpose()?;
    let jobs = args.jobs.count();
    let text = match args.all {
        true => {
            let all = all(args, &means, run, records, named.as_ref(), &mut lab)?;
            match args.json {
                true => shown::json_of_several(&all),
                false => shown::several(&all, Style::of_stdout()),
            }
        }
        false => {
            let record = match named {
                Some(record) => record,
                None => worst_cell(run, records)?.clone(),
            };
            lab.check(&record)?;
            let breakdown = explain::breakdown(&means, run, records, &record, args.sample)?;
            let told = lab.confront(&means, jobs, &record, breakdown)?;
            match args.json {
                true => shown::json(&told),
                false => shown::terminal(&told, Style::of_stdout()),
            }
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The latest samples of each cell whose load the lab's run has; an error if it has none of them.
fn all(
    args: &ExplainArgs,
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    named: Option<&Record>,
    lab: &mut LabRun,
) -> Result<Vec<Confrontation>, Error> {
    let is_asked = |record: &&Record| named.is_none_or(|named| named.id == record.id) && can_be_explained(record);
    let (mut all, mut refused) = (Vec::new(), None);
    for record in records.iter().filter(is_asked) {
        match lab.check(record) {
            Err(error @ AgainstError::OtherLoad { .. }) => {
                refused.get_or_insert(error);
                continue;
            }
            checked => checked?,
        }
        let bar = ProgressDisplay::new();
        let (each, jobs) = (args.each.get(), args.jobs.count());
        let breakdowns = explain::all(means, run, records, Some(record), each, jobs, &bar);
        bar.end();
        for breakdown in breakdowns? {
            all.push(lab.confront(means, jobs, record, breakdown)?);
        }
    }
    match refused {
        Some(error) if all.is_empty() => Err(error.into()),
        _ => {
            all.sort_by_key(|told| std::cmp::Reverse(told.breakdown.sample().latency_ns));
            Ok(all)
        }
    }
}
