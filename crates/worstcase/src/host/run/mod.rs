//! Measuring this machine: from what is asked to records in a run folder.
//!
//! ```text
//! subject      this machine as a subject            worker       the measuring process's side
//! measurement  the measuring process, from outside  keep         files of packed samples -> record
//! matrix       loads, probes and seeds in turn   rows         those files, sample by sample
//! timerlat     what the kernel's tracer needs
//! ```

pub mod keep;
pub mod matrix;
pub mod measurement;
mod rows;
pub mod subject;
pub mod timerlat;
pub mod worker;

pub use matrix::{Matrix, run};
pub use measurement::Watch;
