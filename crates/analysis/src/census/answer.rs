//! From what is asked of a run to what its censuses say.

use super::CensusError;
use super::cell_census::CellCensus;
use super::choice::{Asked, Chosen, Share, chosen};
use super::diff::{Difference, diff};
use super::ensemble::{Ensemble, ensembles};
use super::findings::{Findings, findings};
use super::take::{How, take};
use super::top::TopList;
use std::num::NonZeroUsize;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_contract::census::Kind;
use worstcase_results::record::{Run, parallel};

/// What censuses say.
#[derive(Clone, Debug)]
pub enum Answer {
    /// One cell in detail.
    Cell(Box<Findings>),
    /// Two cells, and what changes from the first to the second.
    Difference(Box<[Findings; 2]>, Vec<Difference>),
    /// Every subject, load and probe over its seeds.
    Run(Vec<Ensemble>),
}

/// Takes the censuses, so many at once; `kept` places and owners of each.
pub fn answer(
    run: &Run,
    asked: Asked,
    how: &How,
    jobs: NonZeroUsize,
    kept: usize,
    progress: &dyn Progress,
) -> Result<Answer, CensusError> {
    let cells = chosen(run, asked, how.additions)?;
    // A difference is looked for among all that were replayed, not only those that are shown.
    let kept = match asked {
        Asked::Difference(..) => usize::MAX,
        _ => kept,
    };
    let cells = all(&cells, how, jobs, kept, progress)?;
    let cells = match (<[Findings; 2]>::try_from(cells), asked) {
        (Ok(two), Asked::Difference(..)) => {
            let lists = two.each_ref().map(|cell| &cell.of(Kind::NonPreemptible).longest);
            let differences = diff(lists[0], lists[1]);
            return Ok(Answer::Difference(Box::new(two), differences));
        }
        (Ok(two), _) => Vec::from(two),
        (Err(cells), _) => cells,
    };
    Ok(match <[Findings; 1]>::try_from(cells) {
        Ok([cell]) => Answer::Cell(Box::new(cell)),
        Err(cells) => Answer::Run(ensembles(&cells)),
    })
}

/// The seeds of every subject, load and probe of a run together.
pub fn of_run(
    run: &Run,
    how: &How,
    jobs: NonZeroUsize,
    kept: usize,
    progress: &dyn Progress,
) -> Result<Vec<Ensemble>, CensusError> {
    let cells = chosen(run, Asked::Run, how.additions)?;
    Ok(ensembles(&all(&cells, how, jobs, kept, progress)?))
}

/// Takes the censuses of a share of the run's cells into the cache, where [`of_run`] finds them.
pub fn of_share(
    run: &Run,
    share: Share,
    how: &How,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<(), CensusError> {
    let cells = share.of(chosen(run, Asked::Run, how.additions)?);
    each(&cells, how, false, jobs, progress, |_, _, _| Ok(()))?;
    Ok(())
}

/// The census of every cell; one alone in detail.
fn all(
    cells: &[Chosen],
    how: &How,
    jobs: NonZeroUsize,
    kept: usize,
    progress: &dyn Progress,
) -> Result<Vec<Findings>, CensusError> {
    each(cells, how, cells.len() == 1, jobs, progress, |cell, taken, longest| {
        findings(&taken, longest, kept).map_err(|source| CensusError::Contradiction {
            cell: cell.record.id.clone(),
            source,
        })
    })
}

/// Takes the census of every cell, so many at once, and gives what `tell` makes of each.
fn each<T: Send>(
    cells: &[Chosen],
    how: &How,
    in_detail: bool,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
    tell: impl Fn(&Chosen, CellCensus, Vec<TopList>) -> Result<T, CensusError> + Sync,
) -> Result<Vec<T>, CensusError> {
    check(cells, how)?;
    progress.begin(&CountedWork::cells(cells.len()));
    parallel(jobs, cells, |cell| {
        let (taken, longest) = take(cell, how, in_detail)?;
        let told = tell(cell, taken, longest)?;
        progress.done(&format!("replayed {}", cell.record.id));
        Ok(told)
    })
}

/// Refuses cells that have no census.
fn check(cells: &[Chosen], how: &How) -> Result<(), CensusError> {
    if let Some(Chosen { record, .. }) = cells.iter().find(|c| !c.record.awaits_timer()) {
        return Err(CensusError::NoTimer {
            cell: record.id.clone(),
        });
    }
    for Chosen { record, .. } in cells {
        let cell = record.id.clone();
        let machine = record.subject.virtual_machine();
        if machine.is_some_and(|machine| machine.policy.is_ordinary()) {
            return Err(CensusError::Ordinary { cell });
        }
        let last = machine.map_or(0, |machine| machine.smp.cpus - 1);
        if let Some(cpu) = how.cpu.filter(|cpu| *cpu > last) {
            return Err(CensusError::NoCpu { cell, cpu, last });
        }
    }
    Ok(())
}
