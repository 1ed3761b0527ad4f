//! Measuring this machine: from what is asked to records in a run folder.
//!
//! ```text
//! subject      this machine as a subject            worker       the measuring process's side
//! measurement  the measuring process, from outside  keep         files of packed samples -> record
//! matrix       loads, probes and seeds           rows         those files, sample by sample
//! specs        an experiment -> measurements     executor     takes them in turn
//! timerlat     what the kernel's tracer needs       placement    on which CPUs a probe runs that asks for a place
//! settings     what is set meanwhile             placed       what one measurement alone sets, and its folders
//! matter       the loads that matter for a machine
//! speed        CPUs at one frequency                beside     others that measure at the same time
//! timer        which timer wakes the measuring threads
//! work_dir     where the loads work: a folder with a random name
//! fits         what of a study this machine can do
//! bench        a probe that does not measure CPU by CPU -> record     origin   where and when: what a record keeps
//! ```

mod bench;
mod beside;
pub mod executor;
mod fits;
mod io_scheduler;
pub mod keep;
pub mod matrix;
pub mod matter;
pub(crate) mod measurement;
pub mod origin;
pub(crate) mod placed;
pub(crate) mod placement;
pub(crate) mod rows;
pub(crate) mod settings;
pub mod specs;
mod speed;
pub mod subject;
mod timer;
pub mod timerlat;
pub mod trial;
mod work_dir;
pub mod worker;

pub use executor::HostExecutor;
pub use fits::leave_out;
pub use matrix::HostMatrix;
pub use measurement::MeasurementObserver;
