//! What every box uses and none owns: exit codes, numbers and foreign text for people, durations, digests, the cache,
//! and whom root trusts.

pub mod cache;
pub mod digest;
mod distinct;
pub mod duration;
mod exit;
pub mod format;
pub mod trust;

pub use distinct::distinct;
pub use exit::Exit;
