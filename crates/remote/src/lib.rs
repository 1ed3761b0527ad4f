//! Cells on other machines: a batch system (Slurm), and machines that ssh reaches.
//!
//! ```text
//! choice      what stands behind --executor
//! executable  worstcase itself, where other machines can execute it
//! slurm/      options   what stands behind slurm:
//!             chunks    cells to tasks of an array: few files, few calls
//!             job       the folder that controller and nodes share: plan, images, what is done, what failed
//!             commands  sbatch, squeue, scancel, scontrol
//!             node      what a task of the array does
//!             executor  plans, submits, watches, takes in
//! ssh/        hosts     the hosts file
//!             command   ssh, and the way a machine is made ready
//!             message   what controller and worker say to each other
//!             worker    what runs there
//!             slot      one connection: measures a cell at a time
//!             board     `host run` on another machine, which keeps nothing of it
//!             executor  gives each slot the next cell
//! ```
//! Nothing here decides what is measured where: Slurm does, or whichever slot is free. A cell is named by its content
//! (`worstcase_lab::cell::key`), and its result is equal whoever measured it; where two machines gave one, they are compared.

pub mod choice;
mod error;
mod executable;
pub mod slurm;
pub mod ssh;

pub use choice::ExecutorChoice;
pub use error::RemoteError;
pub use executable::Executable;
