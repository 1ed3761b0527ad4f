//! From an execution to its breakdown.

use super::cause::cause;
use super::chance::PreemptionChance;
use super::classify::{KindStretch, LabClassifier};
use super::frames::{WindowWalk, walk};
use super::lead::Lead;
use super::lines::SourceLines;
use super::locks::LockHolds;
use super::milestones::{Milestones, not_armed};
use super::others::OtherCpuFinder;
use super::shares::CallChainShares;
use super::sources::Sources;
use super::spans::{AtDue, Breakdown, BreakdownError, ExplainedSample, KernelTask, Peer, Since, Span, SpanKind};
use super::stacks::StackId;
use std::cell::RefCell;
use std::ops::Range;
use worstcase_base::format::grouped;
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::execution::{Execution, Symbols};

/// A breakdown with the window of the execution that it was made from. The flame graph and the trace are drawn from
/// both.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The breakdown.
    pub breakdown: Breakdown,
    /// The window.
    pub walk: WindowWalk,
    /// Its points.
    pub points: Milestones,
    /// When the breakdown of this CPU's instructions begins, from the sample's beginning on.
    pub began: Nanos,
    /// Nanoseconds per instruction, as a power of two.
    pub shift: u32,
    /// The threads of the window.
    pub tasks: Vec<KernelTask>,
}

/// What is known about a sample besides its execution.
#[derive(Clone, Debug, Default)]
pub struct LabSurroundings {
    /// The duration of an ordinary sample: the cell's minimum.
    pub floor: Nanos,
    /// The same load on other subjects.
    pub peers: Vec<Peer>,
}

/// Makes the breakdown of an execution, with the lines of source code that `lines` knows.
pub fn tell(
    execution: &Execution,
    symbols: &Symbols,
    lines: &dyn SourceLines,
    sample: ExplainedSample,
    around: &LabSurroundings,
) -> Result<Explanation, BreakdownError> {
    let walk = walk(execution, symbols);
    let sources = Sources {
        execution,
        walk: &walk,
        lines,
    };
    let (points, mut spans, mut notes) =
        begin(&sources, symbols, sample.since).ok_or(BreakdownError::Window("the due time and the sample"))?;
    let tasks = tasks(execution);
    let task_of = |pid: u32| tasks.iter().find(|t| t.pid == pid).cloned().unwrap_or_default();
    let began = spans.last().map_or(Nanos(0), |span| span.start_ns + span.length_ns);
    let call_in = |range| system_call(execution, symbols, range);
    let classifier = LabClassifier {
        walk: &walk,
        points: &points,
        began,
        chance: PreemptionChance::find(execution, &walk, &points),
        locks: &LockHolds::of(execution, &walk),
        preempts: sample.is_of_preempting_kernel(),
        time_of: &|n| execution.time_of(n).0,
        task_of: &task_of,
        sources: &sources,
        named: RefCell::default(),
    };
    let stretches = classifier.stretches();
    let others = OtherCpuFinder::of(execution, symbols, lines);
    spans.extend(to_spans(
        &sources, &points, began, &stretches, others, &task_of, &call_in,
    ));
    let cause = cause(&sample, &spans, around.floor, &around.peers);
    let first = points.before_interrupt();
    let at_due = walk.at(first).map_or_else(AtDue::default, |i| AtDue {
        task: task_of(i.pid),
        system_call: call_in(first..first + 1),
        chain: sources.chain_at(first),
    });
    notes.extend(notes_of(&classifier));
    notes.extend(execution.short_warm_up(execution.due.0).map(short_warm_up));
    let breakdown = Breakdown::new(sample, at_due, cause, spans, notes)?;
    Ok(Explanation {
        breakdown,
        walk,
        points,
        began,
        shift: execution.shift,
        tasks,
    })
}

/// The start of the sample: the points on this CPU, the spans before them, and notes.
fn begin(sources: &Sources, symbols: &Symbols, since: Since) -> Option<(Milestones, Vec<Span>, Vec<String>)> {
    let (execution, walk) = (sources.execution, sources.walk);
    let lead = match since {
        Since::Due => return Some((Milestones::find(execution, walk)?, Vec::new(), Vec::new())),
        Since::DueWithSlack => Lead::with_slack(walk, execution),
        Since::DueElsewhere | Since::Woken | Since::Pulsed => Lead::find(sources, symbols, since),
        Since::DueDevice => Lead::of_device(walk, execution),
        Since::Called => Lead::here(walk, execution),
    };
    let (due, entry) = (lead.due, lead.entry);
    let points = match since {
        Since::DueWithSlack => Milestones::with_slack(execution, walk, due, entry)?,
        _ if since.is_device() => Milestones::of_device(execution, walk, since, due, entry)?,
        _ => Milestones::without_timer(execution, walk, since, due, entry)?,
    };
    Some((points, lead.spans, lead.notes))
}

/// The threads of a window.
pub(crate) fn tasks(execution: &Execution) -> Vec<KernelTask> {
    let mut tasks: Vec<KernelTask> = Vec::new();
    // The last name counts: a thread gets its name after it begins.
    for from in execution.tasks.iter().rev() {
        if !tasks.iter().any(|t| t.pid == from.pid) {
            tasks.push(KernelTask {
                pid: from.pid,
                comm: from.comm.clone(),
            });
        }
    }
    tasks
}

/// The stretches as spans; a part of the window that was not walked becomes `Unexplained`.
fn to_spans(
    sources: &Sources,
    points: &Milestones,
    began: Nanos,
    stretches: &[KindStretch],
    mut others: OtherCpuFinder,
    task_of: &dyn Fn(u32) -> KernelTask,
    call_in: &dyn Fn(Range<u64>) -> Option<String>,
) -> Vec<Span> {
    let (execution, walk) = (sources.execution, sources.walk);
    // A timer may be due in the middle of an instruction; that part belongs to the first span.
    let time = |count: u64| match count == points.due {
        true => began,
        false => execution
            .latency
            .saturating_sub(execution.time_of(points.sample - count)),
    };
    let mut spans = Vec::new();
    let unexplained = |from: u64, to: u64| {
        let length = time(to) - time(from);
        Span {
            costs: execution.costs_in(from..to),
            ..Span::unexplained(time(from), length, Some(Instructions(to - from)))
        }
    };
    let mut at = points.due;
    for stretch in stretches {
        let (Some(first), Some(last)) = (stretch.intervals.first(), stretch.intervals.last()) else {
            continue;
        };
        if first.start > at {
            spans.push(unexplained(at, first.start));
        }
        let shares = CallChainShares::of(walk, &stretch.intervals);
        spans.push(Span {
            what: stretch.kind.clone(),
            start_ns: time(first.start),
            length_ns: time(last.end) - time(first.start),
            instructions: Some(Instructions(last.end - first.start)),
            costs: execution.costs_in(first.start..last.end),
            cpu: None,
            task: task_of(first.pid),
            system_call: match &stretch.kind {
                // The system call is not the probe's.
                SpanKind::Waits { .. } => None,
                SpanKind::NoReschedulePoint => call_in(first.start..last.end).or_else(|| entered(walk, first.stack)),
                _ => call_in(first.start..last.end),
            },
            sender: match &stretch.kind {
                SpanKind::OtherIrq { entry } => others.sender(entry, first.start),
                _ => None,
            },
            waited_for: others.waited_for(first.start..last.end),
            chain: shares
                .common()
                .map_or_else(Vec::new, |id| sources.chain(id, &stretch.intervals)),
            most: shares.most(|n| execution.time_of(n)),
            functions: shares.functions(|n| execution.time_of(n)),
            lines: sources.hottest(&stretch.intervals),
        });
        at = last.end;
    }
    if at < points.sample {
        spans.push(unexplained(at, points.sample));
    }
    spans
}

/// The system call that a call chain shows.
fn entered(walk: &WindowWalk, stack: StackId) -> Option<String> {
    let frames = walk.stacks.upwards(stack);
    super::roles::innermost_call(frames.map(|id| walk.stacks.frame(id).function.as_str())).map(str::to_string)
}

/// The system call that most of a range is in, as its manual page names it.
fn system_call(execution: &Execution, symbols: &Symbols, range: Range<u64>) -> Option<String> {
    let function = symbols.system_call(execution.system_call_in(range)?)?;
    super::roles::system_call(function).map(str::to_string)
}

/// What is told of caches that had been in use for so few instructions.
fn short_warm_up(instructions: u64) -> String {
    format!(
        "the cell begins {} instructions before: of what its caches held then nothing is known, so that too many misses may be told",
        grouped(instructions)
    )
}

fn notes_of(of: &LabClassifier<'_>) -> Vec<String> {
    let (walk, points) = (of.walk, of.points);
    let mut notes = Vec::new();
    if let Some(unarmed) = &points.unarmed {
        let until = of.began + Nanos((of.time_of)(unarmed.until - points.due));
        notes.push(not_armed(until, &(of.task_of)(unarmed.by), "hrtimer_run_softirq"));
    }
    if walk.irregular > 0 {
        notes.push(format!(
            "{} returns in the window fit no frame: the call chains around them may be wrong",
            walk.irregular
        ));
    }
    if points.ambiguous {
        notes.push("several timers expired; the probe's is taken to be the first that led to need_resched".into());
    }
    notes
}
