//! A program of the user's own, followed while it runs.
//!
//! ```text
//! keep   its cycles as a run folder
//! ```

pub mod keep;

pub use worstcase_traces::follow::CycleTimes;
