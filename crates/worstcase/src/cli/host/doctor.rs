//! `worstcase host doctor`: findings and remedies; with `--apply`, a command under the remedies that can be set.

use super::machine::MachineArgs;
use crate::cli::error::Error;
use crate::cli::output::{print, print_json};
use clap::Args;
use std::process::ExitCode;
use worstcase_base::say;
use worstcase_host::doctor::{Finding, FindingLevel, apply, examine, settable};
use worstcase_host::facts::FileTree;
use worstcase_host::journal::{UndoResult, failures};
use worstcase_host::{CpuList, HostError, Journal, MachineFacts, StateFolder, command};
use worstcase_report::terminal::Style;
use worstcase_report::terminal::wrapped;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase host doctor
  worstcase host doctor --cpus 2-3 --apply -- cyclictest -m -p 95 -a 2-3 -t 2

Exit code: 0, whatever is found; with --apply that of the command, 128 and more if a signal ended it.")]
pub struct DoctorArgs {
    /// The CPUs that are to be measured, e.g. 2-3,6 (default: all that are online)
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Set what can be set, run the command, and set it back, even if worstcase is killed
    #[arg(long, requires = "command", conflicts_with = "json")]
    apply: bool,
    /// The command to run with --apply
    #[arg(last = true, requires = "apply", value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    machine: MachineArgs,
}

impl DoctorArgs {
    /// Whether a command of the user's runs under it, which gets the signals.
    pub(crate) fn hands_on_signals(&self) -> bool {
        self.apply
    }
}

/// Runs the command.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let facts = MachineFacts::of(&args.machine.root);
    let findings = findings(&facts, args.cpus.as_ref())?;
    if args.apply {
        return Ok(run_under(&findings, args)?);
    }
    match args.json {
        true => print_json(&findings)?,
        false => print(&describe(&findings, Style::of_stdout()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is found about these CPUs, or all that are online.
pub(super) fn findings(facts: &MachineFacts, cpus: Option<&CpuList>) -> Result<Vec<Finding>, HostError> {
    let online = facts.cpu.online.clone().unwrap_or_default();
    let cpus = cpus.unwrap_or(&online);
    let missing = cpus.without(&online);
    match missing.is_empty() {
        true => Ok(examine(facts, cpus)),
        false => Err(HostError::NotOnline { missing, online }),
    }
}

/// Runs the user's command with everything applied. Our own messages go to standard error: standard output is the
/// command's.
fn run_under(findings: &[Finding], args: &DoctorArgs) -> Result<ExitCode, HostError> {
    let mut journal = Journal::guarded(&StateFolder::open()?, "worstcase host doctor --apply")?;
    let applied = apply(settable(findings), &FileTree::at(&args.machine.root), &mut journal);
    for outcome in &applied.outcomes {
        say!("worstcase: {}", outcome.line());
    }
    let code = command::run(&args.command);
    drop(applied);
    let undone = journal.finish()?;
    let restored = |outcome: &UndoResult| matches!(outcome, UndoResult::Restored { .. });
    for change in undone.iter().filter(|change| !restored(&change.outcome)) {
        say!("worstcase: {change}");
    }
    match failures(&undone) {
        0 => Ok(ExitCode::from(code?)),
        count => Err(HostError::NotRestored { count }),
    }
}

const LEAD: usize = 11;

fn describe(findings: &[Finding], style: Style) -> String {
    let (listed, ill): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|f| is_short(f));
    let mut lines = Vec::new();
    for finding in ill {
        let lead = format!("{:<LEAD$}", word(finding.level));
        lines.push(style.bold(&format!("{lead}{}", finding.what)));
        lines.extend(wrapped(&" ".repeat(LEAD), &finding.why));
        if let Some(remedy) = &finding.remedy {
            lines.extend(wrapped(&format!("{:LEAD$}remedy: ", ""), remedy));
        }
        if !finding.changes.is_empty() {
            lines.push(format!("{:LEAD$}--apply sets it for the length of a command", ""));
        }
        lines.push(String::new());
    }
    for finding in listed {
        lines.extend(wrapped(&format!("{:<LEAD$}", word(finding.level)), &finding.what));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Whether a finding needs no explanation.
fn is_short(finding: &Finding) -> bool {
    finding.why.is_empty()
}

fn word(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Harmful => "harmful",
        FindingLevel::Notice => "notice",
        FindingLevel::NotKnown => "not known",
        FindingLevel::Good => "good",
    }
}
