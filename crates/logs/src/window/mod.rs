//! The plugin's window log: every block that ran while the instruction count was in a window, and for which task.
//!
//! ```text
//! ask   what the controller asks of the plugin, as arguments: the windows, and where the kernel keeps its tasks
//! log   what the plugin writes: blocks, steps, tasks, contexts; a file that is whole, or refused
//! ```
//! A step is the start of one block. How much of the block ran shows in the next step's count: a fault, an
//! interrupt or a device can leave a block early.

pub mod ask;
pub mod log;

use crate::units::Instructions;
use serde::{Deserialize, Serialize};

/// A block of code: straight-line instructions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Virtual address of its first instruction.
    pub address: u64,
    /// Length of each instruction in bytes.
    pub lengths: Vec<u8>,
    /// Its machine code.
    pub code: Vec<u8>,
}

/// One execution of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which block, as an index.
    pub block: u32,
    /// Instructions executed before its first.
    pub count: Instructions,
}

/// A task becomes current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFrom {
    /// From this instruction on.
    pub count: Instructions,
    /// Thread id; 0 is the idle task.
    pub pid: u32,
    /// The kernel's name of it (`comm`).
    pub comm: String,
}

/// A block writes to a lock: of the lock functions, or of code that gives a lock back by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockWrite {
    /// The count of the block's first instruction.
    pub count: Instructions,
    /// The lock's virtual address.
    pub lock: u64,
}

/// Why another CPU is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// It sends the one that measures an interrupt.
    Sends,
    /// The one that measures waits in a loop of the kernel's: the last moment of that.
    IsWaitedFor,
}

impl Why {
    /// So many of its last blocks are looked at: there may be thousands of senders, and a wait may be long.
    pub const fn blocks(self) -> usize {
        match self {
            Why::Sends => 20_000,
            Why::IsWaitedFor => 200_000,
        }
    }
}

/// What another CPU than the one that measures did until a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// Why it is looked at.
    pub why: Why,
    /// What the CPU that measures had executed by then.
    pub at: Instructions,
    /// The other one.
    pub cpu: u32,
    /// What it had executed.
    pub count: Instructions,
    /// The thread that runs on it: its id and its name.
    pub task: (u32, String),
    /// The system call that the thread has made and that is not over, by its number.
    pub system_call: Option<u32>,
    /// The last blocks that it ran for this thread, in order.
    pub steps: Vec<Step>,
    /// They go on where those end that are told of it before, in this window.
    pub goes_on: bool,
}

/// What the kernel is in from an instruction on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextFrom {
    /// From this instruction on.
    pub count: Instructions,
    /// The system call that the current task has made from user code and that is not over, by its number.
    pub system_call: Option<u32>,
    /// The kernel counts a reason not to preempt, beside interrupts.
    pub preempt_off: bool,
}
