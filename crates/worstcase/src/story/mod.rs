//! Why a sample was late: from an execution to a story.
//!
//! ```text
//! execution   what ran, block by block, with symbols and tasks   (lab: from a replay; host: from a trace)
//! ```

pub mod execution;
