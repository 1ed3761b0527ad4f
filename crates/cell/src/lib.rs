//! One cell on the machine that is measured, host or lab guest.
//!
//! ```text
//! order       what is asked for: typed, no grammar                  controller -> measured machine
//! bench       the list of all probes with parameters
//! loads       the list of all loads, and what a venue gives to them
//! probes      those without parameters, and a cell's way: load, probe, record
//! followed    a program of the user's own under the kernel's trace, in a lab machine
//! raw_record  what came of it                                       measured machine -> controller
//! ```
//! These lists are the only place that knows every probe and every load; both venues use them. Its bytes are part of every lab
//! result.

pub mod bench;
pub mod followed;
pub mod loads;
pub mod order;
pub mod probes;
mod raw_record;

pub use raw_record::{RawRecord, RecordError};
