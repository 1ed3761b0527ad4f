//! The lab: stock kernels in QEMU under instruction-counted time.
//!
//! ```text
//! Qemu      which QEMU is here, the files that it is made of, and which plugin fits it
//! VirtualMachine   the virtual machine: speed, memory; its arguments, to the byte
//! additions what the user puts into the machines: programs, kernel modules of his own
//! Subject   kernel + preemption model + VirtualMachine
//! image     the initramfs: guest, modules, additions
//! Prepared  a Subject with its image and its key
//! confine   who a QEMU is, and what it may touch of the controller
//! place     the folder that it works in; handed: files that it has open
//! watchdog  when a QEMU that does not get on is given up
//! invocation QEMU's command line, and the files of its folder
//! direct_kernel  the uncompressed kernel that is booted              (kept in the cache, by content)
//! boot      boots a Subject and stops it at its ready point: a Snapshot  (kept in the cache, by content)
//! board     what differs between the machines of two architectures; record_file: where a message is left
//! BootState what each boot of a Subject must come to                  (kept in the cache, by content)
//! cell      a fork of a Snapshot that measures one CellSpec -> record (kept in the cache, by content)
//! followed  a program's trace -> its cycles -> the record
//! stamps    joins the plugin's events to the samples
//! moments   each sample in instruction counts
//! symbols   the names of a subject's kernel code, and where it keeps its tasks
//! execution what ran around one sample
//! replay    a cell again, with every block logged around chosen samples: what explain reads
//! checkpoints a cell's machine, stopped on its way: where replays begin (kept in the cache, by content)
//! guest_pages what a machine changed in its memory
//! again     a recorded cell, ready to be run again
//! cycle_replay  a cycle of a followed program again; guest_clock: which instruction ran when
//! matrix    many cells, with the subjects that they run on
//! planned   the cells of a matrix as an executor sees them: their tasks, keys and records, without a machine
//! parcel    a Subject on its way to another machine, and the cells that are measured there
//! ready     what a machine said of itself when it was ready            (kept in the cache, by content)
//! speed     how long boots and cells take here                       (kept in the cache, for each machine)
//! ahead     what is to be booted and measured, and how long that takes
//! models    an experiment's cells, once the models that its kernels can boot are known
//! operations the operations of calibrations, and the events that each consists of
//! executor  boots the subjects and runs the cells, several QEMUs at once
//! ```
//! Every value that reaches the guest is an input of the content keys; nothing of the controller (time, paths, load) is.

pub mod added;
pub mod additions;
pub mod again;
pub mod ahead;
mod board;
pub mod boot;
mod boot_state;
pub mod cell;
pub mod census;
mod checkpoint;
pub mod checkpoints;
mod confine;
pub mod cpio;
pub mod cycle_replay;
mod direct_kernel;
pub mod execution;
pub mod executor;
pub mod followed;
mod fork;
#[doc(hidden)]
pub mod fuzz;
pub mod guest_clock;
mod guest_pages;
mod handed;
pub mod image;
mod invocation;
mod kernel_facts;
mod kernel_memory;
mod labels;
mod later;
pub mod machine;
pub mod matrix;
mod message;
pub mod models;
pub mod moments;
pub mod operations;
pub(crate) mod own_module;
pub mod parcel;
pub mod payload;
mod place;
pub mod planned;
mod plugin_log;
pub mod prepared;
mod process;
pub mod qemu;
mod qemu_files;
mod qmp;
pub mod ready;
mod record_file;
pub mod replay;
mod scheduler;
pub mod snapshot;
pub mod speed;
pub mod stamps;
mod subject;
pub mod symbols;
mod tracer;
pub mod vectors;
pub mod verify;
mod warm;
mod watchdog;
pub(crate) mod witness;

use std::path::PathBuf;
use worstcase_contract::Instructions;
use worstcase_plan::Arch;

/// What builds an executable that carries the programs for an architecture; `WORSTCASE_LAB=no make build` has none.
fn build_with(arch: Arch) -> &'static str {
    match arch {
        Arch::X86 => "make build",
        Arch::Arm64 => "scripts/prepare-board && make build",
    }
}

/// The remedy where a file of a boot is damaged in the cache.
const BOOT_AGAIN: &str = "the subject is booted again";

worstcase_base::errors! {
    /// Errors of the lab. Every message says what happened and what to do.
    #[derive(Debug, thiserror::Error)]
    pub enum LabError {
        /// An executable for another processor.
        #[error(
            "the lab needs an x86-64 controller at present, and this one is {}; type the same on a PC, and take its run here \
             for show, report, compare and gate; `worstcase host` measures this machine",
            std::env::consts::ARCH
        )]
        Controller => Missing,
        /// No QEMU on this machine.
        #[error("no {program} found; install Debian's {package}, or name one with --qemu PATH")]
        NoQemu {
            /// The program.
            program: &'static str,
            /// Debian's package with it.
            package: &'static str,
        } => Missing,
        /// There is no QEMU where the user says.
        #[error("no {program} found at {} ({source}); install Debian's {package}, or name one with --qemu PATH", path.display())]
        NoQemuAt {
            /// The program.
            program: &'static str,
            /// Debian's package with it.
            package: &'static str,
            /// The path.
            path: PathBuf,
            /// The system's error.
            source: std::io::Error,
        } => Usage,
        /// A QEMU that the plugin cannot work with.
        #[error("{program}: {version} is not supported; the lab needs QEMU 7.2 (Debian 12), 8.2 (Ubuntu 24.04), 10 (Debian 13) or 11: name one with --qemu", program = .program.display())]
        QemuVersion {
            /// The program that was asked.
            program: PathBuf,
            /// Its answer to `--version`.
            version: String,
        } => Missing,
        /// The files of a QEMU cannot be determined.
        #[error("cannot tell what {} is made of: {reason}; name QEMU itself with --qemu", program.display())]
        QemuFiles {
            /// The program that was asked.
            program: PathBuf,
            /// Why.
            reason: String,
        } => Missing,
        /// A QEMU of another architecture.
        #[error("{} is a QEMU for {found}, and machines of {arch} are to run; name {wanted} with --qemu, or none", program.display())]
        QemuOfOther {
            /// The program that was asked.
            program: PathBuf,
            /// What it emulates.
            found: String,
            /// The machines' architecture.
            arch: Arch,
            /// The program that emulates that.
            wanted: &'static str,
        } => Usage,
        /// An executable that was built without the programs for an architecture.
        #[error("this worstcase carries nothing for machines of {0}: give '{remedy}' in its source", remedy = build_with(*.0))]
        CarriesNone(Arch) => Missing,
        /// An executable that was built where the loader of schedulers could not be.
        #[error("this worstcase cannot load schedulers: their loader could not be built with it; 'make build' in its source says why")]
        CarriesNoLoader => Missing,
        /// QEMU refused something or broke.
        #[error("QEMU failed: {0}")]
        Qemu(String) => Measured,
        /// QEMU closed its protocol session.
        #[error("QEMU ended unexpectedly{0}")]
        QemuEnded(String) => Measured,
        /// QEMU is there and cannot be started.
        #[error("cannot start {}: {source}; does this user have a limit that is too low (ulimit -a)?", program.display())]
        QemuStart {
            /// The program.
            program: PathBuf,
            /// The system's error.
            source: std::io::Error,
        } => Missing,
        /// The wall-clock limit for one machine is over.
        #[error("the machine was stopped at its time limit of {} s; raise it with --timeout", .0.as_secs())]
        TimeLimit(std::time::Duration) => Measured,
        /// The machine makes no progress.
        #[error("the machine was stopped: it stood still for {} s after {} instructions, although QEMU could run", .0.as_secs(), .1.0)]
        StandsStill(std::time::Duration, Instructions) => Measured,
        /// The machine runs, but does not come to its end.
        #[error("the machine was stopped after {} instructions, many times what it should need: it runs in circles", .0.0)]
        Endless(Instructions) => Measured,
        /// The guest reported an error.
        #[error("{what}: {message}")]
        Guest {
            /// Subject or cell.
            what: String,
            /// The error that the guest sent.
            message: String,
        } => Measured,
        /// The guest sent nothing usable.
        #[error("{what}: {reason}; last console lines:\n{console}")]
        NoResult {
            /// Subject or cell.
            what: String,
            /// Why there is no result.
            reason: String,
            /// The end of the console.
            console: String,
        } => Measured,
        /// The kernel runs another preemption model than the requested one.
        #[error(
            "{kernel} was booted with preempt={asked} but runs '{in_force}'; see 'worstcase kernels show {kernel}' for the models it can boot"
        )]
        OtherPreempt {
            /// The kernel's name.
            kernel: String,
            /// The requested model.
            asked: String,
            /// The model that the kernel reports.
            in_force: String,
        } => Usage,
        /// A result or a snapshot in the cache that cannot be read.
        #[error("damaged in the cache, {}: {reason}; remove this folder, and {again}", folder.display())]
        Damaged {
            /// The folder of the entry.
            folder: PathBuf,
            /// What is wrong with it.
            reason: String,
            /// What is done once it is removed.
            again: &'static str,
        } => Storage,
        /// A snapshot whose clock jumped at every attempt.
        #[error(
            "{0}: the virtual clock jumped at every attempt to take a snapshot ({1}); is this machine out of memory or stopped?"
        )]
        ClockJump(String, worstcase_contract::Nanos) => Measured,
        /// A second boot with another result than the first.
        #[error(
            "{what}: this boot is not the same machine as the first: {difference}; results from both cannot be compared. \
             To begin anew, remove {}, and measure again", folder.display()
        )]
        OtherBoot {
            /// The subject.
            what: String,
            /// What differs.
            difference: String,
            /// The folder with the first boot's state.
            folder: PathBuf,
        } => Measured,
        /// A request that makes no sense.
        #[error("{0}")]
        Request(String) => Usage,
        /// The plugin's log does not match the record.
        #[error("{0}: the plugin's log does not fit the samples: {1}")]
        Stamps(String, String) => Measured,
        /// A program that is the probe has no cycles, or its trace cannot be read.
        #[error("{0}: {1}")]
        Followed(String, String) => Measured,
        /// The record contradicts what the plugin saw.
        #[error("{0}: {1}; it is no result: look at what the load and the modules do in the machine")]
        Contradicted(String, #[source] witness::RecordContradiction) => Measured,
        /// A recorded cell cannot be repeated with the inputs that are here.
        #[error("{cell} cannot be replayed: {what}; measure it again first")]
        OtherInputs {
            /// The cell.
            cell: String,
            /// The input that has changed.
            what: String,
        } => Usage,
        /// Two runs of one cell differ.
        #[error("{cell}: run {run} gave {found} instead of {expected}: the cell is not reproducible here")]
        NotReproducible {
            /// The cell.
            cell: String,
            /// Number of the run, from 1.
            run: usize,
            /// Its digest.
            found: String,
            /// The first run's digest.
            expected: String,
        } => Measured,
        /// A replay that differs from the measured execution.
        #[error(
            "{0}: the replay is not the execution that was measured ({1} differ), so nothing can be told of it; \
             was it measured by another QEMU or worstcase?"
        )]
        OtherExecution(String, &'static str) => Measured,
        /// A kernel that does not show what a replay needs.
        #[error("{kernel}: {reason}")]
        Unreadable {
            /// Which kernel.
            kernel: String,
            /// What is missing, and what would help.
            reason: String,
        } => Measured,
        /// A machine on which the subject would differ.
        #[error("{what}: {machine} would measure another machine: {reason}")]
        OtherMachine {
            /// The subject.
            what: String,
            /// The machine's name.
            machine: String,
            /// What differs there, and the remedy.
            reason: String,
        } => Missing,
        /// Files of ours.
        #[error("{}: {source}", path.display())]
        Io {
            /// The file.
            path: PathBuf,
            /// Why.
            source: std::io::Error,
        } => Storage,
        /// The kernel.
        #[error(transparent)]
        Kernel(#[from] worstcase_kernels::KernelError) => within,
        /// The run folder.
        #[error(transparent)]
        Run(#[from] worstcase_results::record::RunError) => within,
        /// The cache.
        #[error(transparent)]
        Cache(#[from] worstcase_base::cache::CacheError) => within,
    }
}

impl LabError {
    /// Names the file that a system error speaks of.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::Io { path, source }
    }
}
