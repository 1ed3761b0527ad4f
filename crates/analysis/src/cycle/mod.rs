//! A cycle of a program that was followed in the lab: what the trace tells of each part, and which functions ran meanwhile.
//!
//! ```text
//! CycleReplay  the parts of the cycle, what ran, and when          (from a replay in the lab)
//! user_code    names of the program's own code
//! CycleBreakdown  the functions of each part: they add up to it
//! ```

mod user_code;

use crate::breakdown::build::tasks;
use crate::breakdown::folded::folded_chain;
use crate::breakdown::frames::{WindowWalk, walk_with_user};
use crate::breakdown::lines::{SourceLine, SourceLines};
use crate::breakdown::spans::KernelTask;
use crate::breakdown::stacks::{FrameKind, StackId};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use user_code::UserCode;
use worstcase_contract::Nanos;
use worstcase_lab::cycle_replay::{CpuReplay, CycleReplay};
use worstcase_lab::execution::{Execution, Symbols};
use worstcase_lab::guest_clock::GuestClock;
use worstcase_traces::follow::ExplainedCycle;

/// The guest's clock shows whole nanoseconds, and runs not quite as fast as the machine's.
const ROUNDING: u64 = 3;
const DRIFT: u64 = 100_000;

/// In the place of a chain where the CPU idles.
const IDLE: &str = "[idle]";

/// Whose code a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeOwner {
    /// The kernel, or a module of it.
    Kernel,
    /// A program.
    Program,
}

/// A function and the time that it ran itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionTime {
    /// Its name; `[user] comm` of a program's code without a known function.
    pub function: String,
    /// Whose it is.
    pub owner: CodeOwner,
    /// The program's file, or the kernel's module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that took most of it, if lines are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// Time in the function itself.
    pub self_ns: Nanos,
}

/// What ran in a part; all times add up to its length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CodeTime {
    /// The functions, the longest first.
    pub functions: Vec<FunctionTime>,
    /// The CPU idled.
    pub idle_ns: Nanos,
    /// It is not known on which CPU it was, or what that CPU ran.
    pub unseen_ns: Nanos,
}

/// A cycle with its functions.
#[derive(Clone, Debug)]
pub struct CycleBreakdown {
    /// The cell.
    pub cell: String,
    /// The program and its thread.
    pub program: String,
    /// The unit of all times.
    pub unit: String,
    /// The cycle.
    pub cycle: ExplainedCycle,
    /// What ran in each of its parts.
    pub parts: Vec<CodeTime>,
    /// What ran in all of it.
    pub all: CodeTime,
    /// The call chains of each part, outermost function first, in ns.
    pub chains: Vec<BTreeMap<String, u64>>,
    /// The window.
    pub walk: WindowWalk,
    /// When that was.
    pub clock: GuestClock,
    /// The threads of the window.
    pub tasks: Vec<KernelTask>,
    /// Names of the kernel's code.
    pub symbols: Symbols,
}

/// What it is told of.
pub(crate) struct CycleSubject {
    pub(crate) cell: String,
    pub(crate) program: String,
    pub(crate) unit: String,
    /// The machine has several CPUs.
    pub(crate) has_other_cpus: bool,
}

/// What a CPU ran, with names.
struct CpuCode {
    user: UserCode,
    walk: WindowWalk,
}

impl CpuCode {
    fn of(replay: &CpuReplay, symbols: &Symbols, files: &BTreeMap<String, Vec<u8>>) -> CpuCode {
        let user = UserCode::of(files, &replay.execution.blocks);
        let names = user.functions(&replay.execution.blocks);
        let walk = walk_with_user(&replay.execution, symbols, &names);
        CpuCode { user, walk }
    }
}

/// Joins the parts and the functions. `files` are those of the machine, with the program.
pub(crate) fn tell(
    replayed: CycleReplay,
    symbols: Symbols,
    lines: &dyn SourceLines,
    files: &BTreeMap<String, Vec<u8>>,
    subject: CycleSubject,
) -> CycleBreakdown {
    let CycleReplay {
        cycle,
        measuring,
        others,
    } = replayed;
    let named = |replay: &CpuReplay| CpuCode::of(replay, &symbols, files);
    let (own, of_others) = (named(&measuring), others.iter().map(named).collect::<Vec<_>>());
    let (mut parts, mut chains) = (Vec::new(), Vec::new());
    for part in &cycle.parts {
        let length = part.to.saturating_sub(part.from);
        let other = || {
            let place = others.iter().position(|other| part.cpu == Some(other.cpu))?;
            Some((&others[place], &of_others[place]))
        };
        let is_own = !subject.has_other_cpus || part.cpu == Some(measuring.cpu);
        let Some((replay, code)) = is_own.then_some((&measuring, &own)).or_else(other) else {
            parts.push(CodeTime {
                unseen_ns: length,
                ..CodeTime::default()
            });
            chains.push(BTreeMap::new());
            continue;
        };
        let window = CycleWindow {
            execution: &replay.execution,
            walk: &code.walk,
            user: &code.user,
            lines,
        };
        let counts = replay.counts(part.from, part.to);
        let ran = window.ran(counts.clone(), length);
        parts.push(CodeTime {
            idle_ns: ran.idle,
            functions: window.functions(&ran, counts),
            unseen_ns: Nanos(0),
        });
        chains.push(window.chains(&ran));
    }
    CycleBreakdown {
        cell: subject.cell,
        program: subject.program,
        unit: subject.unit,
        all: CodeTime::sum(&parts),
        parts,
        chains,
        tasks: tasks(&measuring.execution),
        walk: own.walk,
        clock: measuring.clock,
        cycle,
        symbols,
    }
}

impl CodeTime {
    /// All of it, with each function once.
    fn sum(parts: &[CodeTime]) -> CodeTime {
        let mut all = CodeTime::default();
        let mut places: HashMap<(&str, CodeOwner, Option<&str>), usize> = HashMap::new();
        let mut longest: Vec<Nanos> = Vec::new();
        for part in parts {
            all.idle_ns.0 += part.idle_ns.0;
            all.unseen_ns.0 += part.unseen_ns.0;
            for own in &part.functions {
                let key = (own.function.as_str(), own.owner, own.file.as_deref());
                let place = *places.entry(key).or_insert_with(|| {
                    all.functions.push(FunctionTime {
                        self_ns: Nanos(0),
                        ..own.clone()
                    });
                    longest.push(own.self_ns);
                    all.functions.len() - 1
                });
                let sum = &mut all.functions[place];
                sum.self_ns.0 += own.self_ns.0;
                if own.self_ns > longest[place] {
                    (longest[place], sum.source) = (own.self_ns, own.source.clone());
                }
            }
        }
        all.functions.sort_by_key(|own| std::cmp::Reverse(own.self_ns));
        all
    }

    /// All its times together.
    pub fn total(&self) -> Nanos {
        let functions: u64 = self.functions.iter().map(|own| own.self_ns.0).sum();
        Nanos(functions + self.idle_ns.0 + self.unseen_ns.0)
    }
}

/// What is needed to tell of a range of counts.
struct CycleWindow<'a> {
    execution: &'a Execution,
    walk: &'a WindowWalk,
    user: &'a UserCode,
    lines: &'a dyn SourceLines,
}

/// Times of call chains, in themselves, which with the idle time are as long as the part.
struct RanChains {
    chains: BTreeMap<StackId, u64>,
    idle: Nanos,
}

/// A function, wherever it was called.
type FunctionKey<'a> = (&'a str, CodeOwner, Option<&'a str>);

impl<'a> CycleWindow<'a> {
    fn ran(&self, counts: Range<u64>, length: Nanos) -> RanChains {
        let mut chains: BTreeMap<StackId, u64> = BTreeMap::new();
        for interval in self.walk.within(counts.start, counts.end) {
            *chains.entry(interval.stack).or_default() += (interval.end - interval.start) << self.execution.shift;
        }
        let sum: u64 = chains.values().sum();
        let is_rounded = sum.abs_diff(length.0) <= ROUNDING + length.0 / DRIFT;
        let longest = chains.values_mut().max().filter(|_| is_rounded || sum > length.0);
        let idle = match longest {
            Some(longest) => {
                *longest = (*longest + length.0).saturating_sub(sum);
                Nanos(0)
            }
            None => length.saturating_sub(Nanos(sum)),
        };
        RanChains { chains, idle }
    }

    fn key(&self, stack: StackId) -> FunctionKey<'a> {
        let frame = self.walk.stacks.frame(stack);
        let owner = match frame.kind {
            FrameKind::User => CodeOwner::Program,
            _ => CodeOwner::Kernel,
        };
        (&frame.function, owner, frame.module.as_deref())
    }

    fn functions(&self, ran: &RanChains, counts: Range<u64>) -> Vec<FunctionTime> {
        let mut times: BTreeMap<FunctionKey<'a>, u64> = BTreeMap::new();
        for (stack, ns) in &ran.chains {
            *times.entry(self.key(*stack)).or_default() += ns;
        }
        let mut lines = self.hottest(counts);
        let time = |(key, ns): (FunctionKey<'a>, u64)| FunctionTime {
            function: key.0.to_string(),
            owner: key.1,
            file: key.2.map(str::to_string),
            source: lines.remove(&key),
            self_ns: Nanos(ns),
        };
        let mut functions: Vec<FunctionTime> = times.into_iter().map(time).collect();
        // Stable: equally long ones are in the order of their names.
        functions.sort_by_key(|own| std::cmp::Reverse(own.self_ns));
        functions
    }

    /// The line of each function that took most, as far as lines are known.
    fn hottest(&self, counts: Range<u64>) -> HashMap<FunctionKey<'a>, SourceLine> {
        let mut weights: HashMap<(StackId, usize, u64), u64> = HashMap::new();
        for interval in self.walk.within(counts.start, counts.end) {
            self.execution
                .for_each_instruction(interval.start..interval.end, |block, address| {
                    *weights.entry((interval.stack, block, address)).or_default() += 1;
                });
        }
        let mut lines: HashMap<FunctionKey<'a>, BTreeMap<SourceLine, u64>> = HashMap::new();
        for ((stack, block, address), weight) in weights {
            let key = self.key(stack);
            let source = match key.1 {
                CodeOwner::Program => self.user.source(block, address),
                CodeOwner::Kernel => self.lines.source(address),
            };
            if let Some(source) = source {
                *lines.entry(key).or_default().entry(source).or_default() += weight;
            }
        }
        let most = |(key, lines): (_, BTreeMap<SourceLine, u64>)| {
            let most = lines.into_iter().rev().max_by_key(|(_, weight)| *weight);
            Some((key, most?.0))
        };
        lines.into_iter().filter_map(most).collect()
    }

    fn chains(&self, ran: &RanChains) -> BTreeMap<String, u64> {
        let mut chains: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, ns) in &ran.chains {
            *chains.entry(folded_chain(self.walk, *stack)).or_default() += ns;
        }
        if ran.idle > Nanos(0) {
            chains.insert(IDLE.to_string(), ran.idle.0);
        }
        chains
    }
}
