//! Call chains as a tree: each node is a frame under its caller, so that equal chains are one number.

use super::lines::Source;
use super::roles::Role;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What a frame of a call chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// A function that was called.
    Function,
    /// A function that another one jumped to, and that returns to that one's caller.
    TailCall,
    /// An interrupt came in between.
    Interrupt,
    /// A fault or trap came in between.
    Exception,
    /// User code called the kernel.
    Syscall,
    /// Soft interrupts.
    SoftIrq,
    /// Where a thread begins.
    ThreadStart,
    /// User code, whatever it does there.
    User,
    /// The window does not show what is here.
    Unknown,
}

impl FrameKind {
    /// The kind of a function by its role.
    pub fn of(role: Option<Role>) -> FrameKind {
        match role {
            Some(Role::InterruptEntry) => FrameKind::Interrupt,
            Some(Role::ExceptionEntry) => FrameKind::Exception,
            Some(Role::SyscallEntry) => FrameKind::Syscall,
            Some(Role::ThreadStart) => FrameKind::ThreadStart,
            Some(Role::SoftIrq) => FrameKind::SoftIrq,
            _ => FrameKind::Function,
        }
    }

    /// Whether the frame is left by an interrupt return rather than by `ret`.
    pub fn is_entry(self) -> bool {
        matches!(
            self,
            FrameKind::Interrupt | FrameKind::Exception | FrameKind::Syscall | FrameKind::ThreadStart
        )
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name, `[user] comm`, or `[not seen]`.
    pub function: String,
    /// The module that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// What it is.
    pub kind: FrameKind,
    /// In a breakdown: where it was, if the source is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// A call chain: a node of [`Stacks`].
pub type StackId = u32;

#[derive(Clone, Debug)]
struct Node {
    caller: Option<StackId>,
    frame: Frame,
    role: Option<Role>,
}

/// All call chains of a window.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    nodes: Vec<Node>,
    known: HashMap<(Option<StackId>, Frame), StackId>,
}

impl Stacks {
    /// The chain `caller` with one more frame.
    pub fn push(&mut self, caller: Option<StackId>, frame: Frame) -> StackId {
        if let Some(id) = self.known.get(&(caller, frame.clone())) {
            return *id;
        }
        let id = self.nodes.len() as StackId;
        let role = super::roles::role(&frame.function);
        self.known.insert((caller, frame.clone()), id);
        self.nodes.push(Node { caller, frame, role });
        id
    }

    /// The innermost frame.
    pub fn frame(&self, id: StackId) -> &Frame {
        &self.nodes[id as usize].frame
    }

    /// The innermost frame's role.
    pub fn role(&self, id: StackId) -> Option<Role> {
        self.nodes[id as usize].role
    }

    /// The chain without its innermost frame.
    pub fn caller(&self, id: StackId) -> Option<StackId> {
        self.nodes[id as usize].caller
    }

    /// The chain and all its callers, innermost first.
    pub fn upwards(&self, id: StackId) -> impl Iterator<Item = StackId> {
        std::iter::successors(Some(id), |id| self.caller(*id))
    }

    /// The chain's frames, outermost first.
    pub fn chain(&self, id: StackId) -> Vec<&Frame> {
        let mut frames: Vec<&Frame> = self.upwards(id).map(|n| self.frame(n)).collect();
        frames.reverse();
        frames
    }

    /// Whether `inner` is `outer` or was called from it.
    pub fn is_within(&self, inner: StackId, outer: StackId) -> bool {
        self.upwards(inner).any(|id| id == outer)
    }

    /// The innermost frame that has the role.
    pub fn find(&self, id: StackId, role: Role) -> Option<StackId> {
        self.upwards(id).find(|n| self.role(*n) == Some(role))
    }

    /// The innermost frame of the kind.
    pub fn find_kind(&self, id: StackId, kind: FrameKind) -> Option<StackId> {
        self.upwards(id).find(|n| self.frame(*n).kind == kind)
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
