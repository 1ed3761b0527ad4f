//! One gap: the threads and interrupts that took the CPU, for how many instructions each, and the senders on other
//! CPUs.

use crate::breakdown::frames::{FrameEvent, StackInterval, WindowWalk, walk};
use crate::breakdown::lines::SourceLines;
use crate::breakdown::others::OtherCpuFinder;
use crate::breakdown::roles::{self, FunctionRole};
use crate::breakdown::spans::OtherCpu;
use crate::breakdown::stacks::{FrameKind, StackId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use worstcase_lab::execution::{Elsewhere, Execution, Symbols};

/// The thread or interrupt that takes the CPU from the running thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Who {
    /// An interrupt.
    Interrupt {
        /// Its entry; where all interrupts have one (arm64), what came by it, with a `+` between.
        entry: String,
        /// The functions that it calls: of a timer, or of a call that another CPU asked for.
        functions: Vec<String>,
    },
    /// A soft interrupt.
    SoftIrq {
        /// Its function.
        action: String,
        /// The functions that the action calls.
        functions: Vec<String>,
    },
    /// A fault or trap.
    Exception {
        /// Its entry.
        entry: String,
    },
    /// The scheduler, to choose and to switch.
    Scheduler,
    /// Another thread.
    Thread {
        /// Its name; all workers have one.
        comm: String,
        /// For a worker: the functions of its work items.
        functions: Vec<String>,
    },
    /// The kernel, for the thread itself.
    Kernel,
    /// The thread itself took longer, as it does when it reads a clock that another CPU sets.
    Itself,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, functions): (String, &[String]) = match self {
            Who::Interrupt { entry, functions } => (interrupt(entry), functions),
            Who::SoftIrq { action, functions } => (format!("soft interrupt {action}"), functions),
            Who::Exception { entry } => (format!("exception {}", entry.trim_start_matches("asm_exc_")), &[]),
            Who::Scheduler => ("scheduler".into(), &[]),
            Who::Thread { comm, functions } => (format!("thread {comm}"), functions),
            Who::Kernel => ("the kernel, for the thread itself".into(), &[]),
            Who::Itself => ("the thread itself".into(), &[]),
        };
        match functions.is_empty() {
            true => f.write_str(&what),
            false => write!(f, "{what}: {}", functions.join(" + ")),
        }
    }
}

fn interrupt(entry: &str) -> String {
    if let Some((first, more)) = entry.split_once('+') {
        return format!("{} and {}", interrupt(first), interrupt(more));
    }
    match entry.trim_start_matches("asm_").trim_start_matches("sysvec_") {
        "apic_timer_interrupt" | "timer_interrupt" => "timer interrupt".into(),
        "call_function" | "call_function_single" => "call from another CPU".into(),
        "reschedule_ipi" => "reschedule from another CPU".into(),
        "irq_work" => "irq work".into(),
        _ if roles::is_entry_of_all(entry) => "interrupt".into(),
        other => format!("interrupt {other}"),
    }
}

/// A part of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapPart {
    /// The thread or interrupt.
    pub(crate) who: Who,
    /// The number of times that it came.
    pub times: u64,
    /// Instructions, all together.
    pub instructions: u64,
    /// For an interrupt from another CPU: its sender, if that is known.
    pub sender: Option<OtherCpu>,
}

/// The owner of an interval, before its functions are known.
#[derive(Clone, PartialEq, Eq, Hash)]
enum GapOwner {
    /// An interrupt or exception, by its frame.
    Entry(StackId),
    /// Soft interrupts, by their frame, and the one of them that runs.
    SoftIrq(StackId, Option<String>),
    Scheduler,
    Thread(u32),
    Kernel,
}

struct GatheredPart {
    owner: GapOwner,
    /// An interrupt's names.
    came: Vec<String>,
    functions: Vec<String>,
    times: u64,
    instructions: u64,
    sender: Option<OtherCpu>,
}

/// The parts of a gap, in the order in which they began. With the thread's own instructions they are the whole gap.
pub fn parts(execution: &Execution, symbols: &Symbols, lines: &dyn SourceLines) -> Vec<GapPart> {
    let (start, end) = (execution.due.0, execution.sample.0);
    let gap = gap(execution);
    let walk = walk(&gap, symbols);
    let Some(own) = walk.at(end.saturating_sub(1)).map(|i| i.pid) else {
        return Vec::new();
    };
    let mut gathered = gather(&walk, start..end, own);
    if gathered.is_empty() {
        return vec![GapPart {
            who: Who::Itself,
            times: 1,
            instructions: end - start,
            sender: None,
        }];
    }
    let mut others = OtherCpuFinder::of(&gap, symbols, lines);
    for mark in walk.marks_within(start, end) {
        let entered = matches!(
            mark.what,
            FrameEvent::Enter(FunctionRole::InterruptEntry | FunctionRole::ExceptionEntry)
        );
        let place = gathered
            .iter()
            .position(|part| part.owner == GapOwner::Entry(mark.stack));
        let Some(place) = place.filter(|_| entered) else {
            continue;
        };
        let part = &mut gathered[place];
        part.times += 1;
        for came in walk.interrupts(mark.stack, mark.count) {
            let sender = others.sender(came, mark.count);
            part.sender = part.sender.take().or(sender);
            if !part.came.iter().any(|known| known == came) {
                part.came.push(came.to_string());
            }
        }
    }
    let comm = |pid| {
        execution
            .tasks
            .iter()
            .rev()
            .find(|t| t.pid == pid)
            .map_or("", |t| &*t.comm)
    };
    let part = |g: GatheredPart| GapPart {
        who: who(&walk, g.owner, &g.came, g.functions, comm),
        times: g.times.max(1),
        instructions: g.instructions,
        sender: g.sender,
    };
    gathered.into_iter().map(part).collect()
}

/// Blocks of a sender that are looked at: enough for its last calls. There may be thousands of senders.
const SENDERS_BLOCKS: usize = 2_000;

/// The gap alone, without what lies before it; that is there for its senders.
fn gap(execution: &Execution) -> Execution {
    let before = execution
        .steps
        .partition_point(|step| step.count < execution.due)
        .saturating_sub(1);
    let last = |sent: &Elsewhere| Elsewhere {
        steps: sent.steps[sent.steps.len().saturating_sub(SENDERS_BLOCKS)..].to_vec(),
        task: sent.task.clone(),
        ..*sent
    };
    Execution {
        blocks: execution.blocks.clone(),
        steps: execution.steps[before..].to_vec(),
        tasks: execution.tasks.clone(),
        contexts: execution.contexts.clone(),
        elsewhere: execution.elsewhere.iter().map(last).collect(),
        lock_writes: execution.lock_writes.clone(),
        costs: execution.costs.clone(),
        ..*execution
    }
}

fn gather(walk: &WindowWalk, range: Range<u64>, own: u32) -> Vec<GatheredPart> {
    let mut gathered: Vec<GatheredPart> = Vec::new();
    // A function that a soft interrupt's action jumped to takes the action's place in the chain.
    let mut soft: Option<String> = None;
    for interval in walk.within(range.start, range.end) {
        let Some(mut found) = owner(walk, &interval, own) else {
            continue;
        };
        if let GapOwner::SoftIrq(_, action) = &mut found.owner {
            match found.jumped_to {
                true => action.clone_from(&soft),
                false => soft.clone_from(action),
            }
        }
        let known = gathered.iter().position(|part| part.owner == found.owner);
        let place = known.unwrap_or_else(|| {
            gathered.push(GatheredPart {
                owner: found.owner,
                came: Vec::new(),
                functions: Vec::new(),
                times: 0,
                instructions: 0,
                sender: None,
            });
            gathered.len() - 1
        });
        let part = &mut gathered[place];
        part.instructions += interval.end - interval.start;
        if let Some(called) = found.called.filter(|called| !part.functions.contains(&called.function)) {
            // A function that a called function jumped to takes its place in the chain.
            if !called.jumped_to || part.functions.is_empty() {
                part.functions.push(called.function);
                part.functions.sort();
            }
        }
    }
    with_overhead(gathered)
}

/// The overhead of soft interrupts, outside their functions, is added to the first of these functions.
fn with_overhead(mut gathered: Vec<GatheredPart>) -> Vec<GatheredPart> {
    while let Some(place) = gathered
        .iter()
        .position(|g| matches!(g.owner, GapOwner::SoftIrq(_, None)))
    {
        let GapOwner::SoftIrq(frame, _) = gathered[place].owner else {
            unreachable!("that was looked for")
        };
        let of_it = |g: &GatheredPart| matches!(&g.owner, GapOwner::SoftIrq(other, Some(_)) if *other == frame);
        match gathered.iter().position(of_it) {
            Some(first) => {
                gathered[first].instructions += gathered[place].instructions;
                gathered.remove(place);
            }
            None => gathered[place].owner = GapOwner::SoftIrq(frame, Some(String::new())),
        }
    }
    gathered
}

fn who<'a>(
    walk: &WindowWalk,
    owner: GapOwner,
    came: &[String],
    functions: Vec<String>,
    comm: impl Fn(u32) -> &'a str,
) -> Who {
    match owner {
        GapOwner::Entry(frame) => {
            let frame = walk.stacks.frame(frame);
            match frame.kind {
                FrameKind::Exception => Who::Exception {
                    entry: frame.function.clone(),
                },
                // The gap may begin behind its entry.
                _ if came.is_empty() => Who::Interrupt {
                    entry: frame.function.clone(),
                    functions,
                },
                _ => Who::Interrupt {
                    entry: came.join("+"),
                    functions,
                },
            }
        }
        GapOwner::SoftIrq(_, action) => Who::SoftIrq {
            action: action.unwrap_or_default(),
            functions,
        },
        GapOwner::Scheduler => Who::Scheduler,
        GapOwner::Kernel => Who::Kernel,
        GapOwner::Thread(pid) => {
            let comm = comm(pid);
            let comm = if comm.starts_with("kworker/") { "kworker" } else { comm };
            Who::Thread {
                comm: comm.into(),
                functions,
            }
        }
    }
}

struct IntervalOwner {
    owner: GapOwner,
    /// The function that runs on behalf of code that asked for it.
    called: Option<CalledFunction>,
    /// Another function jumped to the soft interrupt's.
    jumped_to: bool,
}

struct CalledFunction {
    function: String,
    /// Another function jumped to it.
    jumped_to: bool,
}

/// The owner of an interval, unless the thread itself runs.
fn owner(walk: &WindowWalk, interval: &StackInterval, own: u32) -> Option<IntervalOwner> {
    let stacks = &walk.stacks;
    let is_entry = |id: &StackId| {
        let kind = stacks.frame(*id).kind;
        matches!(kind, FrameKind::SoftIrq | FrameKind::Interrupt | FrameKind::Exception)
    };
    let entry = stacks.upwards(interval.stack).find(is_entry);
    let mut within: Vec<StackId> = stacks
        .upwards(interval.stack)
        .take_while(|id| Some(*id) != entry)
        .filter(|id| stacks.role(*id) != Some(FunctionRole::Thunk))
        .collect();
    within.reverse();
    let schedules = [FunctionRole::Schedule, FunctionRole::SwitchTo, FunctionRole::SwitchWork];
    let has = |roles: &[FunctionRole]| {
        within
            .iter()
            .any(|id| stacks.role(*id).is_some_and(|role| roles.contains(&role)))
    };
    let called = || called_by_queue(walk, &within);
    let found = |owner, called| {
        Some(IntervalOwner {
            owner,
            called,
            jumped_to: false,
        })
    };
    match entry {
        _ if has(&schedules) => found(GapOwner::Scheduler, None),
        Some(entry) if stacks.frame(entry).kind == FrameKind::SoftIrq => {
            let action = within.first().map(|id| stacks.frame(*id));
            let action = action.filter(|frame| !roles::is_helper(&frame.function));
            Some(IntervalOwner {
                jumped_to: action.is_some_and(|frame| frame.kind == FrameKind::TailCall),
                owner: GapOwner::SoftIrq(entry, action.map(|frame| frame.function.clone())),
                called: called(),
            })
        }
        Some(entry) => found(GapOwner::Entry(entry), called()),
        None if interval.pid != own => found(GapOwner::Thread(interval.pid), called()),
        None if stacks.frame(interval.stack).kind == FrameKind::User => None,
        None => found(GapOwner::Kernel, None),
    }
}

/// The function that a queue calls on behalf of other code, in frames from the outermost on.
fn called_by_queue(walk: &WindowWalk, frames: &[StackId]) -> Option<CalledFunction> {
    let name = |id: &StackId| walk.stacks.frame(*id).function.as_str();
    let alone = frames.iter().find(|id| roles::is_jumped_to_by_queue(name(id)));
    let queue = frames.iter().rposition(|id| roles::is_queue(name(id)));
    let of_queue = queue.and_then(|queue| frames.get(queue + 1));
    let called = alone.or(of_queue.filter(|id| !roles::is_of_queue(name(id))))?;
    Some(CalledFunction {
        function: name(called).to_string(),
        jumped_to: walk.stacks.frame(*called).kind == FrameKind::TailCall,
    })
}
