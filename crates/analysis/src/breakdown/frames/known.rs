//! Frames and what is known about them: names, what a thread starts with, the kind of call.

use super::UserFunction;
use super::shadow::{Revealed, Shadow, ShadowThread, TransferKind};
use super::sites::SiteId;
use super::walk::Walker;
use crate::breakdown::roles::FunctionRole;
use crate::breakdown::stacks::{FrameKind, StackFrame, StackId};
use worstcase_plan::Arch;

impl Walker<'_, '_> {
    /// A thread that was not seen before, with what is known about it beforehand.
    pub(super) fn fresh_thread(&mut self, pid: u32) -> ShadowThread {
        let mut thread = ShadowThread::default();
        let known = self.revealed.get(&pid).cloned().unwrap_or_default();
        let is_whole = match known.last() {
            Some(Revealed::User) => true,
            Some(Revealed::Kernel(address)) => self.is_outermost(*address),
            None => false,
        };
        if !is_whole {
            thread.frames.push(self.unknown());
        }
        for (number, frame) in known.iter().enumerate().rev() {
            let caller = thread.top().map(|f| (f.node, f.site));
            let goes_on_at = match known.get(number + 1) {
                Some(Revealed::Kernel(address)) => Some(*address),
                _ => None,
            };
            let mut shadow = match frame {
                Revealed::User => self.user(pid),
                Revealed::Kernel(address) => {
                    // Just behind a call, or at the instruction that an entry interrupted.
                    let back = u64::from(!self.kind_of(*address).is_entry());
                    self.kernel(caller, *address, goes_on_at.map(|a| a - back))
                }
            };
            // The frame returns to where the frame below was revealed; an entry is left in another way.
            if !shadow.kind.is_entry() {
                shadow.returns_to = goes_on_at;
            }
            thread.frames.push(shadow);
        }
        // These frames are known now, and the next walk would find the same.
        thread.revealed = known;
        thread
    }

    /// Whether the function is the outermost of its thread: nothing returns from it.
    fn is_outermost(&self, address: u64) -> bool {
        let role = self.names.at(address).role;
        matches!(
            role,
            Some(FunctionRole::ThreadStart | FunctionRole::ThreadMain | FunctionRole::Idle)
        )
    }

    pub(super) fn unknown(&mut self) -> Shadow {
        let frame = StackFrame {
            function: "[not seen]".into(),
            module: None,
            kind: FrameKind::Unknown,
            source: None,
        };
        self.outermost(frame)
    }

    pub(super) fn user(&mut self, pid: u32) -> Shadow {
        let comm = self.execution.tasks.iter().rev().find(|t| t.pid == pid);
        let frame = StackFrame {
            function: format!("[user] {}", comm.map_or("?", |t| &t.comm)),
            module: None,
            kind: FrameKind::User,
            source: None,
        };
        self.outermost(frame)
    }

    /// User code in a function of its program.
    pub(super) fn user_in(&mut self, pid: u32, function: Option<&UserFunction>) -> Shadow {
        let mut thread = self.user(pid);
        if let Some(UserFunction { function, file }) = function {
            let frame = StackFrame {
                function: function.clone(),
                module: Some(file.clone()),
                kind: FrameKind::User,
                source: None,
            };
            thread.node = self.walk.stacks.push(Some(thread.node), frame);
            thread.site = self.walk.sites.push(Some(thread.site), None);
        }
        thread
    }

    fn outermost(&mut self, frame: StackFrame) -> Shadow {
        let kind = frame.kind;
        Shadow::new(
            self.walk.stacks.push(None, frame),
            self.walk.sites.push(None, None),
            kind,
        )
    }

    /// A function's frame, and the caller's instruction that led to it.
    pub(super) fn kernel(&mut self, caller: Option<(StackId, SiteId)>, address: u64, called_at: Option<u64>) -> Shadow {
        self.kernel_as(self.kind_of(address), caller, address, called_at)
    }

    /// The same of this kind.
    pub(super) fn kernel_as(
        &mut self,
        kind: FrameKind,
        caller: Option<(StackId, SiteId)>,
        address: u64,
        called_at: Option<u64>,
    ) -> Shadow {
        let node = self.push_node(caller.map(|c| c.0), address, kind);
        let site = self.walk.sites.push(caller.map(|c| c.1), called_at);
        Shadow::new(node, site, kind)
    }

    pub(super) fn kind_of(&self, address: u64) -> FrameKind {
        FrameKind::of(self.names.at(address).role)
    }

    /// The kind of an entry. Faults and system calls of arm64 enter at one place.
    pub(super) fn entry_kind(&self, address: u64) -> FrameKind {
        match self.kind_of(address) {
            FrameKind::Syscall if self.names.arch() == Arch::Arm64 && self.transfer.how != TransferKind::Syscall => {
                FrameKind::Exception
            }
            kind => kind,
        }
    }

    pub(super) fn push_node(&mut self, caller: Option<StackId>, address: u64, kind: FrameKind) -> StackId {
        *self.frames.entry((caller, address, kind)).or_insert_with(|| {
            let named = self.names.at(address);
            let frame = StackFrame {
                function: named.function.to_string(),
                module: named.symbol.and_then(|s| s.module.clone()),
                kind,
                source: None,
            };
            self.walk.stacks.push(caller, frame)
        })
    }

    /// Makes the frame below the last known one known.
    pub(super) fn reveal(&mut self, address: u64) {
        let frame = self.kernel(self.thread.top().map(|f| (f.node, f.site)), address, None);
        self.thread.frames.push(frame);
        self.thread.revealed.push(Revealed::Kernel(address));
    }

    pub(super) fn is_same_function(&self, address: u64) -> bool {
        let name = self.names.at(address).function;
        let top = self.thread.top();
        top.is_some_and(|f| name == self.walk.stacks.frame(f.node).function)
    }

    /// Whether the returning function is the one that changes stacks.
    pub(super) fn is_switching(&self) -> bool {
        let frame = self.thread.frames.iter().rev().find(|f| !f.inner);
        frame.and_then(|f| self.walk.stacks.role(f.node)) == Some(FunctionRole::SwitchTo)
    }

    /// Whether a call stays within one function or one thunk: such a call is made for its address on the stack, not
    /// to run a function.
    pub(super) fn is_inner_call(&self, from: u64, to: u64) -> bool {
        let (from, named) = (self.names.at(from), self.names.at(to));
        let (Some(caller), Some(symbol)) = (from.symbol, named.symbol) else {
            return false;
        };
        from.role == Some(FunctionRole::Thunk) || (std::ptr::eq(caller, symbol) && symbol.address != to)
    }
}
