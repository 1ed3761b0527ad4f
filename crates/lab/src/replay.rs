//! Runs a cell again, with every block logged around chosen samples.
//!
//! ```text
//! samples -> a window each, from before the due time to behind the clock read
//!         -> merged for the plugin -> the same cell runs -> record and events must be what they were
//!         -> the log, cut to each sample's window -> Execution
//! ```

use super::LabError;
use super::cell::{self, CellRun, RawResult};
use super::checkpoints::CellCheckpoints;
use super::fork::{Course, PluginRequest};
use super::later::{log_after, windows_since};
use super::machine::Mips;
use super::moments::{self, SampleMoment};
use super::symbols::KernelSymbols;
use crate::execution::{Elsewhere, Execution, Step, Symbols};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_contract::Instructions;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::Windows;
use worstcase_contract::window::log::{self, Log, Window};

/// How long before the due time a window begins by default: longer than interrupts stay off.
pub const LEAD: Instructions = Instructions(200_000);

/// Limit in instructions for the windows of one replay: the log's steps, about one for every five instructions, are
/// held in memory.
const BATCH: Instructions = Instructions(100_000_000);

/// Limit for windows of one replay: they are one argument of QEMU, which Linux limits to 128 KiB.
const MOST_WINDOWS: usize = 2_000;

/// How long a window goes on after the clock read: the probe's own code, to the mark.
const TAIL: u64 = 50;

/// Longest block of QEMU; a window begins that much earlier, to hold the whole block in which it begins.
const LONGEST_BLOCK: u64 = 512;

/// A sample, or a stretch, and the window to log for it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WantedLog {
    moment: SampleMoment,
    window: Range<Instructions>,
}

/// The result of a replay.
#[derive(Debug)]
pub struct ReplayResult {
    /// What ran around each sample, in the order of the request.
    pub executions: Vec<Execution>,
    /// The functions of the modules that are loaded at the cell's end.
    pub modules: Symbols,
}

/// Runs the cell again and gives what ran around each of `samples` (indices into the record's samples). `raw` is the cell's
/// result; if the replay gives anything else, that is an error, and no execution is returned.
///
/// An execution takes some MiB: for all samples of a cell use [`replay_each`].
pub fn replay(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    samples: &[usize],
    lead: Instructions,
) -> Result<ReplayResult, LabError> {
    let mut found: HashMap<usize, Execution> = HashMap::new();
    let modules = replay_each(cache, run, raw, kernel, samples, lead, |sample, execution, _| {
        found.insert(sample, execution);
        Ok(())
    })?;
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
    replay_wanted(cache, run, raw, kernel, &wanted, AtOnce::One, each)
}

/// Like [`replay_each`], for stretches of the run instead of samples: `each` gets the stretch's index. An execution's
/// due time and sample are the ends of its stretch. Returns the functions of modules.
pub(crate) fn replay_stretches(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    stretches: &[Range<Instructions>],
    mut each: impl FnMut(usize, Execution) -> Result<(), LabError>,
) -> Result<Symbols, LabError> {
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
    let each = |index, execution, _: &Symbols| each(index, execution);
    replay_wanted(cache, run, raw, kernel, &wanted, AtOnce::Two, each)
}

/// How many machines replay parts of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtOnce {
    One,
    /// Two halves, where a checkpoint lies between. What is told of one does not know the locks of the other.
    Two,
}

/// Replays in order of time.
fn replay_wanted(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    wanted: &[WantedLog],
    at_once: AtOnce,
    mut each: impl FnMut(usize, Execution, &Symbols) -> Result<(), LabError>,
) -> Result<Symbols, LabError> {
    let mips = run.prepared.subject.mips;
    let misfit = |why: &str| LabError::Stamps(cell::describe(run), why.to_string());
    let observed = |part: &[WantedLog]| {
        let windows = Windows::merged(part.iter().map(|w| w.window.clone()));
        let folder = cache.scratch()?;
        let (log, modules) = observe(cache, run, raw, kernel, &windows, folder.path())?;
        match log.windows.len() == windows.ranges().len() {
            true => Ok((log, modules)),
            false => Err(misfit("not every window was reached")),
        }
    };
    let mut modules = Symbols::default();
    for batch in batches(wanted) {
        let (first, second) = match at_once {
            AtOnce::One => (batch, &batch[..0]),
            AtOnce::Two => batch.split_at(half(cache, run, batch)?),
        };
        let (of_first, of_second) = std::thread::scope(|scope| {
            let of_second = (!second.is_empty()).then(|| scope.spawn(|| observed(second)));
            let of_first = observed(first);
            (
                of_first,
                of_second.map(|thread| thread.join().expect("a replay does not panic")),
            )
        });
        let parts = [(first, Some(of_first)), (second, of_second)];
        for (part, result) in parts.into_iter().filter_map(|(part, result)| Some((part, result?))) {
            let log;
            (log, modules) = result?;
            for one in part {
                let execution = cut(&log, one, mips).ok_or_else(|| misfit("a window is empty"))?;
                each(one.moment.index, execution, &modules)?;
            }
        }
    }
    Ok(modules)
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

/// Runs the cell with the windows logged, or the part of it that holds them, and checks that it is the same execution. Gives
/// the log, and the functions of modules.
fn observe(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    windows: &Windows,
    folder: &Path,
) -> Result<(Log, Symbols), LabError> {
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
        asked.and(modules_asked(kernel))
    };
    let checkpoints = CellCheckpoints::of(cache, run)?;
    let part = match (&checkpoints, windows.ranges().next(), windows.ranges().last()) {
        (Some(checkpoints), Some(first), Some(last)) => {
            checkpoints.part(run, raw, folder, first.start..last.end, asked)?
        }
        _ => None,
    };
    let (begin, modules) = match (part, checkpoints) {
        (Some(part), _) => part,
        (None, checkpoints) => {
            let asked = asked(Instructions(0));
            match checkpoints {
                Some(checkpoints) => checkpoints.whole(run, raw, folder, &asked)?,
                None => same_again(run, raw, folder, &asked, &Course::Whole)?,
            }
            (Instructions(0), modules_in(folder)?)
        }
    };
    let path = folder.join(WINDOWS);
    let bytes = worstcase_base::files::read(&path).map_err(LabError::io(&path))?;
    let log = log::decode(&bytes).map_err(|e| LabError::NoResult {
        what: cell::describe(run),
        reason: e.to_string(),
        console: super::message::console_end(folder),
    })?;
    Ok((log_after(log, begin), modules))
}

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

/// The part of the log for one sample.
fn cut(log: &Log, wanted: &WantedLog, mips: Mips) -> Option<Execution> {
    let moment = &wanted.moment;
    let window = log.windows.iter().find(|w| w.end >= moment.sample)?;
    let (steps, end) = steps_of(window, &wanted.window)?;
    let first = steps.first()?.count;
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut blocks = Vec::new();
    let mut own = |step: Step| Step {
        block: *numbers.entry(step.block).or_insert_with(|| {
            blocks.push(log.blocks[step.block as usize].clone());
            blocks.len() as u32 - 1
        }),
        count: step.count,
    };
    let steps = steps.into_iter().map(&mut own).collect();
    let mut elsewhere = elsewhere_in(&window.elsewhere, first..end);
    for step in elsewhere.iter_mut().flat_map(|other| &mut other.steps) {
        *step = own(*step);
    }
    Some(Execution {
        blocks,
        steps,
        elsewhere,
        end,
        tasks: since(&window.tasks, |t| t.count, first, end),
        contexts: since(&window.contexts, |c| c.count, first, end),
        lock_writes: window
            .lock_writes
            .iter()
            .filter(|w| (first..end).contains(&w.count))
            .copied()
            .collect(),
        due: moment.due,
        timer_entry: moment.timer_entry,
        sample: moment.sample,
        latency: moment.latency,
        shift: mips.shift(),
    })
}

/// The reports about other CPUs in the range, each with the known steps that its CPU executed before.
fn elsewhere_in(all: &[Elsewhere], range: Range<Instructions>) -> Vec<Elsewhere> {
    let place_of = |count: Instructions| all.partition_point(|other| other.at < count);
    let whole = |place: usize| {
        let last = &all[place];
        let mut earlier = all[..place].iter().rev().filter(|other| other.cpu == last.cpu);
        let mut parts = vec![&last.steps];
        let (mut held, mut goes_on) = (last.steps.len(), last.goes_on);
        while goes_on
            && held < last.why.blocks()
            && let Some(before) = earlier.next().filter(|before| before.task == last.task)
        {
            parts.push(&before.steps);
            held += before.steps.len();
            goes_on = before.goes_on;
        }
        Elsewhere {
            steps: parts.into_iter().rev().flatten().copied().collect(),
            task: last.task.clone(),
            ..*last
        }
    };
    (place_of(range.start)..place_of(range.end)).map(whole).collect()
}

/// The steps that start in the range, and one past their last instruction. A block that was left before its first
/// instruction was complete executed nothing, and is left out.
fn steps_of(window: &Window, range: &Range<Instructions>) -> Option<(Vec<Step>, Instructions)> {
    let all = &window.steps;
    let from = all.partition_point(|s| s.count < range.start);
    let to = all.partition_point(|s| s.count < range.end);
    let end = all.get(to).map_or(window.end, |step| step.count);
    let ends = all[from..to].iter().skip(1).map(|s| s.count).chain([end]);
    let steps = all[from..to].iter().zip(ends).filter(|(step, end)| step.count < *end);
    let steps: Vec<Step> = steps.map(|(step, _)| *step).collect();
    (!steps.is_empty()).then_some((steps, end))
}

/// The entries that hold somewhere from `first` to `end`; each entry holds until the next.
fn since<T: Clone>(all: &[T], count: impl Fn(&T) -> Instructions, first: Instructions, end: Instructions) -> Vec<T> {
    let from = all.partition_point(|t| count(t) <= first).saturating_sub(1);
    all[from..].iter().take_while(|t| count(t) < end).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{ContextFrom, LockWrite, TaskFrom, Why};
    use worstcase_contract::Nanos;

    fn wanted(from: u64, due: u64, sample: u64) -> WantedLog {
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

    fn step(block: u32, count: u64) -> Step {
        Step {
            block,
            count: Instructions(count),
        }
    }

    #[test]
    fn a_window_is_cut_to_its_sample() {
        let task = |count, pid| TaskFrom {
            count: Instructions(count),
            pid,
            comm: String::new(),
        };
        let context = |count, preempt_off| ContextFrom {
            count: Instructions(count),
            system_call: None,
            preempt_off,
        };
        let block = |address| worstcase_contract::window::Block {
            address,
            lengths: vec![1; 100],
            code: vec![0x90; 100],
        };
        let log = Log {
            blocks: vec![block(0), block(1000), block(2000)],
            windows: vec![Window {
                // The block at 250 was left at once, by a fault of its first instruction.
                steps: vec![
                    step(0, 100),
                    step(1, 200),
                    step(2, 250),
                    step(1, 250),
                    step(0, 350),
                    step(0, 450),
                ],
                end: Instructions(500),
                tasks: vec![task(100, 1), task(150, 2), task(250, 3), task(450, 4)],
                contexts: vec![context(100, false), context(260, true), context(360, false)],
                elsewhere: Vec::new(),
                lock_writes: [100, 260, 350]
                    .map(|count| LockWrite {
                        count: Instructions(count),
                        lock: 7,
                    })
                    .into(),
            }],
        };
        let execution = cut(&log, &wanted(200, 210, 300), Mips::ALL[0]).unwrap();
        assert_eq!(execution.steps, [step(0, 200), step(0, 250)]);
        assert_eq!(execution.blocks, [block(1000)]);
        assert_eq!(execution.end, Instructions(350));
        assert_eq!(execution.tasks, [task(150, 2), task(250, 3)]);
        assert_eq!(execution.contexts, [context(100, false), context(260, true)]);
        assert_eq!(execution.lock_writes.len(), 1);
        assert_eq!(execution.lock_writes[0].count, Instructions(260));
        let last = cut(&log, &wanted(350, 360, 480), Mips::ALL[0]).unwrap();
        assert_eq!(last.end, Instructions(500));
        assert_eq!(cut(&log, &wanted(600, 610, 700), Mips::ALL[0]), None);
    }

    #[test]
    fn what_another_cpu_did_before_it_was_last_looked_at_is_known_too() {
        let other = |at, cpu, pid, goes_on, first: u64| Elsewhere {
            why: Why::Sends,
            at: Instructions(at),
            cpu,
            count: Instructions(first + 20),
            task: (pid, "load".into()),
            system_call: None,
            steps: vec![step(0, first), step(1, first + 10)],
            goes_on,
        };
        let all = [
            other(90, 0, 7, false, 500),
            other(100, 0, 7, false, 1_000),
            other(110, 2, 9, false, 5_000),
            other(120, 0, 7, true, 1_020),
            other(130, 0, 7, true, 1_040),
            // Another thread; and one with missing steps.
            other(140, 0, 8, true, 1_060),
            other(150, 0, 8, false, 1_900),
        ];
        let found = elsewhere_in(&all, Instructions(120)..Instructions(200));
        let firsts: Vec<_> = found
            .iter()
            .map(|s| (s.at.0, s.steps.len(), s.steps[0].count.0))
            .collect();
        assert_eq!(
            firsts,
            [(120, 4, 1_000), (130, 6, 1_000), (140, 2, 1_060), (150, 2, 1_900)]
        );
        assert!(found.iter().all(|s| s.steps.is_sorted_by_key(|step| step.count)));
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
