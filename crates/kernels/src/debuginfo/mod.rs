//! Debug information of a kernel: its file's sections and build-id, and the part of it that is kept.
//!
//! ```text
//! vmlinux with DWARF ──elf──> sections, build-id
//!        └──slim──> only what looking up lines needs ──kept──> the cache
//! ```

mod build_id;
pub mod elf;
mod error;
pub mod kept;
pub mod slim;

pub use build_id::BuildId;
pub use error::DebugInfoError;
