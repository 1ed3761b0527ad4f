//! Measuring this machine: from what is asked to records in a run folder.
//!
//! ```text
//! subject      this machine as a subject            worker       the measuring process's side
//! measurement  the measuring process, from outside  keep         files of packed samples -> record
//! matrix       loads, probes and seeds in turn   rows         those files, sample by sample
//! timerlat     what the kernel's tracer needs       placement    on which CPUs a probe runs that asks for a place
//! bench        a probe that does not measure CPU by CPU -> record
//! ```

mod bench;
pub mod keep;
pub mod matrix;
pub mod measurement;
pub mod placement;
mod rows;
pub mod subject;
pub mod timerlat;
pub mod worker;

pub use matrix::{Matrix, run};
pub use measurement::Watch;
