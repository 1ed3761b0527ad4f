//! The walk through the blocks.

use super::names::{CodeNames, Named};
use super::shadow::{Revealed, Shadow, ShadowThread, Transfer, TransferKind};
use super::{FrameEvent, FrameMark, UserFunction, WindowWalk};
use crate::breakdown::decode::{Decoded, Leave};
use crate::breakdown::roles::FunctionRole;
use crate::breakdown::stacks::{FrameKind, StackId};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use worstcase_lab::execution::Execution;

/// The frames that returns revealed, for each thread.
pub(crate) type Revelations = HashMap<u32, Vec<Revealed>>;

/// State of one walk.
pub(crate) struct Walker<'a, 'n> {
    pub(super) execution: &'a Execution,
    pub(super) names: &'a CodeNames<'n>,
    pub(super) blocks: &'a [Decoded],
    /// The frames of the kernel's code that were made already, by caller and address.
    pub(super) frames: FxHashMap<(Option<StackId>, u64, FrameKind), StackId>,
    /// By block: the program's function that it is of, as far as that is known.
    pub(super) user: &'a [Option<UserFunction>],
    /// The frames of user code that were made already.
    pub(super) user_frames: HashMap<(u32, usize), Shadow>,
    pub(super) revealed: Revelations,
    pub(super) threads: HashMap<u32, ShadowThread>,
    pub(super) pid: u32,
    pub(super) thread: ShadowThread,
    pub(super) transfer: Transfer,
    /// The instruction that is looked at.
    pub(super) here: u64,
    pub(super) irqs: Option<bool>,
    /// The flag that each `cli` found which is not undone yet; `popf` restores the last.
    pub(super) clis: Vec<Option<bool>>,
    pub(super) walk: WindowWalk,
}

/// User addresses are the lower half.
fn is_user(address: u64) -> bool {
    address >> 63 == 0
}

impl<'a, 'n> Walker<'a, 'n> {
    pub(crate) fn new(
        execution: &'a Execution,
        names: &'a CodeNames<'n>,
        blocks: &'a [Decoded],
        user: &'a [Option<UserFunction>],
        revealed: Revelations,
    ) -> Walker<'a, 'n> {
        Walker {
            execution,
            names,
            blocks,
            frames: FxHashMap::default(),
            user,
            user_frames: HashMap::new(),
            revealed,
            threads: HashMap::new(),
            pid: 0,
            thread: ShadowThread::default(),
            transfer: Transfer {
                at: 0,
                how: TransferKind::Unknown,
            },
            here: 0,
            irqs: None,
            clis: Vec::new(),
            walk: WindowWalk::default(),
        }
    }

    pub(crate) fn run(mut self) -> Self {
        if let Some(first) = self.execution.steps.first() {
            self.pid = self.task_at(first.count.0);
            self.thread = self.fresh_thread(self.pid);
        }
        for number in 0..self.execution.steps.len() {
            self.step(number);
        }
        let current = std::mem::take(&mut self.thread);
        self.threads.insert(self.pid, current);
        self
    }

    /// The frames that this walk found below those it knew.
    pub(crate) fn revealed(self) -> Revelations {
        self.threads.into_iter().map(|(pid, t)| (pid, t.revealed)).collect()
    }

    pub(crate) fn finish(mut self) -> WindowWalk {
        settle_first_flag(&mut self.walk);
        self.walk
    }

    fn task_at(&self, count: u64) -> u32 {
        let tasks = &self.execution.tasks;
        let after = tasks.partition_point(|t| t.count.0 <= count);
        after.checked_sub(1).map_or(0, |i| tasks[i].pid)
    }

    pub(super) fn mark(&mut self, count: u64, what: FrameEvent) {
        if let Some((stack, site)) = self.thread.top().map(|f| (f.node, f.site)) {
            let (pid, address) = (self.pid, self.here);
            self.walk.marks.push(FrameMark {
                count,
                what,
                address,
                stack,
                site,
                pid,
            });
        }
    }

    /// Remembers that a function whose role matters is entered.
    fn entered(&mut self, count: u64) {
        if let Some(top) = self.thread.top()
            && let Some(role) = self.walk.stacks.role(top.node)
        {
            self.mark(count, FrameEvent::Enter(role));
        }
    }

    fn step(&mut self, number: usize) {
        let step = self.execution.steps[number];
        let block = step.block as usize;
        let address = self.execution.blocks[block].address;
        let span = self.execution.span(number);
        let named = self.names.at(address);
        self.here = address;
        if is_user(address) {
            self.arrive_in_user(span.start);
            self.name_user(block);
        } else if self.is_entry(address, named) {
            self.enter(address, span.start);
        } else {
            let transfer = self.transfer;
            self.arrive(transfer, address, span.start);
        }
        let executed = ((span.end - span.start) as usize).min(self.blocks[block].len());
        self.emit(block, span.start, span.end, executed);
        self.leave(block, executed, named.role);
    }

    /// Only the hardware goes to an entry; the code that a stub before the entry jumps to belongs to the same
    /// entry.
    fn is_entry(&self, address: u64, named: Named) -> bool {
        let hardware = [
            FunctionRole::InterruptEntry,
            FunctionRole::ExceptionEntry,
            FunctionRole::SyscallEntry,
        ];
        if !named.role.is_some_and(|r| hardware.contains(&r)) {
            return false;
        }
        (named.starts(address) || named.is_stub(address)) && !self.transfer.how.leads_to(address)
    }

    fn enter(&mut self, address: u64, count: u64) {
        let interrupted = Some(self.transfer.at).filter(|at| !is_user(*at));
        let kind = self.entry_kind(address);
        let mut frame = self.kernel_as(kind, self.thread.top().map(|f| (f.node, f.site)), address, interrupted);
        frame.resumes = Some(self.transfer);
        frame.irqs = match frame.kind {
            // Interrupts were on, since one came.
            FrameKind::Interrupt => Some(true),
            FrameKind::Syscall => Some(true),
            _ => self.irqs,
        };
        frame.clis = std::mem::take(&mut self.clis);
        self.thread.frames.push(frame);
        if self.irqs.replace(false) != Some(false) {
            self.mark(count, FrameEvent::IrqsOff);
        }
        self.entered(count);
    }

    fn arrive_in_user(&mut self, count: u64) {
        let pid = self.task_at(count);
        if pid != self.pid {
            self.walk.irregular += 1;
            self.switch_to(pid);
        }
        if self.thread.top().is_some_and(|f| f.kind == FrameKind::User) {
            return;
        }
        let unknown = self.thread.frames.first().is_none_or(|f| f.kind == FrameKind::Unknown);
        if unknown {
            self.thread.revealed.push(Revealed::User);
        }
        self.thread.frames = vec![self.user(pid)];
        self.irqs = Some(true);
        self.clis.clear();
        self.mark(count, FrameEvent::IrqsOn);
    }

    /// User code has one frame, which becomes the function's.
    fn name_user(&mut self, block: usize) {
        if self.user.is_empty() {
            return;
        }
        let known = self.user_frames.get(&(self.pid, block)).cloned();
        let frame = known.unwrap_or_else(|| {
            let frame = self.user_in(self.pid, self.user[block].as_ref());
            self.user_frames.insert((self.pid, block), frame.clone());
            frame
        });
        self.thread.frames = vec![frame];
    }

    /// Kernel code goes on at `address`, after `transfer`.
    fn arrive(&mut self, transfer: Transfer, address: u64, count: u64) {
        if let TransferKind::Return { switches: true, .. } = transfer.how {
            let next = self.task_at(count);
            if next != self.pid && self.switch_to(next) && !self.thread.is_unknown() {
                return self.go_on(address, count);
            }
        }
        if self.thread.is_unknown() {
            self.reveal(address);
            return self.entered_at_start(address, count);
        }
        match transfer.how {
            // The instruction faulted, and is tried again.
            _ if transfer.at == address && !matches!(transfer.how, TransferKind::Unknown) => self.go_on(address, count),
            TransferKind::Call(returns_to) => {
                let caller = self.thread.top().map(|f| (f.node, f.site));
                let inner = self.is_inner_call(transfer.at, address);
                let mut frame = match caller {
                    Some((own, site)) if inner => Shadow::new(own, site, FrameKind::Function),
                    _ => self.kernel(caller, address, Some(transfer.at)),
                };
                frame.returns_to = Some(returns_to);
                frame.inner = inner;
                self.thread.frames.push(frame);
                if !inner {
                    self.entered(count);
                }
            }
            TransferKind::Return { thunk, .. } => self.return_to(address, thunk, count),
            TransferKind::InterruptReturn if self.thread.at_its_base() && !self.is_same_function(address) => {
                self.thread.frames.truncate(1);
                self.reveal(address);
            }
            _ => self.go_on(address, count),
        }
    }

    fn return_to(&mut self, address: u64, thunk: bool, count: u64) {
        let is_in_vectors = |address| self.names.at(address).is_in_vectors();
        if is_in_vectors(address) && is_in_vectors(self.transfer.at) {
            // One table of entries goes on in another.
            return self.go_on(address, count);
        }
        if let Some(number) = self.thread.returning_to(address) {
            let inner = &self.thread.frames[number + 1..];
            self.walk.irregular += u32::from(inner.iter().any(|f| !f.inner));
            self.thread.frames.truncate(number);
            return self.go_on(address, count);
        }
        let starts = self.names.at(address).starts(address);
        if thunk || starts {
            // The thunk's own call is undone. A jump leads to a function's start, and else this is its caller's return.
            if self.thread.top().is_some_and(|f| f.inner) {
                self.thread.frames.pop();
            }
            if starts || !self.thread.at_its_base() {
                return self.go_on(address, count);
            }
        }
        if self.thread.at_its_base() {
            self.thread.frames.truncate(1);
            return self.reveal(address);
        }
        self.walk.irregular += 1;
        self.go_on(address, count);
    }

    /// Goes on in the innermost frame, which becomes another function's if the address is that one's.
    fn go_on(&mut self, address: u64, count: u64) {
        let Some(top) = self.thread.top() else { return };
        let thunk = self.names.at(address).role == Some(FunctionRole::Thunk);
        if top.kind == FrameKind::Interrupt {
            return self.name_entry(address);
        }
        let fixed = top.kind.is_entry() || matches!(top.kind, FrameKind::User | FrameKind::Unknown);
        if fixed || thunk || self.is_same_function(address) {
            return;
        }
        let caller = self.walk.stacks.caller(top.node);
        let by_thunk = self.walk.stacks.role(top.node) == Some(FunctionRole::Thunk);
        let kind = match self.kind_of(address) {
            // The call to the thunk was the call to the function that the thunk jumps to.
            FrameKind::Function if by_thunk => FrameKind::Function,
            FrameKind::Function => FrameKind::TailCall,
            // Entries that are reached by a jump are labels of the entry code.
            kind if kind.is_entry() => FrameKind::TailCall,
            kind => kind,
        };
        let node = self.push_node(caller, address, kind);
        let top = self.thread.frames.last_mut().expect("there is a top");
        (top.node, top.kind) = (node, kind);
        self.entered_at_start(address, count);
    }

    /// All vectors share the name of their stubs; the function that a stub jumps to says more.
    fn name_entry(&mut self, address: u64) {
        let Some(top) = self.thread.top() else { return };
        let is_stub = self.walk.stacks.frame(top.node).function.ends_with("_entries_start");
        if is_stub && self.kind_of(address) == FrameKind::Interrupt {
            let node = self.push_node(self.walk.stacks.caller(top.node), address, FrameKind::Interrupt);
            self.thread.frames.last_mut().expect("there is a top").node = node;
        }
    }

    fn entered_at_start(&mut self, address: u64, count: u64) {
        if self.names.at(address).starts(address) {
            self.entered(count);
        }
    }

    /// Changes threads; returns whether the new one was not seen before.
    fn switch_to(&mut self, pid: u32) -> bool {
        let known = self.threads.remove(&pid);
        let is_new = known.is_none();
        let fresh = known.unwrap_or_else(|| self.fresh_thread(pid));
        let old = std::mem::replace(&mut self.thread, fresh);
        self.threads.insert(self.pid, old);
        self.pid = pid;
        is_new
    }

    fn leave(&mut self, block: usize, executed: usize, role: Option<FunctionRole>) {
        let decoded = &self.blocks[block];
        let next = decoded.starts[executed];
        if executed < decoded.len() {
            // The block was left early: the instruction was not executed, and comes again.
            self.transfer = Transfer {
                at: next,
                how: TransferKind::Goes(Some(next)),
            };
            return;
        }
        let at = decoded.starts[executed.saturating_sub(1)];
        let how = match decoded.leave {
            Leave::Next => TransferKind::Goes(Some(next)),
            Leave::Jump {
                target: Some(target),
                conditional: true,
            } => TransferKind::Branch(target, next),
            Leave::Jump { target, .. } => TransferKind::Goes(target),
            Leave::Call => TransferKind::Call(next),
            Leave::Return => TransferKind::Return {
                switches: self.is_switching(),
                thunk: role == Some(FunctionRole::Thunk),
            },
            Leave::Syscall => TransferKind::Syscall,
            Leave::InterruptReturn | Leave::Sysret => return self.leave_entry(at),
        };
        self.transfer = Transfer { at, how };
    }

    /// Returns to the code that an entry interrupted, which goes on as if there had been no entry.
    fn leave_entry(&mut self, at: u64) {
        self.transfer = Transfer {
            at,
            how: TransferKind::InterruptReturn,
        };
        if !self.thread.top().is_some_and(|f| f.kind.is_entry()) {
            return;
        }
        let frame = self.thread.frames.pop().expect("there is a top");
        if self.thread.frames.is_empty() {
            let unknown = self.unknown();
            self.thread.frames.push(unknown);
        }
        if let Some(before) = frame.resumes {
            self.transfer = before;
        }
        (self.irqs, self.clis) = (frame.irqs, frame.clis);
        if self.irqs == Some(true) {
            self.here = at;
            let count = self.walk.intervals.last().map_or(0, |i| i.end);
            self.mark(count, FrameEvent::IrqsOn);
        }
    }
}

/// Sets the flag before its first change, as that change tells: `sti` is executed when the flag is off, `cli` and
/// interrupts come when it is on.
fn settle_first_flag(walk: &mut WindowWalk) {
    let Some(first) = walk.marks.iter().find(|m| !matches!(m.what, FrameEvent::Enter(_))) else {
        return;
    };
    let before = first.what == FrameEvent::IrqsOff;
    let count = first.count;
    let unknown = walk.intervals.iter_mut().take_while(|i| i.start < count);
    unknown.filter(|i| i.irqs.is_none()).for_each(|i| i.irqs = Some(before));
}
