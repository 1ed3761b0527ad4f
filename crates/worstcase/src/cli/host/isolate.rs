//! `worstcase host isolate`.

use crate::cli::error::Error;
use crate::cli::output::print;
use crate::cli::stop;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use worstcase_analysis::breakdown::host::running_kernel;
use worstcase_analysis::isolate::{IsolatedMachine, IsolationAnswer, KINDS, answer};
use worstcase_base::duration;
use worstcase_base::format::grouped;
use worstcase_base::output::{BegunFolder, OutputFolder};
use worstcase_contract::Nanos;
use worstcase_host::isolate::{IsolationRequest, ObservedEntries, Occupy, observe, process_with_id, processes_called};
use worstcase_host::{CpuList, HostError, MachineFacts};
use worstcase_report::isolate::{json, terminal};
use worstcase_report::terminal::Style;
use worstcase_results::record::Run;

const HELP: &str = "\
Examples:
  worstcase host isolate --cpus 2-3 --time 60s
  worstcase host isolate --cpus 3 --occupy none --json
  worstcase host isolate --cpus 3 --comm server
  worstcase host isolate --cpus 2-3 --time 60s --criterion 0 --exclude tick,steal -o isolation

Needs root. Ctrl-C ends it early and tells what was seen until then.
Exit code: 0 told, or PASS; with --criterion 1 FAIL, 10 INCONCLUSIVE; 2 wrong arguments; 3 a right is missing;
130 Ctrl-C ended it early.";

/// The file in the folder of --output.
const FILE: &str = "isolate.json";

/// Arguments of `isolate`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct IsolateArgs {
    /// CPUs to observe, e.g. 2-3 [default: those that are isolated]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long, e.g. 60s
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    time: Nanos,
    /// Keep CPUs busy with a thread that never calls the kernel
    #[arg(long, value_name = "WHICH", value_enum, default_value = "idle")]
    occupy: OccupiedCpus,
    /// The CPUs' program is this process [default: the one that runs longest on each]; nothing is kept busy
    #[arg(long, value_name = "ID", conflicts_with_all = ["occupy", "comm"])]
    pid: Option<u32>,
    /// The same by the name of one of its threads, as ps -eLo comm shows it
    #[arg(long, value_name = "NAME", conflicts_with = "occupy")]
    comm: Option<String>,
    /// At most so many entries into each CPU: PASS, FAIL or INCONCLUSIVE, as exit code too
    #[arg(long, value_name = "N")]
    criterion: Option<u64>,
    /// What is not judged: kinds of causes, or names of functions, devices and threads, separated by commas
    #[arg(long, value_name = "CAUSES", value_delimiter = ',', requires = "criterion", long_help = exclude_help())]
    exclude: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Keep the JSON in this folder, as isolate.json
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Which CPUs are kept busy.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OccupiedCpus {
    /// Those on which no program runs
    Idle,
    /// All of them
    All,
    /// None: observe them as they are
    None,
}

fn exclude_help() -> String {
    let mut help =
        String::from("What is not judged, separated by commas; names of functions, devices and threads, or:\n");
    for (kind, about) in KINDS {
        help += &format!("  {kind:<10} {about}\n");
    }
    help
}

/// Runs the command.
pub fn run(args: &IsolateArgs) -> Result<ExitCode, Error> {
    let facts = MachineFacts::of(Path::new("/"));
    let asked = asked(args, &facts)?;
    args.output.as_deref().map_or(Ok(()), Run::check_free)?;
    let _begun = args.output.as_deref().map(BegunFolder::at);
    let output = args.output.as_deref().map(new_folder).transpose()?;
    let stop = stop::in_order("telling what was seen until now");
    let bar = bar(args.time);
    let observed = observe(&asked, &stop, |time, entries| {
        bar.set_position(time.0 / 1_000_000);
        bar.set_message(format!("{} entries", grouped(entries)));
    });
    bar.finish_and_clear();
    let answer = named(args, &facts, observed?);
    if let (Some(folder), Some(path)) = (output, &args.output) {
        let written = folder.write(FILE, json(&answer).as_bytes());
        let path = path.join(FILE);
        written.map_err(|source| HostError::Samples { path, source })?;
    }
    print(&match args.json {
        true => json(&answer),
        false => terminal(&answer, Style::of_stdout()),
    })?;
    Ok(match (stop.load(Ordering::Relaxed), answer.judgement) {
        (true, _) => stop::interrupted(),
        (false, None) => ExitCode::SUCCESS,
        (false, Some(judgement)) => ExitCode::from(judgement.outcome.exit_code()),
    })
}

fn asked(args: &IsolateArgs, facts: &MachineFacts) -> Result<IsolationRequest, HostError> {
    let cpus = args.cpus.clone().unwrap_or_else(|| facts.isolation.cpus());
    if cpus.is_empty() {
        let none = "no CPU of this machine is isolated: name those that you keep for a program, e.g. --cpus 2-3";
        return Err(HostError::Argument(none.into()));
    }
    if args.time == Nanos(0) {
        return Err(HostError::Argument(
            "--time 0s observes nothing: name a time, e.g. --time 10s".into(),
        ));
    }
    let programs = match (args.pid, &args.comm) {
        (Some(id), _) => Some(process_with_id(id)?),
        (None, Some(name)) => Some(processes_called(name)?),
        (None, None) => None,
    };
    Ok(IsolationRequest {
        cpus,
        time: args.time,
        occupy: match args.occupy {
            _ if programs.is_some() => Occupy::None,
            OccupiedCpus::Idle => Occupy::Idle,
            OccupiedCpus::All => Occupy::All,
            OccupiedCpus::None => Occupy::None,
        },
        programs,
    })
}

/// The folder to keep it in, where no such file is yet.
fn new_folder(folder: &Path) -> Result<OutputFolder, HostError> {
    let file = folder.join(FILE);
    let failed = |source: io::Error| HostError::Samples {
        path: folder.to_path_buf(),
        source,
    };
    let opened = OutputFolder::create(folder).map_err(failed)?;
    match file.exists() {
        true => Err(HostError::Argument(format!(
            "{} is there already: name another folder with --output",
            file.display()
        ))),
        false => Ok(opened),
    }
}

fn named(args: &IsolateArgs, facts: &MachineFacts, observed: ObservedEntries) -> IsolationAnswer {
    let names = running_kernel();
    let machine = IsolatedMachine {
        tickless: facts.isolation.tickless.clone(),
        isolated: facts.isolation.cpus(),
        release: facts.kernel.release.clone().unwrap_or_default(),
    };
    let without = names.as_ref().err().map(ToString::to_string);
    let mut told = answer(
        &observed,
        &names.unwrap_or_default(),
        &machine,
        args.criterion,
        &args.exclude,
    );
    told.notes.extend(without);
    told
}

/// Redraws per second. Few, because the terminal's work may enter the CPUs, too.
const DRAWN: u8 = 1;

/// A bar on a terminal; none elsewhere.
fn bar(time: Nanos) -> ProgressBar {
    let target = match io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(DRAWN),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(time.0 / 1_000_000), target);
    let style = ProgressStyle::with_template("{bar:24} {elapsed} gone; {wide_msg}");
    bar.set_style(style.expect("a constant template"));
    bar
}
