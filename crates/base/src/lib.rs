//! What every crate uses: exit codes, numbers and foreign text for people, durations, digests, the cache with its
//! checksums, bounded reading and safe writing of files, which users root trusts, calendar time.

#![deny(clippy::print_stderr, reason = "it panics where nobody reads: say!")]

pub mod cache;
pub mod child;
pub mod closed;
pub mod defect;
pub mod digest;
mod distinct;
pub mod duration;
mod errors;
mod exit;
pub mod files;
pub mod format;
pub mod interrupt;
pub mod lock;
pub mod machine;
pub mod near;
pub mod output;
pub mod progress;
pub mod room;
mod said;
pub mod sealed;
pub mod tail;
pub mod trust;
pub mod unforeseen;
pub mod utc;

pub use distinct::distinct;
pub use exit::ExitKind;
