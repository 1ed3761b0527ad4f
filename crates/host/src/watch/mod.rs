//! A measurement without an end, kept segment by segment.
//!
//! ```text
//! file     watch.json: what is watched, and when it was not     folder   the segments' run folders
//! segment  what the measuring process says of one -> cells      keeper   what comes in -> folders
//! observer what others are told meanwhile
//! suspend  whether the machine slept                            run      all of it
//! ```

mod file;
mod folder;
mod keeper;
mod observer;
mod run;
mod segment;
mod suspend;

pub use file::{GapReason, WatchGap};
pub use folder::WatchError;
pub use observer::{KeptSegment, WatchEvent, WatchObserver};
pub use run::{WatchOrder, run};
