//! The CPU that sent the interrupt which wakes the probe.

use crate::breakdown::classify::details::off_by;
use crate::breakdown::frames::{FrameEvent, FrameMark, StackInterval, WindowWalk, walk};
use crate::breakdown::lines::SourceLines;
use crate::breakdown::others::OtherCpuFinder;
use crate::breakdown::roles::{FunctionRole, is_flag_helper};
use crate::breakdown::shares::{CallChainShares, place};
use crate::breakdown::sources::Sources;
use crate::breakdown::spans::{CodePlace, OffBy, OtherCpu, Since, Span, SpanKind};
use crate::breakdown::stacks::FrameKind;
use worstcase_contract::window::Block;
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::execution::{Elsewhere, Execution, Symbols};

/// The guest's probe runs in its first process; the thread that wakes is the process's first.
pub(crate) const WAKER: u32 = 1;

/// See the module.
pub(crate) struct InterruptSender<'a> {
    /// What is known about that CPU.
    pub(crate) other: &'a Elsewhere,
    execution: Execution,
    walk: WindowWalk,
    lines: &'a dyn SourceLines,
    told: OtherCpu,
    /// Where the CPU read the clock before it woke the probe, or where its timer interrupted it, if that is known.
    begin: Option<u64>,
}

impl<'a> InterruptSender<'a> {
    /// The sender, if it wakes a thread, as such a sample begins.
    pub(crate) fn of(
        sources: &Sources<'a>,
        symbols: &'a Symbols,
        other: &'a Elsewhere,
        since: Since,
    ) -> Option<InterruptSender<'a>> {
        if matches!(since, Since::Woken | Since::Pulsed) && other.task.0 != WAKER {
            return None;
        }
        let execution = sources.execution.of_other(other);
        let walk = walk(&execution, symbols);
        let last = walk.at(other.count.0.checked_sub(1)?)?.stack;
        // The thread's system call, its own port access, or a timer's function.
        let (wakes, begin) = match since {
            Since::Woken => (
                walk.stacks.find(last, FunctionRole::TryToWake).is_some(),
                after_clock_read(&execution),
            ),
            Since::Pulsed => (
                walk.stacks.frame(last).kind == FrameKind::User,
                after_clock_read(&execution),
            ),
            _ => (
                walk.stacks.find(last, FunctionRole::Wake).is_some(),
                interrupted_at(&walk, other.count.0),
            ),
        };
        if !wakes {
            return None;
        }
        Some(InterruptSender {
            other,
            execution,
            walk,
            lines: sources.lines,
            told: OtherCpuFinder::of(sources.execution, symbols, sources.lines).describe(other, 0),
            begin,
        })
    }

    /// Whether the place is known where the CPU began to wake the probe.
    pub(crate) fn is_whole(&self) -> bool {
        self.begin.is_some()
    }

    /// The first known instruction of that CPU.
    fn first(&self) -> u64 {
        self.execution
            .steps
            .first()
            .map_or(self.other.count.0, |step| step.count.0)
    }

    /// Where the CPU began to wake the probe, or its first known instruction.
    pub(crate) fn begin(&self) -> u64 {
        self.begin.unwrap_or_else(|| self.first())
    }

    /// The way of the interrupt that the sender sends.
    pub(crate) fn sends(&self, length: Nanos) -> Span {
        let intervals: Vec<_> = self.walk.within(self.begin(), self.other.count.0).collect();
        Span {
            sender: Some(self.told.clone()),
            ..self.span(SpanKind::Send, &intervals, length)
        }
    }

    /// What the CPU did while its timer interrupt was pending, for `length`.
    pub(crate) fn waits(&self, length: Nanos) -> Vec<Span> {
        let from = self
            .begin()
            .saturating_sub(length.0 >> self.execution.shift)
            .max(self.first());
        let time = |from: u64, to: u64| self.execution.time_of(to - from);
        // The instructions of an idle CPU do not tell how long it slept.
        if self.other.task.0 == 0 {
            return vec![Span::pending(length)];
        }
        let intervals: Vec<_> = self.walk.within(from, self.begin()).collect();
        let pieces = intervals.chunk_by(|a, b| self.kind(a) == self.kind(b));
        let pieces = pieces.filter_map(|piece| {
            let (first, last) = (piece.first()?, piece.last()?);
            let kind = match self.kind(first) {
                SpanKind::IrqsOff { .. } => self.irqs_off(first.start, last.end, from),
                other => other,
            };
            Some(self.span(kind, piece, time(first.start, last.end)))
        });
        // It is known for the task alone that ran at the end.
        let before = length.saturating_sub(time(from, self.begin()));
        let before = Span {
            cpu: Some(self.other.cpu),
            ..Span::unexplained(Nanos(0), before, None)
        };
        [before].into_iter().chain(pieces).collect()
    }

    fn kind(&self, i: &StackInterval) -> SpanKind {
        let stacks = &self.walk.stacks;
        match (stacks.find_kind(i.stack, FrameKind::Interrupt), i.irqs) {
            (Some(frame), _) => SpanKind::OtherIrq {
                entry: self.walk.interrupts(frame, i.start).join("+"),
            },
            (None, Some(false)) => SpanKind::IrqsOff {
                off: None,
                on: None,
                by: OffBy::default(),
            },
            (None, _) => SpanKind::IrqPending,
        }
    }

    /// The code that switched interrupts off and on; times are counted from instruction `from`.
    fn irqs_off(&self, start: u64, end: u64, from: u64) -> SpanKind {
        let place = |mark: &FrameMark| CodePlace {
            offset_ns: Some((mark.count as i64 - from as i64) << self.execution.shift),
            ..place(&self.walk, mark.stack, is_flag_helper).0
        };
        let after = self.walk.marks_within(end, self.other.count.0).iter();
        let off = self.walk.interrupts_off_by(start);
        SpanKind::IrqsOff {
            by: off.map_or(OffBy::NotSeen, |mark| off_by(&self.walk, mark)),
            off: off.map(place),
            on: after.clone().find(|m| m.what == FrameEvent::IrqsOn).map(place),
        }
    }

    fn span(&self, what: SpanKind, intervals: &[StackInterval], length: Nanos) -> Span {
        let sources = Sources {
            execution: &self.execution,
            walk: &self.walk,
            lines: self.lines,
        };
        let shares = CallChainShares::of(&self.walk, intervals);
        let time_of = |n| self.execution.time_of(n);
        let executed = intervals.iter().map(|i| i.end - i.start).sum();
        Span {
            what,
            cpu: Some(self.other.cpu),
            task: self.told.task.clone(),
            system_call: self.told.system_call.clone(),
            chain: shares.common().map_or_else(Vec::new, |id| sources.chain(id, intervals)),
            most: shares.most(time_of),
            functions: shares.functions(time_of),
            lines: sources.hottest(intervals),
            ..Span::unexplained(Nanos(0), length, Some(Instructions(executed)))
        }
    }
}

/// The first instruction of the interrupt in which the last instruction before `count` is.
fn interrupted_at(walk: &WindowWalk, count: u64) -> Option<u64> {
    let last = walk.at(count.checked_sub(1)?)?;
    let frame = walk.stacks.find_kind(last.stack, FrameKind::Interrupt)?;
    let before: Vec<_> = walk.within(0, count).collect();
    let within = before
        .iter()
        .rev()
        .take_while(|i| i.pid == last.pid && walk.stacks.is_within(i.stack, frame));
    within.last().map(|i| i.start)
}

/// One past the last instruction of user code that reads the clock.
fn after_clock_read(execution: &Execution) -> Option<u64> {
    (0..execution.steps.len()).rev().find_map(|number| {
        let span = execution.span(number);
        let block = &execution.blocks[execution.steps[number].block as usize];
        let executed = (span.end - span.start) as usize;
        let read = clock_read(block, executed).filter(|_| block.address >> 63 == 0)?;
        Some(span.start + read as u64 + 1)
    })
}

/// The last of a block's first instructions that reads the clock.
fn clock_read(block: &Block, executed: usize) -> Option<usize> {
    const RDTSC: &[u8] = &[0x0f, 0x31];
    const RDTSCP: &[u8] = &[0x0f, 0x01, 0xf9];
    let mut code = &block.code[..];
    let instructions = block.lengths.iter().take(executed).map(|length| {
        let (one, rest) = code.split_at(usize::from(*length));
        code = rest;
        one == RDTSC || one == RDTSCP
    });
    let reads: Vec<bool> = instructions.collect();
    reads.iter().rposition(|reads| *reads)
}
