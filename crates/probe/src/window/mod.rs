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

/// So many of a sender's last blocks are looked at.
pub const SENDERS_BLOCKS: usize = 20_000;

/// Another CPU sends the one that measures an interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// What the CPU that measures had executed by then.
    pub at: Instructions,
    /// The sender.
    pub cpu: u32,
    /// What the sender had executed.
    pub count: Instructions,
    /// The thread that runs on it: its id and its name.
    pub task: (u32, String),
    /// The system call that the thread has made and that is not over, by its number.
    pub system_call: Option<u32>,
    /// The last blocks that the sender ran for this thread, in order.
    pub steps: Vec<Step>,
    /// They go on where those of the interrupt that it sent before, in this window, end.
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
