//! The command line as help texts show it: options in groups, and of the many of a big command the few that matter first.
//!
//! A parameter of an experiment says itself where it stands (`worstcase_plan::parameters`); all other options stand here.

use clap::{Arg, Command};
use worstcase_plan::parameters::group::{HOW_LONG, OUTPUT, RARELY, WHAT, WHERE};

/// The group of an option, whatever command has it.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        WHAT,
        &[
            "against",
            "all",
            "all-versions",
            "back",
            "bad",
            "baseline",
            "breakdowns",
            "cell",
            "census",
            "comm",
            "compare",
            "config",
            "costs",
            "diff",
            "each",
            "good",
            "host",
            "kernel",
            "kernels",
            "load",
            "map",
            "occupy",
            "only",
            "pid",
            "preempt",
            "probe",
            "quick",
            "sample",
            "step",
            "subject",
            "switch",
            "thread",
            "to",
            "tree",
            "wait",
            "with",
            "write-baseline",
        ],
    ),
    (
        HOW_LONG,
        &["checkpoints", "fresh-boots", "rotate", "rounds", "runs", "time"],
    ),
    (
        WHERE,
        &["arch", "cpus", "executor", "jobs", "on", "on-executable", "on-machine"],
    ),
    (
        OUTPUT,
        &[
            "better",
            "break",
            "captures",
            "checkpoint",
            "criterion",
            "deadline",
            "exact",
            "exclude",
            "explain",
            "flame",
            "folded",
            "json",
            "junit",
            "keep",
            "load-source",
            "markdown",
            "metrics",
            "on-break",
            "on-end",
            "on-late",
            "output",
            "perfetto",
            "plain",
            "resume",
            "revert",
            "show",
            "signal",
            "small",
            "textfile",
            "tolerance",
            "top",
            "worse",
            "worst-seed",
        ],
    ),
    (
        RARELY,
        &[
            "add",
            "audit",
            "cpu",
            "debug-info",
            "module",
            "qemu",
            "share",
            "timeout",
        ],
    ),
];

/// The options of a big command that come first, beside the parameters that say so themselves.
const FIRST: [(&str, &[&str]); 14] = [
    ("lab run", &["kernel", "preempt", "criterion", "output"]),
    ("lab verify", &["kernel", "preempt", "runs"]),
    ("host run", &["criterion", "output"]),
    ("host watch", &["time", "rotate", "criterion", "metrics", "output"]),
    ("host isolate", &["cpus", "time", "pid", "comm", "criterion", "output"]),
    ("host follow", &["pid", "comm", "thread", "time", "deadline", "output"]),
    ("host try", &["only", "load", "cpus", "time", "criterion", "output"]),
    ("study run", &["quick", "arch", "host", "jobs", "output"]),
    ("bisect", &["good", "bad", "kernels", "tree", "criterion", "output"]),
    ("explain", &["cell", "sample", "all", "compare", "json", "flame"]),
    ("census", &["cell", "diff", "top", "json"]),
    ("compare", &["to", "subject", "with", "explain", "markdown", "json"]),
    ("report", &["criterion", "breakdowns", "small", "output"]),
    (
        "gate",
        &[
            "baseline",
            "write-baseline",
            "tolerance",
            "criterion",
            "junit",
            "markdown",
        ],
    ),
];

/// A command with more options than this is big.
const MOST: usize = 8;
/// Lines below the options that the short help shows whole.
const SHORT: usize = 10;
/// Examples of a longer text that it shows.
const EXAMPLES: usize = 3;

/// How much a help text shows. What it does not show can be typed all the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownHelp {
    /// `--help`.
    All,
    /// `-h`.
    Short,
}

/// A command and all below it, arranged.
pub(crate) fn arranged(command: Command, shown: ShownHelp) -> Command {
    below(command, "", shown)
}

fn below(command: Command, path: &str, shown: ShownHelp) -> Command {
    let command = command.mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name()).trim().to_string();
        below(sub, &path, shown)
    });
    let is_big = options(&command).count() > MOST;
    let command = command.mut_args(|arg| match is_option(&arg) && !arg.is_global_set() {
        true if is_big => placed(arg, path, shown),
        true => arg.hide_short_help(false),
        false => arg,
    });
    let full = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    match shown == ShownHelp::Short && full.lines().count() > SHORT {
        true => command.after_help(shortened(&full, path)),
        false => command,
    }
}

/// The options of its own that users see.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| is_option(arg) && !arg.is_global_set())
}

fn is_option(arg: &Arg) -> bool {
    !arg.is_positional() && !arg.is_hide_set()
}

/// An option of a big command, in its group.
fn placed(arg: Arg, path: &str, shown: ShownHelp) -> Arg {
    let flag = arg.get_long().unwrap_or(arg.get_id().as_str()).to_string();
    let is_in = |flags: &[&str]| flags.contains(&flag.as_str());
    let is_parameter = arg.get_help_heading().is_some();
    let is_first = match is_parameter {
        true => !arg.is_hide_short_help_set(),
        false => FIRST.iter().any(|(command, flags)| *command == path && is_in(flags)),
    };
    let group = GROUPS.iter().find(|(_, flags)| is_in(flags)).filter(|_| !is_parameter);
    let arg = arg.hide_short_help(false).hide(shown == ShownHelp::Short && !is_first);
    match group {
        Some((group, _)) => arg.help_heading(*group),
        None => arg,
    }
}

/// The first examples of a text, and where the rest is.
fn shortened(text: &str, path: &str) -> String {
    let examples = text.lines().take_while(|line| !line.is_empty());
    let shown: Vec<&str> = examples.take(1 + EXAMPLES).collect();
    let command = format!("worstcase {path}");
    format!(
        "{}\n\nAll options and more examples: {} --help",
        shown.join("\n"),
        command.trim()
    )
}
