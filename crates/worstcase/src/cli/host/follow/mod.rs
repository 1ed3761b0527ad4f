//! `worstcase host follow`.

mod boards;
mod keep;
mod late;
mod told;

use crate::cli::error::Error;
use crate::cli::host::on::{self, OnArgs};
use crate::cli::output::print;
use crate::cli::progress::ProgressDisplay;
use crate::cli::stop;
use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args};
use keep::KeptPlace;
use late::LateReaction;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use told::{DeadlineVerdict, KernelNames, document, report, text};
use worstcase_base::duration;
use worstcase_base::format::grouped;
use worstcase_base::progress::Progress;
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_host::HostError;
use worstcase_host::follow::{FollowTarget, ProgramFacts, SessionEnd, SessionRequest, follow, wanted_wait};
use worstcase_report::terminal::{Style, fitted};
use worstcase_traces::follow::{SLOWEST, WantedThread, WantedWait};

const HELP: &str = "\
Examples:
  worstcase host follow --pid 1234 --time 60s
  worstcase host follow --comm motion --thread control --deadline 500us
  worstcase host follow --deadline 1ms -- ./motion --rate 1000
  worstcase host follow --wait read:5 --json -- ./motion
  worstcase host follow --wait uprobe:./motion:step --deadline 1.5ms -- ./motion
  worstcase host follow --pid 1234 --deadline 1ms --break -o RUN
  worstcase host follow --on board1,board2 --comm motion --time 60s -o boards

A cycle begins when the thread's wait is over (its release: when its timer is due, or it is woken) and ends when it waits
again. Needs root, which records in two instances of tracefs (removed at the end, even after kill -9), or CAP_PERFMON,
CAP_DAC_READ_SEARCH and CAP_IPC_LOCK, for perf. Ctrl-C ends it early and tells what was seen until then.
A program that it started ends with it; one that ran already is left alone. With --json what the program prints goes to
standard error.
Exit code: 0 told, or PASS; with --deadline 1 FAIL, 10 INCONCLUSIVE; 2 wrong arguments; 3 a right or the program is
missing; 130 Ctrl-C ended it early. A PASS needs 10000 cycles in a minute.";

/// Arguments of `follow`.
#[derive(Debug, Args)]
#[command(
    after_help = HELP,
    override_usage = "worstcase host follow [OPTIONS] <--pid <ID> | --comm <NAME> | -- <COMMAND>...>",
    group(ArgGroup::new("program").args(["pid", "comm", "command"]).required(true))
)]
pub struct FollowArgs {
    /// The program is this process, or that of this thread
    #[arg(long, value_name = "ID")]
    pid: Option<u32>,
    /// The same by the name of one of its threads, as ps -eLo comm shows it
    #[arg(long, value_name = "NAME", value_parser = name)]
    comm: Option<String>,
    /// The thread whose cycles are told, by its name or id [default: the one with a period and the highest priority]
    #[arg(long, value_name = "THREAD", value_parser = name)]
    thread: Option<String>,
    /// The system call that ends a cycle, and its first argument, e.g. clock_nanosleep or read:5; or a mark: a call that need
    /// not wait, as write:5 into /dev/null; uprobe:FILE:FUNCTION, where the function begins; marker:TEXT, a line written into
    /// trace_marker that begins so [default: found]
    #[arg(long, value_name = "CALL[:ARG]|MARK", value_parser = wanted_wait)]
    wait: Option<WantedWait>,
    /// How long, e.g. 60s [default: 10s; of a command until it ends]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Nanos>,
    /// No cycle ends later than this after its release: PASS, FAIL or INCONCLUSIVE, as exit code too
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    deadline: Option<Nanos>,
    /// End with a cycle later than --deadline, once its wait was found (1.5 s)
    #[arg(long = "break", requires = "deadline")]
    is_break: bool,
    /// Send this signal to the program after a cycle later than --deadline, e.g. USR1, at most once a second
    #[arg(long, value_name = "SIGNAL", requires = "deadline", value_parser = late::signal)]
    signal: Option<u32>,
    /// Run this after a cycle later than --deadline, at most once a second. It is split into words like a shell's, and no shell
    /// runs it; it finds WORSTCASE_PID, WORSTCASE_CYCLE and WORSTCASE_RESPONSE_NS in its environment
    #[arg(long, value_name = "COMMAND", requires = "deadline")]
    on_late: Option<String>,
    /// So many of the worst cycles are shown, at most 64
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(..=SLOWEST as u64))]
    show: usize,
    /// Print JSON, times in ns
    #[arg(long, conflicts_with = "boards")]
    json: bool,
    /// Keep what was measured in this folder
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    on: OnArgs,
    /// The program is this command, followed from its first instruction on
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// How long a program that runs already is followed.
const USUAL: Nanos = Nanos::from_millis(10_000);
/// Between two states of the progress.
const SHOWN: Nanos = Nanos::from_millis(250);

/// Runs the command.
pub fn run(args: &FollowArgs) -> Result<ExitCode, Error> {
    if !args.on.boards.is_empty() {
        return on::run(&args.on, &args.for_board(on::RUN), args.output.as_deref());
    }
    let request = asked(args)?;
    let place = KeptPlace::of(args)?;
    let stop = stop::in_order("telling what was seen until now");
    // A command writes to the terminal itself.
    let is_shown = args.command.is_empty() || !io::stderr().is_terminal();
    let progress = is_shown.then(ProgressDisplay::new);
    let mut next = Nanos(0);
    let mut reaction = LateReaction::of(args)?;
    let session = follow(&request, &stop, |state| {
        if let (Some(progress), true) = (&progress, state.time >= next) {
            progress.state(&format!("{} events", grouped(state.events)));
            next = state.time + SHOWN;
        }
        reaction.to(state)
    });
    reaction.end();
    if let Some(progress) = &progress {
        progress.end();
    }
    let session = session?;
    let names = KernelNames::read();
    let names = |address| names.of(address);
    let report = report(args, &session, &names);
    let mut document = document(&report, &session);
    let found = format!("{document:#}\n");
    let run = match &place {
        Some(place) => place.keep(args, &request.target, &session, &found),
        None => Ok(None),
    };
    let judged = match (&run, args.deadline) {
        (Ok(run), Some(deadline)) => Some(DeadlineVerdict::of(deadline, run.as_ref())?),
        _ => None,
    };
    match args.json {
        true => {
            document["verdict"] = serde_json::json!(judged);
            print(&format!("{document:#}\n"))?;
        }
        false => print(&fitted(&text(&report, judged.as_ref(), Style::of_stdout())))?,
    }
    // What was found is told, even if it cannot be kept.
    let run = run?;
    if let (Some(folder), None) = (&args.output, &run) {
        say!("worstcase: nothing is kept in {}: no cycle was seen", folder.display());
    }
    Ok(match (session.end, &judged) {
        (SessionEnd::Asked, _) => stop::interrupted(),
        (_, None) => ExitCode::SUCCESS,
        (_, Some(verdict)) => ExitCode::from(verdict.outcome.exit_code()),
    })
}

/// Reads a thread's name.
fn name(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("a thread has a name (ps -eLo comm lists them)".into()),
        false => Ok(text.into()),
    }
}

fn asked(args: &FollowArgs) -> Result<SessionRequest, HostError> {
    let nothing = |option: &str, example: &str| {
        HostError::Argument(format!(
            "{option} 0s asks for nothing: name a time, e.g. {option} {example}"
        ))
    };
    if args.time == Some(Nanos(0)) {
        return Err(nothing("--time", "10s"));
    }
    if args.deadline == Some(Nanos(0)) {
        return Err(nothing("--deadline", "1ms"));
    }
    let target = match (args.pid, &args.comm) {
        (Some(id), _) => FollowTarget::with_id(id)?,
        (None, Some(name)) => FollowTarget::called(name)?,
        (None, None) => FollowTarget::Command(args.command.clone()),
    };
    let is_command = matches!(target, FollowTarget::Command(_));
    Ok(SessionRequest {
        thread: args.thread.as_deref().map(|text| thread(text, &target)).transpose()?,
        target,
        wait: args.wait.clone(),
        deadline: args.deadline,
        time: args.time.or((!is_command).then_some(USUAL)),
        is_output_to_errors: args.json,
    })
}

/// A number is the id of a thread that there is; all else is a name, whose thread may begin later.
fn thread(text: &str, target: &FollowTarget) -> Result<WantedThread, HostError> {
    let Ok(tid) = text.parse::<u32>() else {
        return Ok(WantedThread::Named(text.into()));
    };
    match target {
        FollowTarget::Command(_) => Err(HostError::Argument(format!(
            "--thread {tid}: the command's threads have no ids yet; give the thread's name"
        ))),
        FollowTarget::Running { process, .. } => {
            let facts = ProgramFacts::of(*process);
            match facts.thread(tid) {
                Some(_) => Ok(WantedThread::Tid(tid)),
                None => Err(HostError::Argument(format!(
                    "--thread {tid}: {} ({process}) has no such thread; ps -Lo tid,comm -p {process} lists them",
                    facts.name
                ))),
            }
        }
    }
}
