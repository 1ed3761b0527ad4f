//! Debug information: from a code address to the line of source code.
//!
//! ```text
//! vmlinux with DWARF ──elf──> sections, build-id ──> lookup ──> story::lines::Source
//!        │                                             paths: file names from the top of the source
//!        └──slim──> only what lookups need ──kept──> the cache
//! ```
//!
//! Kernels of the lab are not relocated, so the addresses in the file are those that ran. That it is the same build is
//! told by the build-id, which the linker wrote into both.

mod build_id;
mod elf;
mod error;
pub mod kept;
mod lookup;
mod paths;
mod slim;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use build_id::BuildId;
pub use error::DebugInfoError;
pub use lookup::DebugInfo;
