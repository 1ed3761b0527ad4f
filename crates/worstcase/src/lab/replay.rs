//! A cell again, with every block logged around chosen samples.
//!
//! ```text
//! samples -> a window each, from before the due time to behind the clock read
//!         -> merged for the plugin -> the same cell runs -> record and events must be what they were
//!         -> the log, cut to each sample's window -> Execution
//! ```
//! **Due times.** Counts are exact, and so is the due time in them: between a timer's due time and its sample the CPU does
//! not idle, so the due time lies as many instructions before the clock read as the latency says. A CPU that idled until
//! then was woken by the timer; the due time is then the end of the idle stretch. (A real-time task that the kernel
//! throttles can be due while the CPU idles; such a due time comes out too early.)

use super::LabError;
use super::cell::{self, Raw, Run};
use super::machine::{Mips, quoted};
use super::stamps;
use super::symbols::KernelSymbols;
use crate::cache::Cache;
use crate::story::execution::{Execution, Step, TaskFrom};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use worstcase_probe::window::ask::Windows;
use worstcase_probe::window::log::{self, Log, Window};
use worstcase_probe::{Instructions, Nanos};

/// How long before the due time a window begins, unless asked otherwise: longer than interrupts stay off.
pub const LEAD: Instructions = Instructions(200_000);

/// A window goes on for this long behind the clock read: the probe's own code, to the mark.
const TAIL: u64 = 50;

/// No block of QEMU is longer; a window begins by so much earlier that it holds the whole block it is to begin in.
const LONGEST_BLOCK: u64 = 512;

/// One sample in instruction counts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moment {
    due: Instructions,
    timer_entry: Option<Instructions>,
    sample: Instructions,
    latency: Nanos,
    window: Range<Instructions>,
}

/// Runs the cell again and gives what ran around each of `samples` (indices into the record's samples), in their
/// order. `raw` is what the cell gave; if the replay gives anything else, it is an error, and nothing is told.
pub fn replay(
    cache: &Cache,
    run: &Run,
    raw: &Raw,
    kernel: &KernelSymbols,
    samples: &[usize],
    lead: Instructions,
) -> Result<Vec<Execution>, LabError> {
    let mips = run.prepared.subject.machine.mips;
    let misfit = |why: String| LabError::Stamps(cell::describe(run), why);
    let moments = moments(raw, samples, lead, mips).map_err(misfit)?;
    let windows = Windows::merged(moments.iter().map(|m| m.window.clone()));
    if windows.ranges().len() == 0 {
        return Ok(Vec::new());
    }
    let scratch = cache.area("scratch")?;
    let folder = tempfile::tempdir_in(&scratch).map_err(LabError::io(&scratch))?;
    let log = observe(run, raw, kernel, &windows, folder.path())?;
    if log.windows.len() != windows.ranges().len() {
        return Err(misfit("not every window was reached".into()));
    }
    let cut = |moment: &Moment| cut(&log, moment, mips).ok_or_else(|| misfit("a window is empty".into()));
    moments.iter().map(cut).collect()
}

/// Where each sample lies, and what to log for it.
fn moments(raw: &Raw, samples: &[usize], lead: Instructions, mips: Mips) -> Result<Vec<Moment>, String> {
    let reads = stamps::clock_reads(&raw.events)?;
    let entries = stamps::timer_entries(&raw.events);
    let moment = |&i: &usize| {
        let (Some(sample), Some(&read)) = (raw.record.samples.get(i), reads.get(i)) else {
            return Err(format!("there is no sample {i}"));
        };
        // The clock shows the time after the instruction that reads it.
        let shown = Instructions(read.0 + 1);
        let due = Instructions(shown.0.saturating_sub(sample.latency.0 >> mips.shift()));
        let before = i.checked_sub(1).map_or(0, |before| reads[before].0);
        // Not beyond the sample before: what happened until then is its story. Unless it came after this due time.
        let from = due.0.saturating_sub(lead.0).max(before.min(due.0));
        Ok(Moment {
            due,
            timer_entry: stamps::entry_after_due(sample.latency, read, &entries, mips),
            sample: shown,
            latency: sample.latency,
            window: Instructions(from.saturating_sub(LONGEST_BLOCK))..Instructions(read.0 + TAIL),
        })
    };
    samples.iter().map(moment).collect()
}

/// Runs the cell with the windows logged, and makes sure that it is the same execution.
fn observe(run: &Run, raw: &Raw, kernel: &KernelSymbols, windows: &Windows, folder: &Path) -> Result<Log, LabError> {
    let path = folder.join("windows");
    let plugin = format!(
        ",windows={windows},window_log={},tasks={},memory={}",
        quoted(&path),
        kernel.tasks,
        quoted(&run.snapshot.memory())
    );
    let again = cell::execute_watched(run, folder, &plugin)?;
    let differs = |what| Err(LabError::OtherExecution(cell::describe(run), what));
    if again.record != raw.record {
        return differs("the records");
    }
    if again.events != raw.events {
        return differs("the plugin's events");
    }
    let bytes = std::fs::read(&path).map_err(LabError::io(&path))?;
    log::decode(&bytes).map_err(|e| LabError::NoResult {
        what: cell::describe(run),
        reason: e.to_string(),
        console: super::snapshot::console_end(folder),
    })
}

/// What the log holds for one sample.
fn cut(log: &Log, moment: &Moment, mips: Mips) -> Option<Execution> {
    let window = log.windows.iter().find(|w| w.end >= moment.sample)?;
    let (steps, end) = steps_of(window, &moment.window)?;
    let first = steps.first()?.count;
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut blocks = Vec::new();
    let steps = steps
        .into_iter()
        .map(|step| {
            let number = *numbers.entry(step.block).or_insert_with(|| {
                blocks.push(log.blocks[step.block as usize].clone());
                blocks.len() as u32 - 1
            });
            Step {
                block: number,
                count: step.count,
            }
        })
        .collect();
    Some(Execution {
        blocks,
        steps,
        end,
        tasks: tasks_of(window, first, end),
        due: moment.due,
        timer_entry: moment.timer_entry,
        sample: moment.sample,
        latency: moment.latency,
        shift: mips.shift(),
    })
}

/// The steps that start in the range, and one past their last instruction. A block that was left before its first
/// instruction was complete executed nothing and is left out.
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

/// Who was current from `first` to `end`.
fn tasks_of(window: &Window, first: Instructions, end: Instructions) -> Vec<TaskFrom> {
    let from = window.tasks.partition_point(|t| t.count <= first).saturating_sub(1);
    let tasks = window.tasks[from..].iter().take_while(|t| t.count < end);
    tasks.cloned().collect()
}
