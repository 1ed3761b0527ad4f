//! What a lab machine and QEMU's plugin must agree on, and what the plugin tells of it: quantities, marks, logs.
//!
//! ```text
//! units    time and instructions
//! prng     numbers by seed
//! machine  how many CPUs a lab machine has at most
//! mark     tells the plugin which instruction belongs to which sample (a no-op elsewhere)
//! trace    the plugin's event log
//! census   the plugin's list of stretches in which a wake-up would have had to wait
//! window   the plugin's log of every block in a window, to explain a sample
//! ```
//! Each log is written by the plugin and read at the controller; writer and reader stand in one file.

pub mod census;
pub mod machine;
pub mod mark;
pub mod prng;
pub mod trace;
pub mod units;
pub mod window;

pub use units::{Instructions, Nanos};
