//! What the path of one sample of each cell consists of, by its events alone: also of probes whose samples are no lateness.

use super::costs::cannot_be_counted;
use super::replay::PreparedReplay;
use super::{ExplainError, ReplayMeans, SampleChoice, chosen, found, has_latency, kept_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_contract::costs::EventCounts;
use worstcase_contract::probe::SamplePath;
use worstcase_contract::window::TaskFrom;
use worstcase_contract::{Instructions, Nanos, Probe};
use worstcase_lab::execution::Execution;
use worstcase_results::record::{Record, Run, parallel};

/// The area of these paths in the cache.
const AREA: &str = "paths";

/// Which sample of its cell a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathSample {
    /// The latest: a lateness is told by its worst.
    Worst,
    /// The median: a cost is told by its usual value.
    Median,
    /// The one that was asked for.
    Chosen,
}

/// A path, and what it consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedPath {
    /// The cell.
    pub cell: String,
    /// The number of the sample.
    pub sample: u32,
    /// Which one that is.
    pub which: PathSample,
    /// The lab's time of the sample.
    pub lab_ns: Nanos,
    /// So many samples' worth of operations follow each other in the path.
    pub operations: u64,
    /// What it consists of; nothing where the CPU waited for a device meanwhile, or no lap was found.
    pub counts: Option<EventCounts>,
    /// For how many instructions caches had been in use, where those are fewer than they should.
    pub short_warm_up: Option<u64>,
}

/// Where the path of a cell's samples is.
fn path_of(record: &Record) -> SamplePath {
    let is_one_of_many =
        record.followed.is_some() || record.accounting.gaps().is_some() || record.accounting.rows() == 0;
    match record.cell.probe.parse::<Probe>() {
        Ok(probe) if !is_one_of_many => probe.sample_path(),
        _ => SamplePath::Many,
    }
}

/// The paths of all cells of a run that have one, or of `only` one (of a cost the median instead of the worst); so many cells at
/// once. Kept.
pub fn counted_paths(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    only: Option<(&Record, SampleChoice)>,
    jobs: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<Vec<CountedPath>, ExplainError> {
    let all = only.map_or(records, |(record, _)| std::slice::from_ref(record));
    let is_countable = |record: &&Record| must_be_countable(record).is_ok();
    let cells: Vec<&Record> = all.iter().filter(is_countable).collect();
    if cells.is_empty() {
        all.iter().try_for_each(must_be_countable)?;
    }
    progress.begin(&CountedWork::cells(cells.len()));
    parallel(jobs, &cells, |record| {
        let path = of_cell(means, run, record, only.map(|(_, choice)| choice))?;
        progress.done(&format!("replayed {}", record.id));
        Ok(path)
    })
}

/// An error unless it can be told what a sample's path consists of.
fn must_be_countable(record: &Record) -> Result<(), ExplainError> {
    let why = cannot_be_counted(record);
    let why = why.or((path_of(record) == SamplePath::Many).then_some("its samples are of many paths"));
    let cell = record.id.clone();
    why.map_or(Ok(()), |why| Err(ExplainError::NoCosts { cell, why }))
}

fn of_cell(
    means: &ReplayMeans,
    run: &Run,
    record: &Record,
    asked: Option<SampleChoice>,
) -> Result<CountedPath, ExplainError> {
    let (which, (place, row)) = match asked.filter(|choice| *choice != SampleChoice::Worst) {
        Some(choice) => (PathSample::Chosen, chosen(run, record, choice)?),
        None if has_latency(record) => (PathSample::Worst, found(run, record, SampleChoice::Worst)?),
        None => (PathSample::Median, found(run, record, SampleChoice::MEDIAN)?),
    };
    let asked = format!("{place} {which:?}");
    kept_of(means, run, record, AREA, &[&asked], |ready| {
        let (execution, path, operations) = match path_of(record) {
            SamplePath::Lap(hops) => of_lap(&ready, place, hops)?,
            SamplePath::Whole | SamplePath::Many => of_whole(&ready, record, place)?,
        };
        let of_path = |path: &Range<u64>| execution.costs_in(path.clone());
        Ok(CountedPath {
            cell: record.id.to_string(),
            sample: row.index,
            which,
            lab_ns: row.latency,
            operations,
            counts: path.as_ref().and_then(of_path),
            short_warm_up: path.and_then(|path| execution.short_warm_up(path.start)),
        })
    })
}

/// An execution, the path in it if it has one, and the path's operations.
type FoundPath = (Execution, Option<Range<u64>>, u64);

/// From the sample's begin on.
fn of_whole(ready: &PreparedReplay, record: &Record, place: usize) -> Result<FoundPath, ExplainError> {
    let moment = ready.again().moments()?[place];
    let execution = ready.counted(moment.due..moment.sample)?;
    let path = moment.due.0..moment.sample.0;
    let waited = !has_latency(record) && has_idled(&execution.tasks, &path);
    Ok((execution, (!waited).then_some(path), 1))
}

/// Whether the CPU had nothing to do in this range.
fn has_idled(tasks: &[TaskFrom], range: &Range<u64>) -> bool {
    let ends = tasks.iter().skip(1).map(|task| task.count.0).chain([u64::MAX]);
    tasks
        .iter()
        .zip(ends)
        .any(|(task, end)| task.pid == 0 && task.count.0 < range.end && range.start < end)
}

/// A lap of the ring that gave the sample, and its hops. The ring ends before its sample is taken, as its processes do.
fn of_lap(ready: &PreparedReplay, place: usize, hops: usize) -> Result<FoundPath, ExplainError> {
    let moment = ready.again().moments()?[place];
    let processes = hops as u64;
    let length = (moment.sample.0 - moment.due.0) * processes;
    let before = LAPS * length + (processes + 1) * AN_END;
    let window = Instructions(moment.sample.0.saturating_sub(before))..moment.sample;
    let execution = ready.counted(window)?;
    let lap = lap(&execution.tasks, hops, length);
    Ok((execution, lap, processes))
}

/// So many laps are looked at.
const LAPS: u64 = 6;
/// What the end of a process and of the ring takes at most, in instructions.
const AN_END: u64 = 400_000;

/// The usual lap of a ring of so many processes, among those of about this length.
fn lap(tasks: &[TaskFrom], processes: usize, length: u64) -> Option<Range<u64>> {
    let mut laps: Vec<Range<u64>> = tasks
        .windows(processes + 1)
        .filter_map(|lap| {
            let (begin, end) = (lap.first()?, lap.last()?);
            let members: BTreeSet<u32> = lap.iter().map(|task| task.pid).collect();
            let is_one = begin.pid == end.pid && members.len() == processes && !members.contains(&0);
            let range = begin.count.0..end.count.0;
            let took = range.end - range.start;
            (is_one && took.abs_diff(length) * NEAR <= length).then_some(range)
        })
        .collect();
    laps.sort_by_key(|lap| (lap.end - lap.start, lap.start));
    laps.get(laps.len().checked_sub(1)? / 2).cloned()
}

/// A lap may differ from the mean by one part in so many: a tick of the clock comes in some.
const NEAR: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(all: &[(u64, u32)]) -> Vec<TaskFrom> {
        let task = |&(count, pid): &(u64, u32)| TaskFrom {
            count: Instructions(count),
            pid,
            comm: String::new(),
        };
        all.iter().map(task).collect()
    }

    #[test]
    fn the_usual_lap_is_the_middle_one_of_those_in_which_each_process_has_its_turn() {
        let all = [
            (0, 7),
            (100, 8),
            (200, 7),
            // Another process, then one lap that a tick made longer.
            (300, 9),
            (390, 7),
            (490, 8),
            (600, 7),
            (700, 8),
            (800, 7),
            (2_000, 8),
            (2_100, 7),
            (2_200, 0),
            (2_300, 7),
        ];
        assert_eq!(lap(&tasks(&all), 2, 205), Some(600..800));
        assert_eq!(lap(&tasks(&all), 3, 205), None);
        assert_eq!(lap(&tasks(&all[..2]), 2, 205), None);
    }

    #[test]
    fn an_idle_cpu_is_seen_where_it_idles() {
        let all = tasks(&[(100, 7), (200, 0), (300, 7)]);
        assert!(has_idled(&all, &(150..250)) && has_idled(&all, &(250..260)) && has_idled(&all, &(299..400)));
        assert!(!has_idled(&all, &(100..200)) && !has_idled(&all, &(300..400)));
    }
}
