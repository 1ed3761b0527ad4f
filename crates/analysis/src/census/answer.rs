//! From a question about a run to the answer of its censuses.

use super::CensusTakeError;
use super::cell_census::CellCensus;
use super::choice::{CensusQuestion, ChosenCell, WorkShare, chosen};
use super::diff::{SectionDifference, diff};
use super::ensemble::{CensusEnsemble, ensembles};
use super::findings::{Findings, findings};
use super::take::{CensusMeans, take};
use super::top::TopList;
use std::num::NonZeroUsize;
use worstcase_base::cache::Cache;
use worstcase_base::format::{counted, span};
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;
use worstcase_lab::speed::{LabSpeed, TimedWork};
use worstcase_plan::{Arch, VirtualMachine};
use worstcase_results::record::{Run, parallel};

/// The answer of censuses.
#[derive(Clone, Debug)]
pub enum CensusAnswer {
    /// One cell in detail.
    Cell(Box<Findings>),
    /// Two cells, and the changes from the first to the second.
    Difference(Box<[Findings; 2]>, Vec<SectionDifference>),
    /// Every subject, load and probe over its seeds.
    Run(Vec<CensusEnsemble>),
}

/// Takes the censuses, so many at once; `kept` places and owners of each.
pub fn answer(
    run: &Run,
    asked: CensusQuestion,
    how: &CensusMeans,
    jobs: NonZeroUsize,
    kept: usize,
    progress: &dyn Progress,
) -> Result<CensusAnswer, CensusTakeError> {
    let cells = chosen(run, asked, how.additions)?;
    // Looks for a difference among all replayed sections, not only those that are shown.
    let kept = match asked {
        CensusQuestion::Difference(..) => usize::MAX,
        _ => kept,
    };
    let cells = all(&cells, how, jobs, kept, progress)?;
    let cells = match (<[Findings; 2]>::try_from(cells), asked) {
        (Ok(two), CensusQuestion::Difference(..)) => {
            let lists = two.each_ref().map(|cell| &cell.of_kind(Kind::NonPreemptible).longest);
            let differences = diff(lists[0], lists[1]);
            return Ok(CensusAnswer::Difference(Box::new(two), differences));
        }
        (Ok(two), _) => Vec::from(two),
        (Err(cells), _) => cells,
    };
    Ok(match <[Findings; 1]>::try_from(cells) {
        Ok([cell]) => CensusAnswer::Cell(Box::new(cell)),
        Err(cells) => CensusAnswer::Run(ensembles(&cells)),
    })
}

/// The seeds of every subject, load and probe of a run together.
pub fn of_run(
    run: &Run,
    how: &CensusMeans,
    jobs: NonZeroUsize,
    kept: usize,
    progress: &dyn Progress,
) -> Result<Vec<CensusEnsemble>, CensusTakeError> {
    let cells = chosen(run, CensusQuestion::Run, how.additions)?;
    Ok(ensembles(&all(&cells, how, jobs, kept, progress)?))
}

/// Takes the censuses of a share of the run's cells into the cache, where [`of_run`] finds them.
pub fn of_share(
    run: &Run,
    share: WorkShare,
    how: &CensusMeans,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<(), CensusTakeError> {
    let cells = share.select(chosen(run, CensusQuestion::Run, how.additions)?);
    each(&cells, how, false, jobs, progress, |_, _, _| Ok(()))?;
    Ok(())
}

/// The census of every cell; one alone in detail.
fn all(
    cells: &[ChosenCell],
    how: &CensusMeans,
    jobs: NonZeroUsize,
    kept: usize,
    progress: &dyn Progress,
) -> Result<Vec<Findings>, CensusTakeError> {
    each(cells, how, cells.len() == 1, jobs, progress, |cell, taken, longest| {
        findings(&taken, longest, kept).map_err(|source| CensusTakeError::Contradiction {
            cell: cell.record.id.clone(),
            source,
        })
    })
}

/// Takes the census of every cell, so many at once, and gives the results of `tell` for each.
pub(crate) fn each<T: Send>(
    cells: &[ChosenCell],
    how: &CensusMeans,
    in_detail: bool,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
    tell: impl Fn(&ChosenCell, CellCensus, Vec<TopList>) -> Result<T, CensusTakeError> + Sync,
) -> Result<Vec<T>, CensusTakeError> {
    check(cells, how)?;
    progress.ahead(&ahead(cells, &how.options.cache, jobs));
    progress.begin(&CountedWork::cells(cells.len()));
    parallel(jobs, cells, |cell| {
        let (taken, longest) = take(cell, how, in_detail)?;
        let told = tell(cell, taken, longest)?;
        progress.done(&format!("replayed {}", cell.record.id));
        Ok(told)
    })
}

/// How long replays take, if the cache has none of them.
fn ahead(cells: &[ChosenCell], cache: &Cache, jobs: NonZeroUsize) -> String {
    let speed = LabSpeed::of(cache);
    let length = |cell: &ChosenCell| Nanos(cell.record.cell.period_ns * u64::from(cell.record.cell.periods));
    let each = cells.iter().map(|cell| speed.seconds(TimedWork::Census, length(cell)));
    let seconds = each.sum::<f64>() / jobs.get().min(cells.len().max(1)) as f64;
    let count = counted(cells.len() as u64, "cell");
    format!(
        "{count} to replay, but those that the cache has: at most about {}",
        span(seconds)
    )
}

/// Refuses cells that have no census, or whose QEMU is not there.
fn check(cells: &[ChosenCell], how: &CensusMeans) -> Result<(), CensusTakeError> {
    let has_none = |chosen: &&ChosenCell| !chosen.record.awaits_timer() && chosen.record.followed.is_none();
    if let Some(ChosenCell { record, .. }) = cells.iter().find(has_none) {
        let cell = record.id.clone();
        return Err(CensusTakeError::NoTimer { cell });
    }
    for ChosenCell { record, .. } in cells {
        let cell = record.id.clone();
        let machine = record.subject.virtual_machine();
        if machine.is_some_and(|machine| machine.policy.is_some_and(|policy| policy.is_ordinary())) {
            return Err(CensusTakeError::Ordinary { cell });
        }
        let last = machine.map_or(0, |machine| machine.smp.cpus - 1);
        if let Some(cpu) = how.cpu.filter(|cpu| *cpu > last) {
            return Err(CensusTakeError::NoCpu { cell, cpu, last });
        }
        let arch = machine.map_or(Arch::default(), VirtualMachine::arch);
        how.qemus.of(arch)?;
    }
    Ok(())
}
