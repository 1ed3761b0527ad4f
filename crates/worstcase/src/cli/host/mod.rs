//! `worstcase host`: describes this machine, finds settings that harm latency, and measures it.

mod broke;
mod calibrate;
mod check;
mod choice;
mod doctor;
mod folder;
mod follow;
mod hooks;
mod isolate;
mod lines;
mod live;
mod machine;
mod on;
mod restore;
mod run;
mod show;
mod try_settings;
mod try_switch;
mod watch;
mod words;

pub(crate) use choice::OfStudy;
pub use folder::{RunPlace, usual as usual_folder};

use crate::cli::error::Error;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_base::say;
use worstcase_host::restore::left_over;
use worstcase_host::{CpuList, HostError, StateFolder, guard_process};
use worstcase_plan::ExperimentPlan;

/// Examples of the group.
pub(super) const HELP: &str = "\
Examples:
  worstcase host check --period 1ms --deadline 100us
  worstcase host doctor
  worstcase host run --load desktop --time 10m";

const RESTORE_HELP: &str = "\
Examples:
  worstcase host restore

Every other command of the group does this first, too.
Exit code: 0 nothing is left, 3 something could not be set back.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum HostCommand {
    /// Can this machine keep a deadline? Doctor, loads, verdict, cause and a page in one command
    Check(check::CheckArgs),
    /// Measure this machine
    Run(Box<run::HostRunArgs>),
    /// Measure this machine without an end, in periods that are kept; with metrics for Prometheus
    Watch(Box<watch::WatchArgs>),
    /// What each event of a path takes on this machine: a file that says how long counted paths would take here
    Calibrate(calibrate::CalibrateArgs),
    /// Show what this machine is, as far as it matters for latency
    Show(show::HostShowArgs),
    /// Say what of this machine harms latency, why, and the remedy; or set it for the length of a command
    Doctor(doctor::DoctorArgs),
    /// Try each setting that the doctor can make, and all together: what helps?
    Try(try_settings::TryArgs),
    /// Who disturbs a CPU: everything that entered it, by cause and sender, with the remedy
    Isolate(isolate::IsolateArgs),
    /// Why a program of yours is late: the cycles of its thread, and where the time of the worst ones went
    Follow(Box<follow::FollowArgs>),
    #[command(after_help = RESTORE_HELP)]
    /// Undo what a killed command changed on this machine, and say what
    Restore,
}

/// Runs a subcommand.
pub fn run(command: HostCommand) -> Result<ExitCode, Error> {
    match command {
        HostCommand::Check(args) => {
            settle();
            check::run(&args, &StateFolder::open()?)
        }
        HostCommand::Run(args) => {
            settle();
            run::run(&args, &StateFolder::open()?)
        }
        HostCommand::Watch(args) => {
            settle();
            watch::run(&args, &StateFolder::open()?)
        }
        HostCommand::Calibrate(args) => calibrate::run(&args),
        HostCommand::Show(args) => {
            settle();
            show::run(&args).map(|()| ExitCode::SUCCESS)
        }
        HostCommand::Doctor(args) => {
            settle();
            doctor::run(&args)
        }
        HostCommand::Try(args) => {
            settle();
            try_settings::run(&args, &StateFolder::open()?)
        }
        HostCommand::Isolate(args) => {
            settle();
            isolate::run(&args)
        }
        HostCommand::Follow(args) => {
            settle();
            follow::run(&args)
        }
        HostCommand::Restore => restore::run(&left_over(&StateFolder::open()?)?),
    }
}

/// Measures this machine as a study asks.
pub fn measure(plan: ExperimentPlan, place: &RunPlace) -> Result<ExitCode, Error> {
    settle();
    run::measure(
        plan,
        place,
        &StateFolder::open()?,
        &run::ViewArgs::default(),
        hooks::Hooks::default(),
    )
}

/// Undoes what killed commands left, before another begins. Looking at a machine works without a place for journals.
fn settle() {
    match StateFolder::open().and_then(|state| left_over(&state)) {
        Ok(restored) => restore::note(&restored),
        Err(e) => say!("worstcase: {e}"),
    }
}

/// Arguments of the hidden `worstcase host-guard`.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// The journal to undo when standard input ends
    journal: PathBuf,
}

/// Runs the measuring process.
pub(crate) fn run_worker() -> Result<ExitCode, Error> {
    worstcase_host::run::worker::run().map_err(|e| HostError::Worker(e.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Arguments of the hidden `worstcase host-keeper`.
#[derive(Debug, Args)]
pub struct KeeperArgs {
    /// The descriptor of the socket by which it is told what to do
    socket: i32,
    /// The command
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs the keeper.
pub(crate) fn run_keeper(args: &KeeperArgs) -> Result<ExitCode, Error> {
    worstcase_host::follow::keeper::run(args.socket, &args.command).map_err(|e| HostError::Worker(e.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Arguments of the hidden `worstcase host-occupant`.
#[derive(Debug, Args)]
pub struct OccupantArgs {
    /// The CPUs to keep busy until standard input ends
    cpus: CpuList,
}

/// Runs the occupant.
pub(crate) fn run_occupant(args: &OccupantArgs) -> Result<ExitCode, Error> {
    worstcase_host::isolate::occupant::run(&args.cpus).map_err(|e| HostError::Worker(e.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the guard.
pub(crate) fn run_guard(args: &GuardArgs) -> Result<ExitCode, Error> {
    guard_process::run(&args.journal).map_err(|e| HostError::Guard(e.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
