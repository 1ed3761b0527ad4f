//! One thread's stack of frames.

use super::sites::SiteId;
use crate::breakdown::stacks::{FrameKind, StackId};

/// The way from the previous block to the next. It gives the next block's address its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The instruction that did it.
    pub(crate) at: u64,
    /// The kind of transfer.
    pub(crate) how: TransferKind,
}

/// Kinds of [`Transfer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferKind {
    /// Nothing is known about the previous block.
    Unknown,
    /// Execution goes on at an address: the next instruction, or the target of a jump; `None` for a jump through a
    /// register.
    Goes(Option<u64>),
    /// Execution goes on at one of two addresses.
    Branch(u64, u64),
    /// A call, which returns to this address.
    Call(u64),
    /// A return; whether it may be the one that changes threads.
    Return {
        /// `__switch_to` executed the return.
        switches: bool,
        /// A thunk executed the return.
        thunk: bool,
    },
    /// An interrupt return that fits no frame that is known.
    InterruptReturn,
    /// Into the kernel.
    Syscall,
}

impl TransferKind {
    /// Whether the code itself leads to this address.
    pub(crate) fn leads_to(self, address: u64) -> bool {
        match self {
            TransferKind::Goes(target) => target == Some(address),
            TransferKind::Branch(a, b) => a == address || b == address,
            _ => false,
        }
    }
}

/// One frame on a thread's stack.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    /// Its call chain.
    pub(crate) node: StackId,
    /// The call sites of its frames.
    pub(crate) site: SiteId,
    /// The kind of the frame.
    pub(crate) kind: FrameKind,
    /// The return address of a frame that was called.
    pub(crate) returns_to: Option<u64>,
    /// For an entry: the transfer that the entry interrupted.
    pub(crate) resumes: Option<Transfer>,
    /// For an entry: the interrupt flag before the entry.
    pub(crate) irqs: Option<bool>,
    /// For an entry: the interrupt flag that each earlier `cli` found.
    pub(crate) clis: Vec<Option<bool>>,
    /// Called for its address on the stack (thunks, call and pop): no function of its own.
    pub(crate) inner: bool,
}

impl Shadow {
    /// A frame of which nothing else is known.
    pub(crate) fn new(node: StackId, site: SiteId, kind: FrameKind) -> Shadow {
        Shadow {
            node,
            site,
            kind,
            returns_to: None,
            resumes: None,
            irqs: None,
            clis: Vec::new(),
            inner: false,
        }
    }
}

/// A frame that the first walk found below what was known then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revealed {
    /// Kernel code at this address.
    Kernel(u64),
    /// User code.
    User,
}

/// One thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShadowThread {
    /// The thread's frames, outermost first. The first is of kind `Unknown` as long as the frames below are not
    /// known.
    pub(crate) frames: Vec<Shadow>,
    /// Frames that returns revealed, innermost first.
    pub(crate) revealed: Vec<Revealed>,
}

impl ShadowThread {
    /// The innermost frame.
    pub(crate) fn top(&self) -> Option<&Shadow> {
        self.frames.last()
    }

    /// Whether the frames below the innermost one are unknown.
    pub(crate) fn at_its_base(&self) -> bool {
        matches!(&self.frames[..], [unknown, base] if unknown.kind == FrameKind::Unknown && !base.kind.is_entry())
    }

    /// Whether nothing is known at all.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(&self.frames[..], [only] if only.kind == FrameKind::Unknown)
    }

    /// The number of the frame that returns to an address, down to the innermost entry.
    pub(crate) fn returning_to(&self, address: u64) -> Option<usize> {
        for (number, frame) in self.frames.iter().enumerate().rev() {
            if frame.kind.is_entry() {
                return None;
            }
            if frame.returns_to == Some(address) {
                return Some(number);
            }
        }
        None
    }
}
