//! A measurement without an end, kept period by period.
//!
//! ```text
//! file     watch.json: what is watched, and when it was not     folder   the periods' run folders
//! period   a turn of the measuring process -> records           keeper   what comes in -> folders
//! suspend  whether the machine slept                            run      all of it
//! ```

mod file;
mod folder;
mod keeper;
mod period;
mod run;
mod suspend;

pub use file::{Gap, WATCH_FILE, WatchFile, Why};
pub use folder::WatchError;
pub use keeper::Kept;
pub use run::{Event, Look, Order, run};
