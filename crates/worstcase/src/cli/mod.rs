//! The command line: one file a subcommand, each with its arguments and its handler.

mod against;
mod ahead;
mod arranged;
pub(crate) mod bisect;
mod breakdown_files;
mod cell_names;
pub mod census;
pub mod compare;
mod completions;
mod error;
pub mod explain;
mod explanations;
mod followed;
pub mod gate;
pub mod history;
pub mod host;
pub mod import;
mod jobs;
pub mod kept;
mod kernels;
pub mod lab;
pub mod licences;
pub(crate) mod man;
mod output;
mod parameters;
pub mod plot;
mod progress;
mod reference;
mod replay;
pub mod report;
pub mod show;
mod slurm;
mod stop;
pub mod study;
pub mod verdict;
mod words;
mod worsening;

use arranged::ShownHelp;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;
use words::VERSION;
use worstcase_plan::ExperimentPlan;

/// Measures how late Linux can be, which kernel or setting is better, and why.
#[derive(Debug, Parser)]
#[command(version = VERSION, long_version = long_version(), about, after_help = EXIT_CODES)]
pub struct Cli {
    /// Show no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The same with what lab results depend on: figures of a document hold for a worstcase that carries the same.
fn long_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| format!("{VERSION}\nof lab results: {}", worstcase_lab::payload::DIGESTS))
}

const EXIT_CODES: &str = "\
Examples:
  worstcase lab run --kernel debian:6.1 --load procread,fork -o mine     measure kernels in QEMU
  worstcase explain mine                                                  why the worst sample was late
  worstcase report mine                                                   one page of it
  worstcase host run --load desktop --time 10m                            measure this machine
  worstcase import cyclictest.json                                        read what another tool measured

Every command has examples: worstcase COMMAND --help.

Exit codes:
  0  done
  1  a verdict is FAIL (only verdict, gate, host check, follow and isolate); a sample was above host run's --break;
     history --fail-on-change found a change for the worse
  2  wrong arguments or input, or a file that is not there
  3  a tool, a right or the network is missing
  4  the measured machine failed, or two runs of a cell differ
  5  storage failed: a full disk, a folder that may not be written
  6  a defect of worstcase: it says where, in one line to be reported
 10  a verdict is INCONCLUSIVE (only verdict, gate, host check, follow and isolate)
130  Ctrl-C or a signal ended it before it was done";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(subcommand, after_help = kernels::HELP)]
    /// Find, download and look at kernels
    Kernels(kernels::KernelsCommand),
    #[command(subcommand, after_help = lab::HELP)]
    /// Boot kernels in QEMU under instruction-counted time and measure them
    Lab(lab::LabCommand),
    /// Show what a run measured: a table, one cell, or data for programs
    Show(show::ShowArgs),
    /// Write runs as one page that works offline: the answer, pictures, breakdowns
    Report(report::ReportArgs),
    /// Does a run meet a limit? PASS, FAIL or INCONCLUSIVE, as exit code too
    Verdict(verdict::VerdictArgs),
    /// What changed between two runs, or two subjects of one, with a test over the seeds
    Compare(compare::CompareArgs),
    /// Is a run worse than a baseline? For CI: exit code, JUnit, Markdown
    Gate(gate::GateArgs),
    /// Many runs over time or kernels, and where they changed
    History(history::HistoryArgs),
    /// Which kernel, or which commit of a git tree, is the first that is worse
    Bisect(Box<bisect::BisectArgs>),
    /// Draw a run: each picture as an SVG file, for papers
    Plot(plot::PlotArgs),
    /// Why a sample was late: what ran, instruction by instruction
    Explain(Box<explain::ExplainArgs>),
    /// Every stretch in which a wake-up had to wait, of cells that are replayed
    Census(Box<census::CensusArgs>),
    #[command(subcommand, after_help = study::HELP)]
    /// List, show and run studies: a question, and the cells that answer it
    Study(study::StudyCommand),
    #[command(subcommand, after_help = host::HELP)]
    /// Measure this machine, and look at it: what it is, and what of it harms latency
    Host(host::HostCommand),
    /// List the loads, or tell of one what it does, takes and needs
    Loads(reference::LoadsArgs),
    /// List the probes, or tell of one what it measures, takes and needs
    Probes(reference::ProbesArgs),
    /// Import what cyclictest, rtla, oslat and others wrote, as a run
    Import(import::ImportArgs),
    /// Print the manual's page of a command, or write all pages into a folder
    Man(man::ManArgs),
    /// Print what completes this command line in a shell: bash, zsh or fish
    Completions(completions::CompletionsArgs),
    /// Print licences and copyright notices of all that this executable carries
    Licences(licences::LicencesArgs),
    #[command(hide = true)]
    /// Restores this machine when the worstcase that started it is killed
    HostGuard(host::GuardArgs),
    #[command(hide = true)]
    /// Starts a command for the worstcase that started it, and ends what that leaves
    HostKeeper(host::KeeperArgs),
    #[command(hide = true)]
    /// Keeps CPUs busy for the worstcase that started it
    HostOccupant(host::OccupantArgs),
    #[command(hide = true)]
    /// Measures, as the worstcase that started it says
    HostWorker,
    #[command(hide = true)]
    /// Measures a task of a Slurm job, as the worstcase that submitted it says
    LabNode(lab::NodeArgs),
    #[command(hide = true)]
    /// Measures cells for the worstcase that started it through ssh
    LabWorker(lab::WorkerArgs),
    #[command(hide = true)]
    /// Counts the events of the operations of a calibration, for scripts/calibration
    LabOperations(lab::OperationsArgs),
}

impl Command {
    /// Whether signals end it as they end what a user types: all but what worstcase starts itself, and what hands signals on to
    /// a command of the user's.
    fn listens(&self) -> bool {
        match self {
            Command::Host(host::HostCommand::Doctor(args)) => !args.hands_on_signals(),
            Command::HostGuard(_)
            | Command::HostKeeper(_)
            | Command::HostOccupant(_)
            | Command::HostWorker
            | Command::LabNode(_)
            | Command::LabWorker(_) => false,
            _ => true,
        }
    }
}

/// Runs the command.
pub fn run(cli: Cli) -> Result<ExitCode, Error> {
    if cli.quiet {
        progress::be_quiet();
    }
    if cli.command.listens() {
        stop::listen()?;
    }
    match cli.command {
        Command::Kernels(command) => kernels::run(command).map(|()| ExitCode::SUCCESS),
        Command::Lab(command) => lab::run(command),
        Command::Show(args) => Ok(show::run(&args)?),
        Command::Report(args) => Ok(report::run(&args)?),
        Command::Verdict(args) => Ok(verdict::run(&args)?),
        Command::Compare(args) => compare::run(&args),
        Command::Gate(args) => Ok(gate::run(&args)?),
        Command::History(args) => Ok(history::run(&args)?),
        Command::Bisect(args) => bisect::run(&args),
        Command::Plot(args) => plot::run(&args).map(|()| ExitCode::SUCCESS).map_err(Error::from),
        Command::Explain(args) => explain::run(&args),
        Command::Census(args) => census::run(&args),
        Command::Study(command) => study::run(command),
        Command::Host(command) => host::run(command),
        Command::Loads(args) => reference::run_loads(&args),
        Command::Probes(args) => reference::run_probes(&args),
        Command::Import(args) => Ok(import::run(&args)?),
        Command::Man(args) => man::run(&args, visible())
            .map(|()| ExitCode::SUCCESS)
            .map_err(Error::from),
        Command::Completions(args) => completions::run(&args),
        Command::Licences(args) => licences::run(&args).map(|()| ExitCode::SUCCESS).map_err(Error::from),
        Command::HostGuard(args) => host::run_guard(&args),
        Command::HostKeeper(args) => host::run_keeper(&args),
        Command::HostOccupant(args) => host::run_occupant(&args),
        Command::LabNode(args) => lab::run_node(&args),
        Command::LabWorker(args) => lab::run_worker(&args),
        Command::LabOperations(args) => lab::run_operations(&args).map(|()| ExitCode::SUCCESS),
        Command::HostWorker => host::run_worker(),
    }
}

impl Cli {
    /// The command line of this process; ends it with what clap says if it is none.
    pub fn read() -> Cli {
        let read = |shown| -> Result<Cli, clap::Error> {
            let matches = command_line(shown).try_get_matches()?;
            Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command_line(shown)))
        };
        let asks_all = || std::env::args_os().any(|word| word == "--help" || word == "help");
        let answer = match read(ShownHelp::All) {
            Err(error) if error.kind() == ErrorKind::DisplayHelp && !asks_all() => read(ShownHelp::Short),
            answer => answer,
        };
        let is_no_text = |word: &OsString| word.to_str().is_none();
        answer.unwrap_or_else(|error| match std::env::args_os().find(is_no_text) {
            // clap does not say which.
            Some(word) if error.kind() == ErrorKind::InvalidUtf8 => {
                let what = format!("{} is no UTF-8, which only files of yours may be\n", word.display());
                Cli::command().error(ErrorKind::InvalidUtf8, what).exit()
            }
            _ => error.exit(),
        })
    }

    /// The experiment that the command is going to measure, and its folder; none if it measures no run.
    pub fn plan(&self) -> Option<Result<(ExperimentPlan, PathBuf), Error>> {
        match &self.command {
            Command::Lab(lab::LabCommand::Run(args)) => Some(args.plan()),
            Command::Host(host::HostCommand::Run(args)) => Some(args.plan()),
            Command::Study(study::StudyCommand::Run(args)) => Some(args.plan()),
            _ => None,
        }
    }
}

/// Answers a shell and ends, if a shell asks what completes the command line.
pub fn complete() {
    completions::answer(visible);
}

/// The command line, its options in groups.
fn command_line(shown: ShownHelp) -> clap::Command {
    arranged::arranged(Cli::command(), shown)
}

/// The command line as users see it: without what worstcase and its tests alone use.
fn visible() -> clap::Command {
    shown(&command_line(ShownHelp::All))
}

fn shown(command: &clap::Command) -> clap::Command {
    let bare = clap::Command::new(command.get_name().to_string())
        .about(command.get_about().cloned().unwrap_or_default())
        .after_help(command.get_after_help().cloned().unwrap_or_default())
        .subcommand_required(command.is_subcommand_required_set())
        .subcommand_value_name("COMMAND")
        .args(command.get_arguments().filter(|a| !a.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().filter(|c| !c.is_hide_set()).map(shown));
    match command.get_version() {
        Some(version) => bare.version(version.to_string()),
        None => bare,
    }
}
