//! One span of this machine against the lab's paths.
//!
//! To refute a path is the stronger statement, so it needs more: the lab ran what is blamed (the load's own thread, or code that
//! a path of the lab names), its length does not grow with a number that the load decides, and no section of its kind under
//! this load, wherever it is, is long enough.

use super::paths::LabPaths;
use super::place::HostPlace;
use super::{HostSide, Judgement, LabAnswer, LabPath, LabPathKind, NotSeenReason, words};
use crate::breakdown::spans::{Span, SpanKind};
use crate::census::counted::counted_work;
use worstcase_contract::Nanos;

/// Processes of loads are called so, here and in the lab; and the idle task.
const OF_EVERY_CELL: [&str; 2] = ["load-", "swapper"];

/// The means to judge.
pub(crate) struct Judge<'a> {
    /// The lab's paths.
    pub(crate) lab: &'a LabPaths,
    /// This machine's side.
    pub(crate) machine: &'a HostSide,
    /// Whether both kernels have the same preemption model in force.
    pub(crate) is_same_model: bool,
    /// Whether the lab's machine has fewer CPUs than this one.
    pub(crate) has_fewer_cpus: bool,
}

impl Judge<'_> {
    /// The judgement of a span; `waits` if the timer's interrupt had not come until its end.
    pub(crate) fn of(&self, span: &Span, waits: bool) -> Judgement {
        let is_unexplained = span.what == SpanKind::Unexplained;
        let kind = match is_unexplained && waits {
            // Only interrupts that are off hold an interrupt back, unless the CPU is stopped.
            true => Some(LabPathKind::InterruptsOff),
            false => LabPathKind::of(&span.what),
        };
        let place = HostPlace::of(span);
        let longest = kind.and_then(|kind| self.lab.longest(kind));
        let at_place = match kind {
            Some(LabPathKind::WakeUpPath) => longest,
            Some(kind) => self.lab.longest_at(kind, &place),
            None => None,
        };
        let (answer, why) = match (kind, longest) {
            (Some(kind), Some(longest)) => self.answer(span, kind, &place, longest, at_place),
            (None, _) if is_unexplained => not_seen(NotSeenReason::NoPath),
            _ => not_seen(NotSeenReason::NoneOfKind),
        };
        let judged = Judgement {
            allows_ns: longest.map(|longest| self.allows(span, longest)),
            is_at_place: at_place.is_some(),
            lab: at_place.or(longest).cloned(),
            longest: longest.cloned(),
            answer,
            why,
            words: String::new(),
        };
        Judgement {
            words: words::of(&judged, kind, &place, self.machine),
            ..judged
        }
    }

    /// The time that a path of the lab allows for a span here. Where the machine's timer has a part, no instruction takes that:
    /// an ordinary wake-up is added, which has it too.
    fn allows(&self, span: &Span, path: &LabPath) -> Nanos {
        let at_most = self.machine.at_most(path.instructions);
        match has_machine_part(&span.what) {
            true => at_most + self.machine.ordinary_ns,
            false => at_most,
        }
    }

    fn answer(
        &self,
        span: &Span,
        kind: LabPathKind,
        place: &HostPlace<'_>,
        longest: &LabPath,
        at_place: Option<&LabPath>,
    ) -> (LabAnswer, Option<NotSeenReason>) {
        let fits = |path: &LabPath| span.length_ns <= self.allows(span, path);
        if kind == LabPathKind::NonPreemptible && !self.is_same_model {
            return not_seen(NotSeenReason::OtherModel);
        }
        if at_place.is_some_and(fits) {
            return (LabAnswer::Agrees, None);
        }
        if fits(longest) {
            return not_seen(match (at_place, place) {
                (Some(_), _) => NotSeenReason::ShorterAtPlace,
                (None, HostPlace::Nothing) => NotSeenReason::NoPath,
                (None, _) => NotSeenReason::NotAtPlace,
            });
        }
        match self.doubt(span, kind, place, longest) {
            Some(why) => not_seen(why),
            None => (LabAnswer::Longer, None),
        }
    }

    /// Why a path that is longer than any of the lab's is not refuted by that.
    fn doubt(&self, span: &Span, kind: LabPathKind, place: &HostPlace<'_>, longest: &LabPath) -> Option<NotSeenReason> {
        if kind == LabPathKind::WakeUpPath {
            return None;
        }
        let is_ran_by_lab = || self.lab.names(place);
        let program = || {
            let is_of_cell = OF_EVERY_CELL.iter().any(|name| span.task.comm.starts_with(name));
            // Sections with interrupts off are their functions' own; a non-preemptible one is a whole system call.
            let is_known = is_of_cell || kind == LabPathKind::InterruptsOff && is_ran_by_lab();
            (!is_known).then(|| NotSeenReason::OtherProgram(span.task.named()))
        };
        let here = match place {
            // A thread's own work has no bound.
            HostPlace::Thread(_) => Some(NotSeenReason::NotAtPlace),
            HostPlace::SoftInterrupt(name) => Some(NotSeenReason::Grows(format!("the work of {name} that is due"))),
            // Devices and other CPUs.
            HostPlace::Interrupt(_) => (!is_ran_by_lab()).then_some(NotSeenReason::NotAtPlace),
            HostPlace::Function(function, caller, chain) => {
                let mut functions = [Some(*function), *caller].into_iter().flatten();
                let unknown = functions.find(|function| !self.lab.has(function));
                let unknown = unknown.map(|function| NotSeenReason::OtherCode(function.to_string()));
                let grows = || {
                    let work = chain.iter().rev().find_map(|frame| counted_work(&frame.function));
                    work.map(|work| NotSeenReason::Grows(work.what.to_string()))
                };
                unknown.or_else(program).or_else(grows)
            }
            HostPlace::Nothing => program(),
        };
        let waits_for_others = || {
            // Spin locks are given in order: each other CPU comes first once.
            let others = u64::from(self.machine.cpus.saturating_sub(1));
            let all =
                self.allows(span, longest).0 + self.machine.at_most(longest.instructions).0.saturating_mul(others);
            (self.has_fewer_cpus && span.length_ns.0 <= all).then_some(NotSeenReason::OtherCpus)
        };
        here.or_else(waits_for_others)
    }
}

/// Whether the machine's timer, or the hypervisor that programs it, has a part in every such span. Spans with interrupts off end
/// before it.
fn has_machine_part(what: &SpanKind) -> bool {
    let is_of_timer = matches!(
        what,
        SpanKind::OtherIrq { .. } | SpanKind::OtherTimer { .. } | SpanKind::Unexplained
    );
    what.name().is_path || is_of_timer
}

fn not_seen(why: NotSeenReason) -> (LabAnswer, Option<NotSeenReason>) {
    (LabAnswer::NotSeen, Some(why))
}
