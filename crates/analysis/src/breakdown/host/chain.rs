//! The code that the timer interrupt interrupted, from the call chain that was taken within the interrupt.

use crate::breakdown::roles::{self, FunctionRole};
use crate::breakdown::spans::CodePlace;
use crate::breakdown::stacks::{FrameKind, StackFrame};
use worstcase_lab::execution::Symbols;

/// perf puts markers between the contexts of a chain: the highest addresses.
const MARKERS: u64 = -4095i64 as u64;

/// The interrupted code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted {
    /// The thread.
    pub(crate) tid: u32,
    /// Its kernel's chain, outermost first; empty if it ran in user mode.
    pub(crate) chain: Vec<StackFrame>,
    /// The instruction at which the interrupt came; none in user mode.
    pub(crate) at: Option<u64>,
    /// The instruction to which its function returns.
    pub(crate) returns_to: Option<u64>,
}

/// Which of the interrupts in a chain: others may be interrupted themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NestedInterrupt {
    Innermost,
    Outermost,
}

impl Interrupted {
    /// Finds the interrupted code in the chain at the interrupt's entry, innermost first; `None` if the chain does
    /// not show the entry.
    pub(crate) fn find(tid: u32, chain: &[u64], which: NestedInterrupt, symbols: &Symbols) -> Option<Interrupted> {
        let addresses: Vec<u64> = chain.iter().copied().filter(|address| *address < MARKERS).collect();
        // A return address points behind the call, which may be a function's last instruction.
        let mut frames: Vec<StackFrame> = addresses
            .iter()
            .map(|at| frame(at.saturating_sub(1), symbols))
            .collect();
        let mut entries = frames.iter().map(|f| f.kind == FrameKind::Interrupt);
        let entry = match which {
            NestedInterrupt::Innermost => entries.position(|is| is),
            NestedInterrupt::Outermost => entries.rposition(|is| is),
        }?;
        let at = addresses.get(entry + 1).copied();
        let mut chain = frames.split_off(entry + 1);
        if let (Some(at), Some(first)) = (at, chain.first_mut()) {
            *first = frame(at, symbols);
        }
        chain.reverse();
        Some(Interrupted {
            tid,
            chain,
            at,
            returns_to: addresses.get(entry + 2).copied(),
        })
    }

    /// Whether the kernel was at work, and not in its idle loop.
    pub(crate) fn is_kernel_work(&self) -> bool {
        let is_idle = |f: &StackFrame| roles::role(&f.function) == Some(FunctionRole::Idle);
        !self.chain.is_empty() && self.tid != 0 && !self.chain.iter().any(is_idle)
    }

    /// The innermost function that is not a mechanism's own helper.
    pub(crate) fn place(&self) -> Option<CodePlace> {
        let mut frames = self.chain.iter().rev().filter(|f| !roles::is_helper(&f.function));
        let function = frames.next().or(self.chain.last())?;
        Some(CodePlace {
            function: function.function.clone(),
            caller: frames.next().map(|f| f.function.clone()),
            offset_ns: None,
            source: None,
        })
    }
}

fn frame(address: u64, symbols: &Symbols) -> StackFrame {
    let Some(symbol) = symbols.lookup(address) else {
        return StackFrame {
            function: format!("{address:#x}"),
            module: None,
            kind: FrameKind::Unknown,
            source: None,
        };
    };
    let function = roles::whole(&symbol.name).to_string();
    StackFrame {
        kind: FrameKind::of(roles::role(&function)),
        function,
        module: symbol.module.clone(),
        source: None,
    }
}
