//! One CPU's events in order of time -> entries.
//!
//! The CPU runs a program, or idles. An entry begins with an interrupt, a soft interrupt or a kernel thread, and ends where the
//! program goes on. Time counts for the innermost that runs.

mod frame;

use super::senders::{EntrySender, Senders};
use super::tally::{EntryCause, EntryTally, ProgramRun};
use super::threads::{Known, ThreadKind, kind_of};
use crate::trace::ShortName;
use crate::trace::events::{CallbackKind, CpuContext, ENDED, TracedChange, TracedThread};
use frame::{RequestedFunction, RunContext, UnfinishedFrame, cause};
use std::collections::{BTreeMap, HashMap};
use worstcase_contract::Nanos;

/// A soft interrupt or thread that begins so soon after an interrupt belongs to it: a real return to the program takes longer.
const BROUGHT: Nanos = Nanos(10_000);

#[derive(Debug)]
struct CpuEntry {
    began: Nanos,
    /// The time since which the program has gone on.
    ended: Option<Nanos>,
    /// The entry ended with an interrupt.
    is_interrupt_last: bool,
    first: Option<u32>,
    others: Vec<u32>,
}

/// Follows one CPU.
#[derive(Debug)]
pub(crate) struct Follow {
    cpu: u32,
    /// Events before this time are not counted.
    from: Nanos,
    at: Nanos,
    tid: Option<u32>,
    kind: ThreadKind,
    since: Nanos,
    stack: Vec<UnfinishedFrame>,
    /// The functions of workers that were switched out.
    works: HashMap<u32, RequestedFunction>,
    entry: Option<CpuEntry>,
    /// What was counted.
    pub(crate) tally: EntryTally,
    /// Programs, by process id.
    pub(crate) programs: BTreeMap<u32, ProgramRun>,
    /// How often the kernel checked whether the tick can stop: by what needed the tick; 0 where it stopped.
    pub ticks: BTreeMap<u32, u64>,
    /// Events that are missing.
    pub lost: u64,
}

impl Follow {
    /// Follows this CPU, and counts from `from` on.
    pub fn new(cpu: u32, from: Nanos) -> Follow {
        Follow {
            cpu,
            from,
            at: Nanos(0),
            tid: None,
            kind: ThreadKind::Idle,
            since: from,
            stack: Vec::new(),
            works: HashMap::new(),
            entry: None,
            tally: EntryTally::default(),
            programs: BTreeMap::new(),
            ticks: BTreeMap::new(),
            lost: 0,
        }
    }

    /// The CPU.
    pub(crate) fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Takes the next event of this CPU, which happened while thread `tid` ran.
    pub fn feed(
        &mut self,
        at: Nanos,
        tid: u32,
        what: TracedChange,
        senders: &mut Senders,
        mut known: impl FnMut(u32) -> Known,
    ) {
        self.advance(at);
        if let TracedChange::Lost { since, count } = what {
            return self.lose(since, count);
        }
        // One that has ended stays what it was, until its last switch.
        if self.tid != Some(tid) && tid != ENDED {
            // A switch was missed: before the first event, or within a loss.
            self.stack.clear();
            let Known { kind, name } = known(tid);
            self.switch(tid, kind, name, None);
        }
        match what {
            TracedChange::Enter(CpuContext::TimerFunction { function, .. }) => {
                self.run(function, None);
            }
            TracedChange::Exit(CpuContext::TimerFunction { .. }) => self.end_run(senders),
            TracedChange::Enter(context) => self.enter(context, senders),
            TracedChange::Exit(context) => self.exit(RunContext::Context(context), senders),
            TracedChange::Begin {
                part: CallbackKind::Call,
                of: 0,
                ..
            }
            | TracedChange::End {
                part: CallbackKind::Call,
                of: 0,
            } => {}
            TracedChange::Begin { part, of, function } => self.begin(part, of, function, senders),
            TracedChange::End { part, .. } => self.end(part, senders),
            TracedChange::Switch { to, .. } => self.switch_to(to, senders, known(to.tid).kind),
            TracedChange::PageFault => {
                if let (true, ThreadKind::Program(process), true) = (self.stack.is_empty(), self.kind, at >= self.from)
                {
                    self.programs.entry(process).or_default().faults += 1;
                }
            }
            TracedChange::Nmi { length } => self.nmi(length),
            TracedChange::Tick { stops, needed_by } if at >= self.from => {
                *self.ticks.entry(if stops { 0 } else { needed_by }).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Ends following: whatever still runs is counted with its time so far.
    pub fn finish(&mut self, at: Nanos, senders: &mut Senders) {
        self.advance(at);
        while !self.stack.is_empty() {
            self.pop(senders);
        }
        self.end_entry(false);
        self.leave_program();
        self.close_entry();
    }

    fn advance(&mut self, at: Nanos) {
        let passed = at.saturating_sub(self.at);
        self.at = self.at.max(at);
        if let Some(top) = self.stack.last_mut() {
            match (top.is_in_run, top.runs.last_mut()) {
                (true, Some(run)) => run.time = run.time + passed,
                _ => top.own = top.own + passed,
            }
        }
    }

    fn lose(&mut self, since: Nanos, count: u64) {
        if since == Nanos(0) {
            // This is the first event of the trace.
            return;
        }
        if self.at >= self.from {
            self.lost += count.max(1);
        }
        self.stack.clear();
        self.works.clear();
        self.tid = None;
        self.entry = None;
    }

    fn push(&mut self, context: RunContext, sender: Option<EntrySender>, opens_entry: bool) {
        self.stack.push(UnfinishedFrame {
            context,
            sender,
            began: self.at,
            own: Nanos(0),
            runs: Vec::new(),
            is_in_run: false,
            opens_entry,
        });
    }

    /// Whether what begins opens a new entry; it does not if the interrupt before caused it.
    fn open_entry(&mut self, can_be_brought: bool) -> bool {
        if !self.stack.is_empty() {
            return false;
        }
        if let Some(entry) = &mut self.entry {
            let Some(ended) = entry.ended else { return false };
            if can_be_brought && entry.is_interrupt_last && self.at.saturating_sub(ended) <= BROUGHT {
                entry.ended = None;
                return false;
            }
        }
        self.close_entry();
        self.entry = Some(CpuEntry {
            began: self.at,
            ended: None,
            is_interrupt_last: false,
            first: None,
            others: Vec::new(),
        });
        true
    }

    fn close_entry(&mut self) {
        if let Some(entry) = self.entry.take()
            && let (Some(ended), Some(first)) = (entry.ended, entry.first)
            && entry.began >= self.from
        {
            self.tally.enter(first, entry.others, ended - entry.began);
        }
    }

    /// The program goes on, if nothing else runs.
    fn end_entry(&mut self, is_interrupt_last: bool) {
        if self.stack.is_empty()
            && let Some(entry) = &mut self.entry
        {
            entry.ended.get_or_insert(self.at);
            entry.is_interrupt_last = is_interrupt_last;
        }
    }

    fn enter(&mut self, context: CpuContext, senders: &mut Senders) {
        let opens = self.open_entry(matches!(context, CpuContext::Soft(_)));
        let sender = match context {
            CpuContext::Vector(name) if name == "reschedule".into() => senders.of_interrupt(self.cpu),
            _ => None,
        };
        self.push(RunContext::Context(context), sender, opens);
        // irq_work has no exit event.
        if context == CpuContext::Vector("irq_work".into()) {
            self.exit(RunContext::Context(context), senders);
        }
    }

    fn exit(&mut self, place: RunContext, senders: &mut Senders) {
        let is_same = |frame: &UnfinishedFrame| match (&frame.context, &place) {
            (RunContext::Context(open), RunContext::Context(ends)) => open.is_same(ends),
            (open, ends) => open == ends,
        };
        if let Some(depth) = self.stack.iter().rposition(is_same) {
            while self.stack.len() > depth {
                self.pop(senders);
            }
            self.end_entry(true);
        }
    }

    fn begin(&mut self, part: CallbackKind, of: u64, function: u64, senders: &mut Senders) {
        let is_call = |context: &RunContext| {
            matches!(
                context,
                RunContext::Context(CpuContext::Vector(_)) | RunContext::BareCall
            )
        };
        if part == CallbackKind::Call && !self.stack.last().is_some_and(|top| is_call(&top.context)) {
            let opens = self.open_entry(false);
            self.push(RunContext::BareCall, None, opens);
        }
        let sender = match part {
            CallbackKind::Call => senders.of_call(self.cpu, of),
            CallbackKind::Work => senders.of_work(of),
            CallbackKind::RcuCallback => None,
        };
        let run = self.run(function, sender);
        if let (CallbackKind::Work, Some(tid)) = (part, self.tid) {
            self.works.insert(tid, run);
        }
    }

    /// A function begins within what runs.
    fn run(&mut self, function: u64, sender: Option<EntrySender>) -> RequestedFunction {
        let run = RequestedFunction {
            function,
            began: self.at,
            sender,
            time: Nanos(0),
        };
        if let Some(top) = self.stack.last_mut() {
            top.runs.push(run);
            top.is_in_run = true;
        }
        run
    }

    fn end(&mut self, part: CallbackKind, senders: &mut Senders) {
        if let (CallbackKind::Work, Some(tid)) = (part, self.tid) {
            self.works.remove(&tid);
        }
        self.end_run(senders);
    }

    fn end_run(&mut self, senders: &mut Senders) {
        if let Some(top) = self.stack.last_mut() {
            top.is_in_run = false;
            if top.context == RunContext::BareCall {
                self.exit(RunContext::BareCall, senders);
            }
        }
    }

    fn switch_to(&mut self, thread: TracedThread, senders: &mut Senders, kind: ThreadKind) {
        while !self.stack.is_empty() {
            self.pop(senders);
        }
        let sender = senders.of_thread(thread.tid);
        self.switch(thread.tid, kind, thread.comm, sender);
    }

    fn switch(&mut self, tid: u32, kind: ThreadKind, name: ShortName, sender: Option<EntrySender>) {
        self.leave_program();
        (self.tid, self.kind, self.since) = (Some(tid), kind, self.at);
        match kind {
            ThreadKind::Kernel => {
                let opens = self.open_entry(true);
                self.push(RunContext::Thread(kind_of(name)), sender, opens);
                if let (Some(work), Some(top)) = (self.works.get(&tid), self.stack.last_mut()) {
                    top.runs.push(RequestedFunction {
                        began: self.at,
                        ..*work
                    });
                    top.is_in_run = true;
                }
            }
            ThreadKind::Program(process) => {
                self.end_entry(false);
                let program = self.programs.entry(process).or_default();
                if program.name == ShortName::EMPTY {
                    (program.name, program.sender) = (name, sender);
                }
            }
            ThreadKind::Idle => self.end_entry(false),
        }
    }

    /// Counts how long a program ran since it came, interrupts included.
    fn leave_program(&mut self) {
        if let (Some(_), ThreadKind::Program(process)) = (self.tid, self.kind)
            && self.at > self.from
        {
            let ran = self.at - self.since.max(self.from);
            self.programs.entry(process).or_default().runs.add(ran);
        }
    }

    fn nmi(&mut self, length: Nanos) {
        let opens = self.open_entry(false);
        match self.stack.last_mut() {
            Some(top) => top.own = top.own.saturating_sub(length),
            None => {
                if let Some(entry) = &mut self.entry {
                    entry.began = entry.began.saturating_sub(length);
                }
            }
        }
        self.count(EntryCause::Nmi, None, length, self.at, opens);
        self.end_entry(true);
    }

    /// The innermost frame has ended.
    fn pop(&mut self, senders: &mut Senders) {
        let Some(mut frame) = self.stack.pop() else { return };
        if let (true, RunContext::Context(CpuContext::Vector(name))) = (frame.runs.is_empty(), frame.context)
            && name.to_string().starts_with("call_function")
            && let Some(called) = senders.of_unseen_call(self.cpu)
        {
            frame.runs.push(RequestedFunction {
                function: called.function,
                began: frame.began,
                sender: Some(called.sender),
                time: Nanos(0),
            });
        }
        match frame.runs.first_mut() {
            // The time before the first function counts for that function.
            Some(first) if frame.began >= self.from => {
                first.began = frame.began;
                first.time = first.time + frame.own;
            }
            Some(_) => {}
            None => frame.runs.push(RequestedFunction {
                function: 0,
                began: frame.began,
                sender: None,
                time: frame.own,
            }),
        }
        for (nth, run) in frame.runs.iter().enumerate() {
            let cause = cause(frame.context, run.function);
            let opens = frame.opens_entry && nth == 0;
            self.count(cause, run.sender.or(frame.sender), run.time, run.began, opens);
        }
    }

    fn count(&mut self, cause: EntryCause, sender: Option<EntrySender>, time: Nanos, began: Nanos, opens_entry: bool) {
        if began < self.from {
            return;
        }
        let number = self.tally.add(cause, sender, time);
        if let Some(entry) = &mut self.entry {
            match opens_entry {
                true => entry.first = Some(number),
                false => entry.others.push(number),
            }
        }
    }
}

#[cfg(test)]
mod tests;
