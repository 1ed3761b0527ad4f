//! The lab's cells that a record of this machine is laid against, and what they tell.

use super::paths::LabPaths;
use super::place::base;
use super::{Confrontation, HostSide, LabSide};
use crate::breakdown::Breakdown;
use crate::census::findings::findings;
use crate::census::take::CensusMeans;
use crate::census::{CensusTakeError, chosen_of_run, each};
use crate::explain::{self, ExplainError, ReplayMeans};
use std::num::NonZeroUsize;
use worstcase_base::progress::Progress;
use worstcase_contract::Nanos;
use worstcase_contract::loads::LoadSpec;
use worstcase_kernels::version::series;
use worstcase_lab::qemu::Qemus;
use worstcase_results::record::{Quantity, Record, Run, RunError, SubjectMachine, Venue};

/// So many of the latest samples of each cell of the lab have their spans compared.
const SAMPLES: usize = 3;

worstcase_base::errors! {
    /// Why nothing can be laid against the lab.
    #[derive(Debug, thiserror::Error)]
    pub enum AgainstError {
        /// The run is not of this machine.
        #[error("{0} is of the lab; --against lays samples of a real machine (worstcase host run --captures 10) against a run of the lab")]
        NotOfHost(String) => Usage,
        /// The other run has nothing of the lab.
        #[error("--against {0} has no cell of the lab that waits for a timer; name the folder of a worstcase lab run")]
        NotOfLab(String) => Usage,
        /// The kernels are of different series.
        #[error("--against {run} is of Linux {theirs}, {cell} of {ours}, whose paths are others; {remedy}")]
        OtherSeries {
            /// The lab's run.
            run: Box<str>,
            /// Its series.
            theirs: Box<str>,
            /// The cell.
            cell: Box<str>,
            /// Its series.
            ours: Box<str>,
            /// What would have them.
            remedy: Box<str>,
        } => Usage,
        /// The load was not run there.
        #[error("--against {run} has no cell under {load}, but {theirs}; {remedy}")]
        OtherLoad {
            /// The lab's run.
            run: String,
            /// The load.
            load: String,
            /// The loads that it has.
            theirs: String,
            /// What would have it.
            remedy: String,
        } => Usage,
        /// Only one of the kernels has PREEMPT_RT.
        #[error("--against {run} has {theirs} under {load}, {cell} is {ours}: with PREEMPT_RT sections are others; measure a kernel of the same kind")]
        OtherKind {
            /// The lab's run.
            run: Box<str>,
            /// Its model.
            theirs: Box<str>,
            /// The cell.
            cell: Box<str>,
            /// Its model.
            ours: Box<str>,
            /// The load.
            load: Box<str>,
        } => Usage,
        /// A breakdown of the lab cannot be made.
        #[error(transparent)]
        Explain(#[from] ExplainError) => within,
        /// A census cannot be taken.
        #[error(transparent)]
        Census(#[from] CensusTakeError) => within,
        /// A run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
    }
}

/// What the lab tells of a load.
pub struct LabReference {
    paths: LabPaths,
    side: LabSide,
}

impl LabReference {
    /// Takes the censuses and breakdowns of the cells of `lab` with the kernel series and load of a record of this machine.
    pub fn of(
        means: &ReplayMeans,
        lab: &Run,
        record: &Record,
        jobs: NonZeroUsize,
        progress: &dyn Progress,
    ) -> Result<LabReference, AgainstError> {
        let records = lab.records()?;
        let run = lab.dir().display().to_string();
        let fitting = fitting(&run, &records, record)?;
        let side = side(run, &fitting);
        let chosen = chosen_of_run(lab, fitting.iter().map(|r| (*r).clone()).collect(), means.additions)?;
        let qemus = Qemus::new(means.qemu, &means.options.cache, means.options.progress);
        let how = CensusMeans {
            qemus: &qemus,
            additions: means.additions,
            options: means.options,
            limit: None,
            cpu: None,
            audit: false,
        };
        let told = each(&chosen, &how, true, jobs, progress, |cell, taken, longest| {
            let functions = taken.symbols.names().map(|name| base(name).to_string()).collect();
            let found = findings(&taken, longest, usize::MAX).map_err(|source| CensusTakeError::Contradiction {
                cell: cell.record.id.clone(),
                source,
            })?;
            Ok(LabPaths::of_census(&found, functions, taken.shift))
        })?;
        let mut paths = LabPaths::default();
        told.into_iter().for_each(|cell| paths.add(cell));
        for record in &fitting {
            let breakdowns = explain::all(means, lab, &records, Some(record), SAMPLES, jobs, progress)?;
            breakdowns.iter().for_each(|breakdown| paths.add_breakdown(breakdown));
        }
        Ok(LabReference { paths, side })
    }
}

/// Lays a breakdown of a record of this machine against the lab.
pub fn against(breakdown: Breakdown, record: &Record, lab: &LabReference, slowest_ps: u64) -> Confrontation {
    let machine = HostSide {
        steal_ns: explain::steal(record),
        ordinary_ns: Nanos(record.summary(Quantity::Latency).and_then(|s| s.median_ns).unwrap_or(0)),
        cpus: match &record.subject.machine {
            SubjectMachine::Host(host) => host.cpus,
            _ => 1,
        },
        slowest_ps,
    };
    Confrontation::of(breakdown, &lab.paths, &lab.side, &machine)
}

/// An error unless a run of the lab has cells that a record can be laid against.
pub fn check(lab: &Run, record: &Record) -> Result<(), AgainstError> {
    fitting(&lab.dir().display().to_string(), &lab.records()?, record).map(|_| ())
}

/// An error unless a run of the lab has one of these loads with the series of this machine's kernel.
pub fn check_before(lab: &Run, release: &str, loads: &[String]) -> Result<(), AgainstError> {
    let (run, records) = (lab.dir().display().to_string(), lab.records()?);
    let all = loads.join(",");
    let same = of_series(&run, &records, "this machine", release, &all)?;
    match same.iter().any(|r| loads.contains(&r.cell.load)) {
        true => Ok(()),
        false => Err(other_load(&run, &same, all, release)),
    }
}

/// The cells of the lab that a record is laid against: those with its preemption model and probe, if there are.
fn fitting<'a>(run: &str, records: &'a [Record], record: &Record) -> Result<Vec<&'a Record>, AgainstError> {
    let cell = record.id.to_string();
    if record.subject.venue() == Venue::Lab {
        return Err(AgainstError::NotOfHost(cell));
    }
    let release = &record.subject.kernel.release;
    let load = record.cell.load.clone();
    let same = of_series(run, records, &cell, release, &load)?;
    let mut under: Vec<&Record> = same.iter().filter(|r| r.cell.load == load).copied().collect();
    if under.is_empty() {
        return Err(other_load(run, &same, load, release));
    }
    let model = &record.subject.preempt.in_force;
    let is_rt = |model: &str| model.starts_with("rt");
    let theirs = under[0].subject.preempt.in_force.clone();
    under.retain(|r| is_rt(&r.subject.preempt.in_force) == is_rt(model));
    if under.is_empty() {
        return Err(AgainstError::OtherKind {
            run: run.into(),
            theirs: theirs.into(),
            cell: cell.into(),
            ours: model.as_str().into(),
            load: record.cell.load.as_str().into(),
        });
    }
    prefer(&mut under, |r| r.subject.preempt.in_force == *model);
    prefer(&mut under, |r| r.cell.probe == record.cell.probe);
    // One subject: the first.
    let subject = under[0].subject.id();
    under.retain(|r| r.subject.id() == subject);
    Ok(under)
}

/// The cells with the series of a kernel.
fn of_series<'a>(
    run: &str,
    records: &'a [Record],
    cell: &str,
    release: &str,
    load: &str,
) -> Result<Vec<&'a Record>, AgainstError> {
    let of_lab: Vec<&Record> = records.iter().filter(|r| is_counted(r)).collect();
    let Some(first) = of_lab.first() else {
        return Err(AgainstError::NotOfLab(run.to_string()));
    };
    let ours = series_of(release);
    let same: Vec<&Record> = of_lab
        .iter()
        .filter(|r| series_of(&r.subject.kernel.release) == ours)
        .copied()
        .collect();
    match same.is_empty() {
        true => Err(AgainstError::OtherSeries {
            run: run.into(),
            theirs: series_of(&first.subject.kernel.release).into(),
            cell: cell.into(),
            remedy: remedy(&ours, load).into(),
            ours: ours.into(),
        }),
        false => Ok(same),
    }
}

fn series_of(release: &str) -> String {
    series(release).unwrap_or_else(|| release.to_string())
}

fn other_load(run: &str, same: &[&Record], load: String, release: &str) -> AgainstError {
    let mut theirs: Vec<&str> = same.iter().map(|r| r.cell.load.as_str()).collect();
    theirs.sort_unstable();
    theirs.dedup();
    AgainstError::OtherLoad {
        run: run.to_string(),
        theirs: theirs.join(", "),
        remedy: remedy(&series_of(release), &load),
        load,
    }
}

/// The command that measures these loads in the lab, as far as it has them.
fn remedy(series: &str, loads: &str) -> String {
    let is_there = |name: &&str| {
        let load: Result<LoadSpec, _> = name.parse();
        load.is_ok_and(|load| load.check_venue(Venue::Lab).is_ok())
    };
    let there: Vec<&str> = loads.split(',').filter(is_there).collect();
    match there.is_empty() {
        true => "the lab has no such load: lay a cell under one that both have against it ('worstcase loads')".into(),
        false => format!(
            "measure that: worstcase lab run --kernel debian:{series} --load {}",
            there.join(",")
        ),
    }
}

/// Whether it has a census and breakdowns.
fn is_counted(record: &Record) -> bool {
    record
        .subject
        .virtual_machine()
        .is_some_and(|machine| machine.arch().is_usual() && !machine.policy.is_some_and(|policy| policy.is_ordinary()))
        && record.awaits_timer()
}

/// Keeps those that are wanted, if there are any.
fn prefer(records: &mut Vec<&Record>, wanted: impl Fn(&Record) -> bool) {
    if records.iter().any(|r| wanted(r)) {
        records.retain(|r| wanted(r));
    }
}

fn side(run: String, cells: &[&Record]) -> LabSide {
    let first = cells[0];
    LabSide {
        run,
        subject: first.subject.id().to_string(),
        preempt: first.subject.preempt.in_force.clone(),
        load: first.cell.load.clone(),
        cells: cells.iter().map(|r| r.id.to_string()).collect(),
        cpus: first.subject.virtual_machine().map_or(1, |machine| machine.smp.cpus),
    }
}

#[cfg(test)]
mod tests {
    use super::remedy;

    #[test]
    fn only_loads_that_the_lab_has_are_to_be_measured_there() {
        let said = remedy("6.18", "idle,memory,fork,disk");
        assert_eq!(
            said,
            "measure that: worstcase lab run --kernel debian:6.18 --load idle,fork"
        );
        assert!(remedy("6.18", "disk").starts_with("the lab has no such load"));
    }
}
