//! Events that cost time on a real CPU, and where the plugin writes how many there were.
//!
//! ```text
//! event      the list: name, description
//! counts     how many of each
//! caches     the geometry of the caches that are counted with
//! log        the plugin's file: events in windows, and counts between two addresses
//! ```
//! Nothing here knows what an event takes: that is a machine's own.

mod caches;
mod counts;
mod event;
pub mod log;

pub use caches::{CacheGeometry, DATA, INSTRUCTIONS, LINE, SECOND, THIRD, WARM_UP};
pub use counts::EventCounts;
pub use event::CostEvent;
