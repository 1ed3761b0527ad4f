//! Call chains as a tree: each node is a frame under its caller, so that equal chains are one number.

use super::lines::SourceLine;
use super::roles::FunctionRole;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The kind of a frame in a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// A function that was called.
    Function,
    /// A function that another one jumped to; it returns to the other one's caller.
    TailCall,
    /// An interrupt came in between.
    Interrupt,
    /// A fault or trap came in between.
    Exception,
    /// User code called the kernel.
    Syscall,
    /// Soft interrupts.
    SoftIrq,
    /// The function with which a thread begins.
    ThreadStart,
    /// User code of any kind.
    User,
    /// The window does not show this frame.
    Unknown,
}

impl FrameKind {
    /// The kind of a function by its role.
    pub(crate) fn of(role: Option<FunctionRole>) -> FrameKind {
        match role {
            Some(FunctionRole::InterruptEntry) => FrameKind::Interrupt,
            Some(FunctionRole::ExceptionEntry) => FrameKind::Exception,
            Some(FunctionRole::SyscallEntry) => FrameKind::Syscall,
            Some(FunctionRole::ThreadStart) => FrameKind::ThreadStart,
            Some(FunctionRole::SoftIrq) => FrameKind::SoftIrq,
            _ => FrameKind::Function,
        }
    }

    /// Whether the frame is left by an interrupt return rather than by `ret`.
    pub(crate) fn is_entry(self) -> bool {
        matches!(
            self,
            FrameKind::Interrupt | FrameKind::Exception | FrameKind::Syscall | FrameKind::ThreadStart
        )
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StackFrame {
    /// The function's name, `[user] comm`, or `[not seen]`.
    pub function: String,
    /// The module that holds the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The kind of the frame.
    pub kind: FrameKind,
    /// The line of the frame, if the source is known; only in a breakdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
}

/// A call chain: a node of [`Stacks`].
pub type StackId = u32;

#[derive(Clone, Debug)]
struct StackNode {
    caller: Option<StackId>,
    frame: StackFrame,
    role: Option<FunctionRole>,
}

/// All call chains of a window.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    nodes: Vec<StackNode>,
    known: HashMap<(Option<StackId>, StackFrame), StackId>,
}

impl Stacks {
    /// The chain `caller` with one more frame.
    pub fn push(&mut self, caller: Option<StackId>, frame: StackFrame) -> StackId {
        if let Some(id) = self.known.get(&(caller, frame.clone())) {
            return *id;
        }
        let id = self.nodes.len() as StackId;
        let role = super::roles::role(&frame.function);
        self.known.insert((caller, frame.clone()), id);
        self.nodes.push(StackNode { caller, frame, role });
        id
    }

    /// The innermost frame.
    pub fn frame(&self, id: StackId) -> &StackFrame {
        &self.nodes[id as usize].frame
    }

    /// The innermost frame's role.
    pub(crate) fn role(&self, id: StackId) -> Option<FunctionRole> {
        self.nodes[id as usize].role
    }

    /// The chain without its innermost frame.
    pub(crate) fn caller(&self, id: StackId) -> Option<StackId> {
        self.nodes[id as usize].caller
    }

    /// The chain and all its callers, innermost first.
    pub fn upwards(&self, id: StackId) -> impl Iterator<Item = StackId> {
        std::iter::successors(Some(id), |id| self.caller(*id))
    }

    /// The chain's frames, outermost first.
    pub fn chain(&self, id: StackId) -> Vec<&StackFrame> {
        let mut frames: Vec<&StackFrame> = self.upwards(id).map(|n| self.frame(n)).collect();
        frames.reverse();
        frames
    }

    /// Whether `inner` is `outer` or was called from it.
    pub(crate) fn is_within(&self, inner: StackId, outer: StackId) -> bool {
        self.upwards(inner).any(|id| id == outer)
    }

    /// The innermost frame that has the role.
    pub fn find(&self, id: StackId, role: FunctionRole) -> Option<StackId> {
        self.upwards(id).find(|n| self.role(*n) == Some(role))
    }

    /// The innermost frame of the kind.
    pub fn find_kind(&self, id: StackId, kind: FrameKind) -> Option<StackId> {
        self.upwards(id).find(|n| self.frame(*n).kind == kind)
    }

    /// The innermost interrupt that a chain is in. Work on an interrupt's way to user mode is the thread's.
    pub(crate) fn interrupt(&self, id: StackId) -> Option<StackId> {
        if self.is_exit_work(id) {
            return None;
        }
        self.find_kind(id, FrameKind::Interrupt)
    }

    /// Whether a chain is at work that the way to user mode does besides calling the scheduler, or that `schedule()` does
    /// before it switches.
    pub(crate) fn is_exit_work(&self, id: StackId) -> bool {
        let chain = self
            .upwards(id)
            .skip_while(|n| self.role(*n) == Some(FunctionRole::Thunk));
        let mut chain = chain.peekable();
        let is_way = |n: &StackId| {
            matches!(
                self.role(*n),
                Some(FunctionRole::ExitToUser | FunctionRole::ScheduleGlue)
            )
        };
        if chain.peek().is_none_or(is_way) {
            return false;
        }
        const ENDS: [FunctionRole; 5] = [
            FunctionRole::ExitToUser,
            FunctionRole::ScheduleGlue,
            FunctionRole::Schedule,
            FunctionRole::SwitchTo,
            FunctionRole::SwitchWork,
        ];
        let ends =
            |n: &StackId| self.frame(*n).kind.is_entry() || self.role(*n).is_some_and(|role| ENDS.contains(&role));
        chain.find(ends).as_ref().is_some_and(is_way)
    }

    /// Number of chains.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
