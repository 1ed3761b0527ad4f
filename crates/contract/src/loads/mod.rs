//! Loads as users ask for them.
//!
//! ```text
//! table  LOADS: every load, what it takes, and which venue has it
//! spec   LoadSpec: what a user types ("apps:30", "find@100+compile+compile")
//! ```

mod command_line;
mod spec;
mod table;

pub use spec::{LoadPart, LoadSpec, MAX_RATE};
pub use table::{LOADS, LoadInfo, Takes, modules};
pub use worstcase_instruments::loads::LoadKind;
