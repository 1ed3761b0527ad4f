//! Runs a cell again, with every block logged around chosen samples.
//!
//! ```text
//! samples -> a window each, from before the due time to behind the clock read
//!         -> merged for the plugin -> the same cell runs -> record and events must be what they were
//!         -> the log, cut to each sample's window -> Execution
//! ```

mod cut;

use super::LabError;
use super::cell::{self, CellRun, RawResult};
use super::checkpoints::CellCheckpoints;
use super::fork::{Course, PluginRequest};
use super::later::{costs_after, log_after, windows_since};
use super::machine::Mips;
use super::moments::{self, SampleMoment};
use super::symbols::KernelSymbols;
use crate::execution::{Execution, Symbols};
use cut::cut;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_contract::Instructions;
use worstcase_contract::costs;
use worstcase_contract::costs::log::CostLog;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::Windows;
use worstcase_contract::window::log::{self, Log};

/// How long before the due time a window begins by default: longer than interrupts stay off, mostly.
pub const LEAD: Instructions = Instructions(200_000);

/// How long before it begins where that does not show who switched interrupts off. The sample before is mostly nearer, where
/// they were on.
pub const LONGEST_LEAD: Instructions = Instructions(20_000_000);

/// Limit in instructions for the windows of one replay: the log's steps, about one for every five instructions, are
/// held in memory.
const BATCH: Instructions = Instructions(100_000_000);

/// Limit for windows of one replay: they are one argument of QEMU, which Linux limits to 128 KiB.
const MOST_WINDOWS: usize = 2_000;

/// How long a window goes on after the clock read: the probe's own code, to the mark.
const TAIL: u64 = 50;

/// Longest block of QEMU; a window begins that much earlier, to hold the whole block in which it begins.
pub const LONGEST_BLOCK: u64 = 512;

/// A sample, or a stretch, and the window to log for it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedLog {
    moment: SampleMoment,
    window: Range<Instructions>,
}

/// What is counted in a replay, beside its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Nothing more.
    Nothing,
    /// What they consist of.
    Costs,
}

/// The result of a replay.
#[derive(Debug)]
pub struct ReplayResult {
    /// What ran around each sample, in the order of the request.
    pub executions: Vec<Execution>,
    /// The functions of the modules that were loaded when the replay ended.
    pub modules: Symbols,
}

/// Runs the cell again and gives what ran around each of `samples` (indices into the record's samples), from `lead` before it was
/// due. `raw` is the cell's result; if the replay gives anything else, that is an error, and no execution is returned.
///
/// An execution takes some MiB: for all samples of a cell use [`replay_each`].
pub fn replay(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    samples: &[usize],
    lead: Instructions,
    counted: Counted,
) -> Result<ReplayResult, LabError> {
    let mut found: HashMap<usize, Execution> = HashMap::new();
    let mips = run.prepared.subject.mips;
    let wanted = wanted(raw, samples, lead, mips).map_err(|why| LabError::Stamps(cell::describe(run), why))?;
    let each = |sample, execution, _: &Symbols| {
        found.insert(sample, execution);
        Ok(())
    };
    let modules = replay_wanted(cache, run, raw, kernel, &wanted, counted, each)?;
    let executions = samples.iter().filter_map(|sample| found.get(sample).cloned());
    Ok(ReplayResult {
        executions: executions.collect(),
        modules,
    })
}

/// Like [`replay`], but hands over one sample's execution at a time, in the order of time, each sample once, with the functions
/// of modules. The cell runs again for every [`BATCH`] of instructions in windows. Returns the functions of modules.
pub fn replay_each(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    samples: &[usize],
    lead: Instructions,
    each: impl FnMut(usize, Execution, &Symbols) -> Result<(), LabError>,
) -> Result<Symbols, LabError> {
    let mips = run.prepared.subject.mips;
    let wanted = wanted(raw, samples, lead, mips).map_err(|why| LabError::Stamps(cell::describe(run), why))?;
    replay_wanted(cache, run, raw, kernel, &wanted, Counted::Nothing, each)
}

/// Like [`replay_each`], for stretches of the run instead of samples, and in two halves at once where a checkpoint lies between
/// (what is told of one does not know the locks of the other). An execution's due time and sample are the ends of its
/// stretch. `reader` makes what looks at the executions of one half, with their stretches' indices. Gives what it made of each
/// stretch, in their order, and the functions of modules.
pub(crate) fn replay_stretches<T: Send, R: FnMut(usize, Execution) -> T>(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    stretches: &[Range<Instructions>],
    counted: Counted,
    reader: impl Fn() -> R + Sync,
) -> Result<(Vec<T>, Symbols), LabError> {
    let mips = run.prepared.subject.mips;
    let one = |(index, stretch): (usize, &Range<Instructions>)| WantedLog {
        moment: SampleMoment {
            index,
            due: stretch.start,
            timer_entry: None,
            sample: stretch.end,
            latency: mips.time_of(stretch.end.0 - stretch.start.0),
        },
        window: stretch.clone(),
    };
    let mut wanted: Vec<WantedLog> = stretches.iter().enumerate().map(one).collect();
    wanted.sort_by_key(|w| w.window.start);
    let read = |part: &[WantedLog]| {
        let (mut reader, mut read) = (reader(), Vec::new());
        let modules = replay_part(cache, run, raw, kernel, part, counted, |index, execution, _| {
            read.push((index, reader(index, execution)));
            Ok(())
        })?;
        Ok::<_, LabError>((read, modules))
    };
    let (mut all, mut modules) = (Vec::new(), Symbols::default());
    for batch in batches(&wanted) {
        let (first, second) = batch.split_at(half(cache, run, batch)?);
        let (of_first, of_second) = std::thread::scope(|scope| {
            let of_second = (!second.is_empty()).then(|| scope.spawn(|| read(second)));
            let of_first = read(first);
            (
                of_first,
                of_second.map(|thread| thread.join().expect("a replay does not panic")),
            )
        });
        for half in [Some(of_first), of_second].into_iter().flatten() {
            let (of_half, modules_then) = half?;
            all.extend(of_half);
            modules = modules_then;
        }
    }
    all.sort_by_key(|(index, _)| *index);
    Ok((all.into_iter().map(|(_, of_stretch)| of_stretch).collect(), modules))
}

/// What ran in this stretch of the run, and the functions of modules.
pub(crate) fn replay_window(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    window: Range<Instructions>,
    counted: Counted,
) -> Result<(Execution, Symbols), LabError> {
    let reader = || |_, execution| execution;
    let (mut executions, modules) = replay_stretches(cache, run, raw, kernel, &[window], counted, reader)?;
    Ok((executions.pop().expect("one for each stretch"), modules))
}

/// Replays in order of time, at most so many windows at once.
fn replay_wanted(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    wanted: &[WantedLog],
    counted: Counted,
    mut each: impl FnMut(usize, Execution, &Symbols) -> Result<(), LabError>,
) -> Result<Symbols, LabError> {
    let mut modules = Symbols::default();
    for batch in batches(wanted) {
        modules = replay_part(cache, run, raw, kernel, batch, counted, &mut each)?;
    }
    Ok(modules)
}

/// Replays what holds these windows.
fn replay_part(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    part: &[WantedLog],
    counted: Counted,
    mut each: impl FnMut(usize, Execution, &Symbols) -> Result<(), LabError>,
) -> Result<Symbols, LabError> {
    let misfit = |why: &str| LabError::Stamps(cell::describe(run), why.to_string());
    let windows = Windows::merged(part.iter().map(|w| w.window.clone()));
    let folder = cache.scratch()?;
    let observed = observe(cache, run, raw, kernel, (&windows, counted), folder.path())?;
    if observed.log.windows.len() != windows.ranges().len() {
        return Err(misfit("not every window was reached"));
    }
    for one in part {
        let execution = cut(&observed.log, observed.costs.as_ref(), one, run.prepared.subject.mips);
        let execution = execution.ok_or_else(|| misfit("a window is empty"))?;
        each(one.moment.index, execution, &observed.modules)?;
    }
    Ok(observed.modules)
}

/// How many of these windows are before the checkpoint that is nearest to their middle; all if there is none.
fn half(cache: &Cache, run: &CellRun, windows: &[WantedLog]) -> Result<usize, LabError> {
    let (Some(first), Some(last)) = (windows.first(), windows.last()) else {
        return Ok(0);
    };
    let middle = Instructions(u64::midpoint(first.window.start.0, last.window.end.0));
    let checkpoints = CellCheckpoints::of(cache, run)?;
    Ok(match checkpoints.and_then(|all| all.nearest(middle)) {
        Some(at) if at > first.window.start => windows.partition_point(|w| w.window.start < at),
        _ => windows.len(),
    })
}

/// Cuts a list, ordered by time, so that no batch has more than [`BATCH`] instructions or [`MOST_WINDOWS`] windows.
fn batches(wanted: &[WantedLog]) -> impl Iterator<Item = &[WantedLog]> {
    let (mut held, mut windows) = (0, 0);
    wanted.chunk_by(move |one, _| {
        held += one.window.end.0 - one.window.start.0;
        windows += 1;
        let goes_on = held < BATCH.0 && windows < MOST_WINDOWS;
        if !goes_on {
            (held, windows) = (0, 0);
        }
        goes_on
    })
}

/// The windows for these samples, in the order of time, each once.
fn wanted(raw: &RawResult, samples: &[usize], lead: Instructions, mips: Mips) -> Result<Vec<WantedLog>, String> {
    let all = moments::moments(raw, mips)?;
    let window = |&i: &usize| {
        let moment = *all.get(i).ok_or_else(|| format!("there is no sample {i}"))?;
        let before = i.checked_sub(1).map_or(0, |before| all[before].sample.0 - 1);
        // A window does not begin before the previous sample, whose breakdown covers that time, unless that sample came
        // after this due time.
        let from = moment.due.0.saturating_sub(lead.0).max(before.min(moment.due.0));
        Ok(WantedLog {
            moment,
            window: Instructions(from.saturating_sub(LONGEST_BLOCK))..Instructions(moment.sample.0 - 1 + TAIL),
        })
    };
    let wanted: BTreeSet<usize> = samples.iter().copied().collect();
    wanted.iter().map(window).collect()
}

/// What the plugin told.
struct Observed {
    log: Log,
    costs: Option<CostLog>,
    modules: Symbols,
}

/// Runs the cell with the windows logged, or the part of it that holds them, and checks that it is the same execution.
fn observe(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    (windows, counted): (&Windows, Counted),
    folder: &Path,
) -> Result<Observed, LabError> {
    let asked = |begin: Instructions| {
        let asked = PluginRequest {
            arguments: format!(
                ",windows={},window_log={WINDOWS},tasks={}{}{}",
                windows_since(windows, begin),
                kernel.tasks,
                kernel.locks_argument(),
                kernel.follow_arguments(run.prepared)
            ),
            writes: vec![WINDOWS],
            memory: true,
            ..PluginRequest::default()
        };
        let costs = match counted {
            Counted::Nothing => PluginRequest::default(),
            Counted::Costs => PluginRequest {
                arguments: format!(",costs={COSTS}"),
                writes: vec![COSTS],
                ..PluginRequest::default()
            },
        };
        asked.and(costs).and(modules_asked(kernel))
    };
    let warm_up = match counted {
        Counted::Nothing => 0,
        Counted::Costs => costs::WARM_UP,
    };
    let checkpoints = CellCheckpoints::of(cache, run)?;
    let part = match (&checkpoints, windows.ranges().next(), windows.ranges().last()) {
        (Some(checkpoints), Some(first), Some(last)) => {
            let from = Instructions(first.start.0.saturating_sub(warm_up));
            checkpoints.part(run, raw, folder, from..last.end, asked)?
        }
        _ => None,
    };
    if part.is_none() {
        let asked = asked(Instructions(0));
        match checkpoints {
            Some(checkpoints) => checkpoints.whole(run, raw, folder, &asked, &checkpoints.everywhere(raw))?,
            None => same_again(run, raw, folder, &asked, &Course::Whole)?,
        }
    }
    let begin = part.unwrap_or(Instructions(0));
    let path = folder.join(WINDOWS);
    let bytes = worstcase_base::files::read(&path).map_err(LabError::io(&path))?;
    let unread = |reason: String| LabError::NoResult {
        what: cell::describe(run),
        reason,
        console: super::message::console_end(folder),
    };
    let log = log::decode(&bytes).map_err(|e| unread(e.to_string()))?;
    let costs = match counted {
        Counted::Nothing => None,
        Counted::Costs => {
            let path = folder.join(COSTS);
            let text = std::fs::read_to_string(&path).map_err(LabError::io(&path))?;
            let costs = costs::log::decode(&text).map_err(|e| unread(e.to_string()))?;
            Some(costs_after(costs, begin))
        }
    };
    Ok(Observed {
        log: log_after(log, begin),
        costs,
        modules: modules_in(folder)?,
    })
}

/// The file of the plugin's log of costs.
const COSTS: &str = "costs";

/// The file of the plugin's log of windows.
const WINDOWS: &str = "windows";

/// The file of the plugin's list of modules' functions.
pub(super) const MODULES: &str = "modules";

/// Asks the plugin for the modules' functions.
pub(super) fn modules_asked(kernel: &KernelSymbols) -> PluginRequest {
    let asked = |places| PluginRequest {
        arguments: format!(",modules={places},module_log={MODULES}"),
        writes: vec![MODULES],
        memory: true,
        ..PluginRequest::default()
    };
    kernel.modules.map_or_else(PluginRequest::default, asked)
}

/// The functions of modules that the plugin listed; none if it found none.
pub(super) fn modules_in(folder: &Path) -> Result<Symbols, LabError> {
    let path = folder.join(MODULES);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Symbols::from(&SymbolTable::from_kallsyms(&text))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Symbols::default()),
        Err(e) => Err(LabError::io(&path)(e)),
    }
}

/// Runs the cell with a further request to the plugin, and checks that it is the same execution.
pub(super) fn same_again(
    run: &CellRun,
    raw: &RawResult,
    folder: &Path,
    asked: &PluginRequest,
    course: &Course,
) -> Result<(), LabError> {
    let again = cell::execute_watched(run, folder, asked, course)?;
    if again.record != raw.record {
        return differs(run, "the records");
    }
    if again.events != raw.events {
        return differs(run, "the plugin's events");
    }
    Ok(())
}

/// The error for a cell that is another execution than the one that was measured.
pub(super) fn differs<T>(run: &CellRun, what: &'static str) -> Result<T, LabError> {
    Err(LabError::OtherExecution(cell::describe(run), what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::Nanos;

    pub(super) fn wanted(from: u64, due: u64, sample: u64) -> WantedLog {
        WantedLog {
            moment: SampleMoment {
                index: 0,
                due: Instructions(due),
                timer_entry: None,
                sample: Instructions(sample),
                latency: Nanos(sample - due),
            },
            window: Instructions(from)..Instructions(sample + TAIL),
        }
    }

    #[test]
    fn a_batch_holds_no_more_than_memory_and_arguments_do() {
        let short: Vec<WantedLog> = (0..4_500).map(|i| wanted(i * 1000, i * 1000, i * 1000 + 10)).collect();
        let sizes: Vec<usize> = batches(&short).map(<[WantedLog]>::len).collect();
        assert_eq!(sizes, [2_000, 2_000, 500]);
        let long: Vec<WantedLog> = (0..3).map(|i| wanted(i, i, i + BATCH.0)).collect();
        assert_eq!(batches(&long).count(), 3);
    }
}
