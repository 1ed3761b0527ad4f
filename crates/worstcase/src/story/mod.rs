//! Why a sample was late: from an execution to a story.
//!
//! ```text
//! execution   what ran, block by block, with symbols and tasks   (from a replay in the lab)
//! decode      what matters of a block's machine code
//! frames      call chains from calls and returns                 execution -> intervals, marks
//! roles       what the kernel's functions mean to a story: a table
//! ```

pub mod decode;
pub mod execution;
pub mod frames;
pub mod roles;
pub mod stacks;
#[cfg(test)]
mod testing;
