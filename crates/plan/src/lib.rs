//! Questions: an [`Experiment`], and the files that ask one.
//!
//! ```text
//! study       a file: a question, its experiments, its claims            ─┐
//! lab run     kernels and the rest as options                             ├─> Experiment ─> cells ─> an executor
//! host run    CPUs and the rest as options                               ─┘        └─> the command that asks it again
//!
//! experiment  the experiment and its parts        check       what cannot be measured, in one line
//! cells       an experiment multiplied out        grammar     words for loads and probes, and what is usual
//! difference  what tells two experiments apart    command     the command line that asks for one
//! parameters  each in one row: options, keys of studies, labels and differences are read off it
//! study       study files                         model, method, smp, arch    words and their values
//! ```
//! A study file and both command lines only fill an [`Experiment`]; the code that runs it does not know them. The
//! experiment is kept with the run, so that resuming compares the measurement, not how it was typed.

mod apply;
mod arch;
mod cells;
mod check;
mod command;
mod cpu_scheduler;
mod difference;
mod disk;
mod experiment;
pub mod grammar;
mod io_scheduler;
mod method;
mod model;
mod on_arch;
pub mod parameters;
pub mod sensitivity;
mod smp;
pub mod study;
mod virtual_machine;

pub use apply::Apply;
pub use arch::{Arch, NOT_ONE_UNIT};
pub use cells::{Combination, PlannedCell};
pub use check::{MOST_CELLS, NO_CENSUS_OF_ORDINARY, Problem, no_census_without_timer};
pub use command::{command, to_go_on};
pub use cpu_scheduler::{CpuScheduler, NoCpuScheduler};
pub use difference::ExperimentDifference;
pub use disk::{DiskSpec, NoDisk};
pub use experiment::{
    Added, CellLength, Experiment, ExperimentPlan, HostSetup, LabModule, Method, Part, PlannedSubject, PreemptChoice,
    Seeds, StudySource, Subjects, Timing,
};
pub use io_scheduler::{IoScheduler, IoSchedulers, NoIoScheduler};
pub use method::{SchedulingPolicy, TimerKind, UnknownWord};
pub use model::{PreemptName, UnknownModel};
pub use on_arch::ModelInPlace;
pub use parameters::typed;
pub use smp::Smp;
pub use study::{Claim, Demand, Study, StudyError, StudyVariant};
pub use virtual_machine::{BootParameters, CpuModel, VirtualMachine};
pub(crate) use virtual_machine::{DEFAULT_MEMORY_MB, DEFAULT_MIPS};
pub use worstcase_contract::Venue;
pub use worstcase_contract::cpus::{CpuList, NoCpuList};
pub use worstcase_contract::machine::DEFAULT_QUANTUM;
