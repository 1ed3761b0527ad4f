//! Debug information: from a code address to the line of source code.
//!
//! ```text
//! worstcase_kernels::debuginfo (sections, build-id, what is kept) ──> lookup ──> breakdown::lines::Source
//!                                                          paths: file names from the top of the source
//! module: the same of a kernel module, whose file holds no addresses: its sections are moved to where they lie in memory
//! ```
//!
//! Kernels of the lab are not relocated, so the addresses in the file are those that ran. The build-id, which the linker
//! wrote into both, tells that the file is of the same build.

mod lookup;
mod module;
mod of_cell;
mod paths;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use lookup::DebugInfo;
pub(crate) use lookup::{LineTable, readable};
pub(crate) use module::{Modules, program_lines};
pub(crate) use of_cell::LineOrigin;
