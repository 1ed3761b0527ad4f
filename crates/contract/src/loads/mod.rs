//! Loads as users ask for them: what differs from load to load is a field of [`LoadInfo`].
//!
//! ```text
//! info   LoadInfo: what controllers know of one
//! list   LOADS: all rows; they stand in the other files, loads that are alike in one
//! words  what a load's name and parameter are, and where one load ends and the next begins
//! spec   LoadSpec: what a user types ("apps:30", "find@100+compile+compile")
//! ```

mod block;
pub mod command_line;
mod files;
mod idle;
mod info;
mod interrupts;
mod kernel;
mod list;
mod memory;
mod processes;
mod programs;
mod spec;
mod words;

pub use info::LoadInfo;
pub use list::{LOADS, drivers, modules};
pub use spec::{LoadPart, LoadSpec};
pub(crate) use words::RATE;
pub use worstcase_cell::loads::LoadKind;
