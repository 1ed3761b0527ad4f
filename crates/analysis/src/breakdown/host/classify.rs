//! Classifies each stretch of a recording.

use super::late::LateReason;
use super::points::HostMilestones;
use super::threads::task;
use crate::breakdown::roles;
use crate::breakdown::spans::{CodePlace, OffBy, Span, SpanKind};
use crate::breakdown::stacks::{FrameKind, StackFrame};
use worstcase_contract::Nanos;
use worstcase_host::trace::timeline::{StretchOwner, TimeStretch};
use worstcase_host::trace::{CpuContext, EventSnapshot, LatenessParts};
use worstcase_lab::execution::Symbols;

/// The data that a classification needs.
pub(crate) struct HostClassifier<'a> {
    /// The recording.
    pub(crate) snapshot: &'a EventSnapshot,
    /// Names of the kernel's code.
    pub(crate) symbols: &'a Symbols,
    /// Its points.
    pub(crate) points: &'a HostMilestones,
    /// An ordinary sample's parts.
    pub(crate) ordinary: &'a LatenessParts,
    /// Why the timer interrupt came late, if it did.
    pub(crate) late: Option<LateReason>,
    /// Whether this kernel preempts itself at any instruction.
    pub(crate) preempts: bool,
}

impl HostClassifier<'_> {
    /// The spans of a stretch: more than one where an ordinary part ends and a delay begins.
    pub(crate) fn spans(&self, stretch: &TimeStretch) -> Vec<Span> {
        let (p, ordinary) = (self.points, self.ordinary);
        let due = self.snapshot.ask.due;
        let cuts = [
            p.entered.map(|at| at.saturating_sub(ordinary.irq_latency)),
            p.switched.map(|at| at.saturating_sub(ordinary.scheduling)),
            p.entered,
            p.unarmed.as_ref().map(|unarmed| unarmed.until),
            p.held_back.as_ref().map(|held| held.from),
            p.woken,
            p.returned,
        ];
        let inside = |at: &Nanos| *at > stretch.start && *at < stretch.end;
        let mut ends: Vec<Nanos> = cuts.into_iter().flatten().filter(inside).collect();
        ends.extend([stretch.start, stretch.end]);
        ends.sort_unstable();
        let pieces = ends.windows(2).map(|ends| TimeStretch {
            start: ends[0],
            end: ends[1],
            ..*stretch
        });
        let span = |piece: TimeStretch| {
            let what = self.kind(&piece);
            let chain = self.chain(&piece, &what);
            let in_chain =
                || roles::innermost_call(chain.iter().rev().map(|f| f.function.as_str())).map(str::to_string);
            Span {
                system_call: if what == SpanKind::NoReschedulePoint {
                    in_chain()
                } else {
                    None
                },
                what,
                start_ns: piece.start - due,
                length_ns: piece.end - piece.start,
                instructions: None,
                costs: None,
                cpu: None,
                task: task(&piece.thread),
                sender: None,
                waited_for: Vec::new(),
                chain,
                most: None,
                functions: Vec::new(),
                lines: Vec::new(),
            }
        };
        pieces.map(span).collect()
    }

    fn kind(&self, s: &TimeStretch) -> SpanKind {
        let woken = self.points.woken;
        let is_before_wake = woken.is_some_and(|woken| s.end <= woken);
        let is_waking =
            self.points.entered.is_some_and(|at| s.start >= at) && self.points.left.is_some_and(|left| s.end <= left);
        match s.owner {
            StretchOwner::Unknown => SpanKind::Unexplained,
            StretchOwner::Nmi => other("nmi"),
            StretchOwner::Context(CpuContext::Soft(_)) => SpanKind::SoftIrq,
            StretchOwner::Context(CpuContext::TimerFunction { function, .. }) => {
                let is_ours = self.points.function_began.is_some_and(|began| s.start >= began);
                match is_ours && woken.is_some() {
                    true if is_before_wake => SpanKind::WakeUp,
                    true if is_waking => SpanKind::IrqExit,
                    _ => other(&self.name(function)),
                }
            }
            StretchOwner::Context(CpuContext::Timer) => match is_waking {
                true if is_before_wake => SpanKind::IrqHandler,
                true => SpanKind::IrqExit,
                false => other("local_timer"),
            },
            StretchOwner::Context(context) => other(&context.to_string()),
            StretchOwner::Thread if s.thread.tid == self.snapshot.ask.tid => self.probe(s),
            StretchOwner::Thread => self.thread(s, is_before_wake),
        }
    }

    fn probe(&self, s: &TimeStretch) -> SpanKind {
        let is_returned = self.points.returned.is_some_and(|at| s.start >= at);
        match is_returned || self.points.switched.is_none() && self.points.returned.is_none() {
            true => SpanKind::UserProbe,
            false => SpanKind::ReturnToUser,
        }
    }

    /// Another thread, or the kernel on its behalf.
    fn thread(&self, s: &TimeStretch, is_before_wake: bool) -> SpanKind {
        let p = self.points;
        let Some(woken) = p.woken else {
            return SpanKind::Unexplained;
        };
        if is_before_wake {
            return match p.entered {
                Some(entered) if s.end <= entered => self.not_interrupted(s, entered),
                Some(_) if p.ran_then == Some(s.thread.tid) => SpanKind::RunsOn,
                Some(_) => self.other_thread(s),
                None => SpanKind::Unexplained,
            };
        }
        // The kernel's numbers: the lower, the higher the priority.
        let comes_first = p
            .priority
            .is_some_and(|own| s.thread.priority <= own && s.thread.tid != 0);
        let is_ordinary = p
            .switched
            .is_some_and(|at| s.start >= at.saturating_sub(self.ordinary.scheduling).max(woken));
        match () {
            () if s.thread.tid == 0 => SpanKind::LeaveIdle,
            () if p.ran_then != Some(s.thread.tid) || (comes_first && !is_ordinary) => self.other_thread(s),
            () if is_ordinary => SpanKind::Schedule,
            () if self.preempts => SpanKind::PreemptOff {
                lock: None,
                off: None,
                by: OffBy::NotSeen,
                released: None,
            },
            () => SpanKind::NoReschedulePoint,
        }
    }

    fn other_thread(&self, s: &TimeStretch) -> SpanKind {
        SpanKind::other_thread(task(&s.thread), false)
    }

    /// The timer is due and its interrupt has not come.
    fn not_interrupted(&self, s: &TimeStretch, entered: Nanos) -> SpanKind {
        // Up to twice as long as ordinary is no delay.
        let ordinary = self.ordinary.irq_latency;
        let late = entered - self.snapshot.ask.due;
        if s.start >= entered.saturating_sub(ordinary) || late <= ordinary + ordinary {
            return SpanKind::IrqPending;
        }
        if let Some(held) = self.points.held_back.as_ref().filter(|held| s.start >= held.from)
            && self.late == Some(LateReason::HeldBack)
        {
            return SpanKind::TimersHeldBack { took_ns: held.took };
        }
        let unarmed = self.points.unarmed.as_ref();
        if let Some(unarmed) = unarmed.filter(|_| self.late == Some(LateReason::NotArmed)) {
            return match s.thread.tid {
                _ if s.start >= unarmed.until => SpanKind::IrqPending,
                tid if tid == unarmed.by => SpanKind::SoftIrq,
                _ => self.other_thread(s),
            };
        }
        let off = LateReason::InterruptsOff;
        let let_in = self.points.let_in.unwrap_or(entered);
        match &self.points.stood_at {
            Some(stood_at) if self.late == Some(off) && s.end <= let_in => SpanKind::IrqsOff {
                off: None,
                by: OffBy::NotSeen,
                on: stood_at.place().map(|place| CodePlace {
                    offset_ns: Some((let_in - self.snapshot.ask.due).0 as i64),
                    ..place
                }),
            },
            _ => match self.points.first {
                // Its way out, in which the timer's interrupt comes.
                Some(first) if s.start >= let_in => other(&first.to_string()),
                _ => SpanKind::Unexplained,
            },
        }
    }

    /// What is known about the place of a stretch: the chain of a timer interrupt that came into it.
    fn chain(&self, s: &TimeStretch, what: &SpanKind) -> Vec<StackFrame> {
        let frame = |function: String, kind| StackFrame {
            function,
            module: None,
            kind,
            source: None,
        };
        match s.owner {
            StretchOwner::Thread if s.thread.tid == self.snapshot.ask.tid => Vec::new(),
            // The place says nothing about who took the time.
            StretchOwner::Thread if *what == SpanKind::Unexplained => Vec::new(),
            StretchOwner::Thread => {
                let interrupted = match what {
                    SpanKind::IrqsOff { .. } => &self.points.stood_at,
                    _ => &self.points.interrupted,
                };
                let interrupted = interrupted.as_ref().filter(|i| i.tid == s.thread.tid);
                interrupted.map(|i| i.chain.clone()).unwrap_or_default()
            }
            StretchOwner::Context(context @ CpuContext::Soft(_)) => {
                vec![frame(context.to_string(), FrameKind::SoftIrq)]
            }
            StretchOwner::Context(CpuContext::TimerFunction { function, .. }) => {
                vec![frame(self.name(function), FrameKind::Function)]
            }
            StretchOwner::Context(context) => vec![frame(context.to_string(), FrameKind::Interrupt)],
            StretchOwner::Nmi | StretchOwner::Unknown => Vec::new(),
        }
    }

    fn name(&self, address: u64) -> String {
        let symbol = self.symbols.lookup(address).map(|symbol| symbol.name.clone());
        symbol.unwrap_or_else(|| format!("timer function {address:#x}"))
    }
}

fn other(entry: &str) -> SpanKind {
    SpanKind::OtherIrq {
        entry: entry.to_string(),
    }
}
