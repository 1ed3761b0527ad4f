//! Explains samples of a run: finds the sample, replays its cell (lab) or reads its recording (this machine), and tells.
//!
//! ```text
//! run, records ──choice──> sample ──┬─ lab:  replay (replay, symbols, lines) ──> breakdown::tell
//!                                   └─ host: recordings kept beside the samples ──> breakdown::host::tell
//! ```
//! Nothing here knows a command line or how a breakdown is shown.

mod choice;
mod costs;
mod counted_path;
mod error;
mod explainable;
mod host;
mod replay;

pub use choice::SampleChoice;
pub use counted_path::{CountedPath, PathSample, counted_paths};
pub use error::ExplainError;
pub use explainable::{can_be_explained, has_latency, hides_tasks, is_worth_explaining};
pub(crate) use host::steal;

use crate::breakdown::folded::folded;
use crate::breakdown::lines::SourceLines;
use crate::breakdown::spans::Peer;
use crate::breakdown::spans::{ExplainedSample, Since};
use crate::breakdown::{Breakdown, Explanation, LabSurroundings};
use crate::cycle::CycleBreakdown;
use choice::choose;
use replay::PreparedReplay;
pub use replay::ReplayMeans;
use replay::Replayed;
pub(crate) use replay::kept_of;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::type_name;
use std::num::NonZeroUsize;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_contract::probe::SampleBegin;
use worstcase_contract::{Nanos, Probe};
use worstcase_lab::execution::Execution;
use worstcase_lab::replay::Counted;
use worstcase_plan::VirtualMachine;
use worstcase_results::record::{Quantity, Record, Run, RunError, SampleRow, Venue, parallel};

/// The area of breakdowns in the cache.
const AREA: &str = "breakdowns";

/// An explained sample.
pub enum Explained {
    /// Replayed: every instruction is known.
    Lab(Box<Explanation>, Box<dyn SourceLines>),
    /// A breakdown from a recording.
    Host(Box<Breakdown>),
}

impl Explained {
    /// Its breakdown.
    pub fn breakdown(&self) -> &Breakdown {
        match self {
            Explained::Lab(explanation, _) => &explanation.breakdown,
            Explained::Host(breakdown) => breakdown,
        }
    }
}

/// The cell with the highest latency, of those that can be explained if there are some.
pub fn worst_cell<'a>(run: &Run, records: &'a [Record]) -> Result<&'a Record, ExplainError> {
    let max = |r: &&Record| r.summary(Quantity::Latency).map(|s| s.max_ns);
    let of_all = |explained: bool| {
        records
            .iter()
            .filter(move |r| max(r).is_some() && (!explained || can_be_explained(r)))
    };
    let worst = of_all(true).max_by_key(max).or_else(|| of_all(false).max_by_key(max));
    worst.ok_or_else(|| {
        ExplainError::Run(RunError::NotMeasured {
            id: run.plan().cells[0].id.clone(),
            command: worstcase_base::format::shell(&run.command()),
        })
    })
}

/// The event with which a sample's time begins.
fn since(record: &Record, row: &SampleRow) -> Since {
    let probe = record.cell.probe.parse::<Probe>();
    match probe.map_or(SampleBegin::TimerDue, Probe::sample_begin) {
        SampleBegin::Woken => Since::Woken,
        SampleBegin::DeviceDue => Since::DueDevice,
        SampleBegin::Pulsed => Since::Pulsed,
        SampleBegin::Called => Since::Called,
        SampleBegin::TimerDue if record.details.is_some() => Since::Due,
        SampleBegin::TimerDue if row.irq_latency.is_none() => Since::DueElsewhere,
        SampleBegin::TimerDue if sleeps_as_ordinary(record) => Since::DueWithSlack,
        SampleBegin::TimerDue => Since::Due,
    }
}

/// Whether its samples are of an ordinary thread that sleeps until a time.
fn sleeps_as_ordinary(record: &Record) -> bool {
    match record.subject.virtual_machine() {
        Some(machine) => {
            machine.policy.is_some_and(|policy| policy.is_ordinary())
                && record.cell.probe_info().is_some_and(|info| info.has_slack_in_lab)
        }
        None => {
            let method = record.cell.method.as_ref();
            method.is_some_and(|method| method.policy == "other" && method.timer == "nanosleep")
        }
    }
}

/// An error unless breakdowns of the two cells may stand side by side.
pub fn comparable(left: &Record, right: &Record) -> Result<(), ExplainError> {
    match left.cell.load == right.cell.load && left.cell.probe == right.cell.probe {
        true => Ok(()),
        false => Err(ExplainError::Incomparable {
            left: left.id.clone(),
            right: right.id.clone(),
        }),
    }
}

/// Explains one sample of a cell.
pub fn one(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: SampleChoice,
) -> Result<Explained, ExplainError> {
    must_be_explainable(record)?;
    must_be_below_the_latest(record, choice)?;
    if record.subject.venue() == Venue::Host {
        return Ok(Explained::Host(Box::new(host::one(run, records, record, choice)?)));
    }
    let chosen = chosen(run, record, choice)?;
    let progress = means.options.progress;
    progress.state(&format!("replaying {}", record.id));
    let told = PreparedReplay::of(means, run, record)
        .and_then(|ready| tell(ready, record, &around(record, records), &[chosen], Counted::Nothing));
    progress.end();
    let (mut explanation, lines) = told?;
    Ok(Explained::Lab(Box::new(explanation.remove(0)), lines))
}

/// The breakdown of one sample of a cell; of the lab it is kept, unless a file names the lines.
pub fn breakdown(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: SampleChoice,
) -> Result<Breakdown, ExplainError> {
    let is_kept = can_be_explained(record) && record.subject.venue() == Venue::Lab && means.debug_info.is_none();
    if !is_kept {
        return Ok(match one(means, run, records, record, choice)? {
            Explained::Lab(explanation, _) => explanation.breakdown,
            Explained::Host(breakdown) => *breakdown,
        });
    }
    kept_one(means, run, records, record, choice, Counted::Nothing)
}

/// The breakdown of one sample of a cell of the lab, with what each span consists of; kept.
pub fn with_costs(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: SampleChoice,
) -> Result<Breakdown, ExplainError> {
    must_be_explainable(record)?;
    if let Some(why) = costs::cannot_be_counted(record) {
        let cell = record.id.clone();
        return Err(ExplainError::NoCosts { cell, why });
    }
    kept_one(means, run, records, record, choice, Counted::Costs)
}

/// The breakdown of one sample of a cell of the lab.
fn kept_one(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: SampleChoice,
    counted: Counted,
) -> Result<Breakdown, ExplainError> {
    let chosen = chosen(run, record, choice)?;
    let progress = means.options.progress;
    let what = match counted {
        Counted::Nothing => "",
        Counted::Costs => " and its caches",
    };
    progress.state(&format!("replaying {}{what}", record.id));
    let told = tell_once(means, run, records, record, &[chosen], counted, |told| told.breakdown);
    progress.end();
    Ok(told?.remove(0))
}

fn must_be_explainable(record: &Record) -> Result<(), ExplainError> {
    match can_be_explained(record) {
        true => Ok(()),
        false => Err(ExplainError::NoLatency {
            cell: record.id.clone(),
        }),
    }
}

fn must_be_below_the_latest(record: &Record, choice: SampleChoice) -> Result<(), ExplainError> {
    let samples = record.accounting.rows() as usize;
    match choice {
        SampleChoice::Percentile(share) if !choice.is_below_the_latest_of(samples) => {
            let cell = record.id.clone();
            Err(ExplainError::TooFew { cell, share, samples })
        }
        _ => Ok(()),
    }
}

/// The sample that is asked for, with its place in the record.
fn chosen(run: &Run, record: &Record, choice: SampleChoice) -> Result<(usize, SampleRow), ExplainError> {
    must_be_below_the_latest(record, choice)?;
    found(run, record, choice)
}

/// The sample of a choice, which may be the latest whatever the choice is called.
fn found(run: &Run, record: &Record, choice: SampleChoice) -> Result<(usize, SampleRow), ExplainError> {
    let rows = rows(run, record)?;
    choose(&rows, choice).ok_or_else(|| ExplainError::NoSample {
        cell: record.id.clone(),
        asked: choice,
        there: there(&rows),
    })
}

/// The numbers of samples: `0 to 999`.
fn there(rows: &[(usize, SampleRow)]) -> String {
    let numbers = || rows.iter().map(|(_, row)| row.index);
    match (numbers().min(), numbers().max()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "none".into(),
    }
}

/// Explains the worst samples of every cell, or of `only` one: so many of each, and so many cells at once.
pub fn all(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    only: Option<&Record>,
    each: usize,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<Vec<Breakdown>, ExplainError> {
    let cells = records.iter().filter(|r| only.is_none_or(|only| only.id == r.id));
    let cells: Vec<&Record> = cells
        .filter(|r| r.accounting.rows() > 0 && can_be_explained(r))
        .collect();
    progress.begin(&CountedWork::cells(cells.len()));
    let told = parallel(jobs, &cells, |record| {
        let told = match record.subject.venue() {
            Venue::Host => host::worst(run, records, record, each)?,
            Venue::Lab => worst_of_cell(means, run, records, record, each)?,
        };
        progress.done(&format!("replayed {}", record.id));
        Ok::<_, ExplainError>(told)
    })?;
    Ok(told.into_iter().flatten().collect())
}

/// The worst samples of a cell of the lab; kept.
fn worst_of_cell(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    each: usize,
) -> Result<Vec<Breakdown>, ExplainError> {
    let mut rows = rows(run, record)?;
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.latency));
    rows.truncate(each);
    tell_once(means, run, records, record, &rows, Counted::Nothing, |told| {
        told.breakdown
    })
}

/// For each of these samples, the part of its explanation that `wanted` takes; kept in the cache.
fn tell_once<T: Serialize + DeserializeOwned>(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    rows: &[(usize, SampleRow)],
    counted: Counted,
    wanted: impl Fn(Explanation) -> T,
) -> Result<Vec<T>, ExplainError> {
    let around = around(record, records);
    let asked = [
        type_name::<T>().into(),
        format!("{rows:?}"),
        format!("{around:?}"),
        format!("{:?}", sample(record, 0, Nanos(0), Since::Due)),
        format!("{counted:?}"),
    ];
    let asked = asked.each_ref().map(String::as_str);
    kept_of(means, run, record, AREA, &asked, |ready| {
        let (told, _) = tell(ready, record, &around, rows, counted)?;
        Ok(told.into_iter().map(wanted).collect())
    })
}

/// A breakdown, and the call chains that its flame graph is drawn from.
#[derive(Serialize, Deserialize)]
pub struct FoldedBreakdown {
    /// The breakdown.
    pub breakdown: Breakdown,
    /// Folded stacks.
    pub folded: String,
}

/// Explains a cell's worst sample in the lab; kept.
pub fn worst_of_lab(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
) -> Result<Option<FoldedBreakdown>, ExplainError> {
    let Some(worst) = choose(&rows(run, record)?, SampleChoice::Worst) else {
        return Ok(None);
    };
    let mut told = tell_once(means, run, records, record, &[worst], Counted::Nothing, |told| {
        FoldedBreakdown {
            folded: folded(&told),
            breakdown: told.breakdown,
        }
    })?;
    Ok(told.pop())
}

/// Explains a sample of a cell, wherever it was measured, if it can be; kept.
pub fn of_cell(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: SampleChoice,
) -> Result<Option<Breakdown>, ExplainError> {
    if !can_be_explained(record) {
        return Ok(None);
    }
    if record.subject.venue() == Venue::Host {
        return match choice {
            SampleChoice::Worst => worst_of_host(run, records, record),
            SampleChoice::Number(_) | SampleChoice::Percentile(_) => Ok(None),
        };
    }
    let Some(chosen) = choose(&rows(run, record)?, choice) else {
        return Ok(None);
    };
    let mut told = tell_once(means, run, records, record, &[chosen], Counted::Nothing, |told| {
        told.breakdown
    })?;
    Ok(told.pop())
}

/// Explains a cell's worst sample on this machine, if something was recorded.
pub fn worst_of_host(run: &Run, records: &[Record], record: &Record) -> Result<Option<Breakdown>, ExplainError> {
    match host::worst(run, records, record, 1) {
        Ok(mut breakdowns) => Ok(breakdowns.pop()),
        Err(ExplainError::NoRecordings { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Explains a cycle of a program that was followed in the lab: its parts, and the functions of each.
pub fn cycle(
    means: &ReplayMeans,
    run: &Run,
    record: &Record,
    choice: SampleChoice,
) -> Result<CycleBreakdown, ExplainError> {
    let (_, chosen) = chosen(run, record, choice)?;
    let progress = means.options.progress;
    progress.state(&format!("replaying {}", record.id));
    let told = PreparedReplay::of(means, run, record).and_then(|ready| ready.cycle(chosen.due));
    progress.end();
    told
}

/// All samples of a cell with their place in the record.
fn rows(run: &Run, record: &Record) -> Result<Vec<(usize, SampleRow)>, ExplainError> {
    let mut rows = Vec::new();
    run.for_each_sample(record, |row| rows.push((rows.len(), row)))?;
    Ok(rows)
}

/// Replays the cell once and explains each of these samples; also gives the source of lines of code.
fn tell(
    ready: PreparedReplay,
    record: &Record,
    around: &LabSurroundings,
    rows: &[(usize, SampleRow)],
    counted: Counted,
) -> Result<(Vec<Explanation>, Box<dyn SourceLines>), ExplainError> {
    let (executions, mut replayed) = ready.replay(rows, counted)?;
    let one = |execution: &Execution, replayed: &Replayed, row: &SampleRow| {
        let sample = sample(record, row.index, row.latency, since(record, row));
        let told = crate::breakdown::tell(execution, replayed.symbols(), &*replayed.lines, sample, around);
        told.map_err(|source| ExplainError::Breakdown {
            cell: record.id.clone(),
            index: row.index,
            source,
        })
    };
    let mut explanations = Vec::new();
    for (execution, (place, row)) in executions.iter().zip(rows) {
        let mut told = one(execution, &replayed, row)?;
        if told.walk.begins_with_interrupts_off(execution.due.0) {
            let longer = replayed.with_all_before(*place)?;
            told = one(&longer, &replayed, row)?;
        }
        explanations.push(told);
    }
    Ok((explanations, replayed.lines))
}

fn around(record: &Record, records: &[Record]) -> LabSurroundings {
    LabSurroundings {
        floor: record
            .summary(Quantity::Latency)
            .map_or(Nanos(0), |s| Nanos(s.min_ns.unwrap_or(0))),
        peers: peers(record, records),
    }
}

/// The sample that a breakdown explains.
fn sample(record: &Record, index: u32, latency_ns: Nanos, since: Since) -> ExplainedSample {
    ExplainedSample {
        cell: record.id.to_string(),
        subject: record.subject.id().to_string(),
        load: record.cell.load.clone(),
        preempt: record.subject.preempt.in_force.clone(),
        preempt_fixed: record.subject.has_fixed_preempt(),
        unit: record.subject.time_unit(),
        index,
        latency_ns,
        since,
        scheduler: record.scheduler.as_ref().map(|loaded| loaded.name.clone()),
    }
}

/// The same load and probe on the run's other subjects; of the same architecture, as only their path lengths are of one unit, and
/// of a thread of the same policy, as another one waits for others.
fn peers(record: &Record, records: &[Record]) -> Vec<Peer> {
    let arch = |record: &Record| record.subject.virtual_machine().map(VirtualMachine::arch);
    let policy = |record: &Record| {
        let in_lab = record.subject.virtual_machine().and_then(|machine| machine.policy);
        let here = record.cell.method.as_ref().map(|method| method.policy.clone());
        (in_lab, here)
    };
    let (of_arch, of_policy) = (arch(record), policy(record));
    let mut peers: Vec<Peer> = Vec::new();
    for other in records {
        let same_cell = other.cell.load == record.cell.load && other.cell.probe == record.cell.probe;
        let same = same_cell && arch(other) == of_arch && policy(other) == of_policy;
        let id = other.subject.id();
        let Some(summary) = other
            .summary(Quantity::Latency)
            .filter(|_| same && id != record.subject.id())
        else {
            continue;
        };
        let subject = id.to_string();
        match peers.iter_mut().find(|p| p.subject == subject) {
            Some(peer) => peer.maximum = peer.maximum.max(Nanos(summary.max_ns)),
            None => peers.push(Peer {
                subject,
                preempt: other.subject.preempt.in_force.clone(),
                maximum: Nanos(summary.max_ns),
            }),
        }
    }
    peers
}
