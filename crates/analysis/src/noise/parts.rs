//! One gap: who took the CPU in it, for how many instructions, and who sent what came from another CPU.

use crate::breakdown::frames::{Interval, Walk, What, walk};
use crate::breakdown::lines::Lines;
use crate::breakdown::others::Others;
use crate::breakdown::roles::{self, Role};
use crate::breakdown::spans::OtherCpu;
use crate::breakdown::stacks::{FrameKind, StackId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use worstcase_lab::execution::{Elsewhere, Execution, Symbols};

/// Who takes the CPU from the thread that runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Who {
    /// An interrupt.
    Interrupt {
        /// Its entry.
        entry: String,
        /// What it was to call: a timer's function, one that another CPU asks for.
        functions: Vec<String>,
    },
    /// A soft interrupt.
    SoftIrq {
        /// Its function.
        action: String,
        /// What that was to call.
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
        /// Of a worker: what it works on.
        functions: Vec<String>,
    },
    /// The kernel, for the thread itself.
    Kernel,
    /// Nobody: the thread itself took longer, as it does when it reads a clock that another CPU sets.
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
    match entry.trim_start_matches("asm_").trim_start_matches("sysvec_") {
        "apic_timer_interrupt" => "timer interrupt".into(),
        "call_function" | "call_function_single" => "call from another CPU".into(),
        "reschedule_ipi" => "reschedule from another CPU".into(),
        "irq_work" => "irq work".into(),
        other => format!("interrupt {other}"),
    }
}

/// A part of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Who.
    pub who: Who,
    /// How often it came.
    pub times: u64,
    /// Instructions, all together.
    pub instructions: u64,
    /// Of what came from another CPU: who sent it, if that is known.
    pub sender: Option<OtherCpu>,
}

/// Who the CPU runs for, until it is known what for.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Owner {
    /// An interrupt or exception, by its frame.
    Entry(StackId),
    /// Soft interrupts, by their frame, and the one of them that runs.
    SoftIrq(StackId, Option<String>),
    Scheduler,
    Thread(u32),
    Kernel,
}

struct Gathered {
    owner: Owner,
    functions: Vec<String>,
    times: u64,
    instructions: u64,
    sender: Option<OtherCpu>,
}

/// The parts of a gap, in the order in which they began. With the thread's own instructions they are the gap.
pub fn parts(execution: &Execution, symbols: &Symbols, lines: &dyn Lines) -> Vec<Part> {
    let (start, end) = (execution.due.0, execution.sample.0);
    let gap = gap(execution);
    let walk = walk(&gap, symbols);
    let Some(own) = walk.at(end.saturating_sub(1)).map(|i| i.pid) else {
        return Vec::new();
    };
    let mut gathered = gather(&walk, start..end, own);
    if gathered.is_empty() {
        return vec![Part {
            who: Who::Itself,
            times: 1,
            instructions: end - start,
            sender: None,
        }];
    }
    let mut others = Others::of(&gap, symbols, lines);
    for mark in walk.marks_within(start, end) {
        let entered = matches!(mark.what, What::Enter(Role::InterruptEntry | Role::ExceptionEntry));
        let place = gathered.iter().position(|part| part.owner == Owner::Entry(mark.stack));
        let Some(place) = place.filter(|_| entered) else {
            continue;
        };
        let part = &mut gathered[place];
        part.times += 1;
        let sender = others.sender(&walk.stacks.frame(mark.stack).function, mark.count);
        part.sender = part.sender.take().or(sender);
    }
    let comm = |pid| {
        execution
            .tasks
            .iter()
            .rev()
            .find(|t| t.pid == pid)
            .map_or("", |t| &*t.comm)
    };
    let part = |g: Gathered| Part {
        who: who(&walk, g.owner, g.functions, comm),
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
        ..*execution
    }
}

fn gather(walk: &Walk, range: Range<u64>, own: u32) -> Vec<Gathered> {
    let mut gathered: Vec<Gathered> = Vec::new();
    // What a soft interrupt jumped to stands in its place in the chain.
    let mut soft: Option<String> = None;
    for interval in walk.within(range.start, range.end) {
        let Some(mut found) = owner(walk, &interval, own) else {
            continue;
        };
        if let Owner::SoftIrq(_, action) = &mut found.owner {
            match found.jumped_to {
                true => action.clone_from(&soft),
                false => soft.clone_from(action),
            }
        }
        let known = gathered.iter().position(|part| part.owner == found.owner);
        let place = known.unwrap_or_else(|| {
            gathered.push(Gathered {
                owner: found.owner,
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
            // What a function that was called jumps to stands in its place.
            if !called.jumped_to || part.functions.is_empty() {
                part.functions.push(called.function);
                part.functions.sort();
            }
        }
    }
    with_overhead(gathered)
}

/// What soft interrupts take beside the functions that they are for goes to the first of these.
fn with_overhead(mut gathered: Vec<Gathered>) -> Vec<Gathered> {
    while let Some(place) = gathered.iter().position(|g| matches!(g.owner, Owner::SoftIrq(_, None))) {
        let Owner::SoftIrq(frame, _) = gathered[place].owner else {
            unreachable!("that was looked for")
        };
        let of_it = |g: &Gathered| matches!(&g.owner, Owner::SoftIrq(other, Some(_)) if *other == frame);
        match gathered.iter().position(of_it) {
            Some(first) => {
                gathered[first].instructions += gathered[place].instructions;
                gathered.remove(place);
            }
            None => gathered[place].owner = Owner::SoftIrq(frame, Some(String::new())),
        }
    }
    gathered
}

fn who<'a>(walk: &Walk, owner: Owner, functions: Vec<String>, comm: impl Fn(u32) -> &'a str) -> Who {
    match owner {
        Owner::Entry(frame) => {
            let frame = walk.stacks.frame(frame);
            let entry = frame.function.clone();
            match frame.kind {
                FrameKind::Exception => Who::Exception { entry },
                _ => Who::Interrupt { entry, functions },
            }
        }
        Owner::SoftIrq(_, action) => Who::SoftIrq {
            action: action.unwrap_or_default(),
            functions,
        },
        Owner::Scheduler => Who::Scheduler,
        Owner::Kernel => Who::Kernel,
        Owner::Thread(pid) => {
            let comm = comm(pid);
            let comm = if comm.starts_with("kworker/") { "kworker" } else { comm };
            Who::Thread {
                comm: comm.into(),
                functions,
            }
        }
    }
}

/// What an interval belongs to.
struct Found {
    owner: Owner,
    /// A function that runs on behalf of somebody who asked for it.
    called: Option<Called>,
    /// Another function jumped to the soft interrupt's.
    jumped_to: bool,
}

struct Called {
    function: String,
    /// Another function jumped to it.
    jumped_to: bool,
}

/// Who runs, if anybody but the thread itself does.
fn owner(walk: &Walk, interval: &Interval, own: u32) -> Option<Found> {
    let stacks = &walk.stacks;
    let is_entry = |id: &StackId| {
        let kind = stacks.frame(*id).kind;
        matches!(kind, FrameKind::SoftIrq | FrameKind::Interrupt | FrameKind::Exception)
    };
    let entry = stacks.upwards(interval.stack).find(is_entry);
    let mut within: Vec<StackId> = stacks
        .upwards(interval.stack)
        .take_while(|id| Some(*id) != entry)
        .filter(|id| stacks.role(*id) != Some(Role::Thunk))
        .collect();
    within.reverse();
    let schedules = [Role::Schedule, Role::SwitchTo, Role::SwitchWork];
    let has = |roles: &[Role]| {
        within
            .iter()
            .any(|id| stacks.role(*id).is_some_and(|role| roles.contains(&role)))
    };
    let called = || called_by_queue(walk, &within);
    let found = |owner, called| {
        Some(Found {
            owner,
            called,
            jumped_to: false,
        })
    };
    match entry {
        _ if has(&schedules) => found(Owner::Scheduler, None),
        Some(entry) if stacks.frame(entry).kind == FrameKind::SoftIrq => {
            let action = within.first().map(|id| stacks.frame(*id));
            let action = action.filter(|frame| !roles::is_helper(&frame.function));
            Some(Found {
                jumped_to: action.is_some_and(|frame| frame.kind == FrameKind::TailCall),
                owner: Owner::SoftIrq(entry, action.map(|frame| frame.function.clone())),
                called: called(),
            })
        }
        Some(entry) => found(Owner::Entry(entry), called()),
        None if interval.pid != own => found(Owner::Thread(interval.pid), called()),
        None if stacks.frame(interval.stack).kind == FrameKind::User => None,
        None => found(Owner::Kernel, None),
    }
}

/// The function that is called on behalf of somebody, of frames from the outermost on.
fn called_by_queue(walk: &Walk, frames: &[StackId]) -> Option<Called> {
    let name = |id: &StackId| walk.stacks.frame(*id).function.as_str();
    let alone = frames.iter().find(|id| roles::is_jumped_to_by_queue(name(id)));
    let queue = frames.iter().rposition(|id| roles::is_queue(name(id)));
    let of_queue = queue.and_then(|queue| frames.get(queue + 1));
    let called = alone.or(of_queue.filter(|id| !roles::is_of_queue(name(id))))?;
    Some(Called {
        function: name(called).to_string(),
        jumped_to: walk.stacks.frame(*called).kind == FrameKind::TailCall,
    })
}
