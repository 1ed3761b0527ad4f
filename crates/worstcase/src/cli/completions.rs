//! `worstcase completions`: the script with which a shell completes the command line. The script calls this program at
//! each completion, so that it can offer the cells of a run on the line.

use super::output::print_data;
use crate::cli::error::Error;
use clap::{Args, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use std::process::ExitCode;

/// Set by the shell's script, to its name.
const ASKED: &str = "WORSTCASE_COMPLETE";

/// Print what completes this command line in a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase completions bash > ~/.local/share/bash-completion/completions/worstcase
  worstcase completions zsh > ~/.zfunc/_worstcase            (a folder of $fpath)
  worstcase completions fish > ~/.config/fish/completions/worstcase.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: CompletedShell,
}

/// Shells that are completed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompletedShell {
    Bash,
    Zsh,
    Fish,
}

impl CompletedShell {
    /// As clap_complete calls it.
    const fn name(self) -> &'static str {
        match self {
            CompletedShell::Bash => "bash",
            CompletedShell::Zsh => "zsh",
            CompletedShell::Fish => "fish",
        }
    }
}

/// Runs the command.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    Shells::builtins()
        .completer(args.shell.name())
        .expect("the same shells")
        .write_registration(ASKED, "worstcase", "worstcase", "worstcase", &mut script)
        .expect("memory takes it");
    print_data(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Answers a shell about this command line and ends, if a shell asks.
pub fn answer(command_line: fn() -> clap::Command) {
    CompleteEnv::with_factory(command_line).var(ASKED).complete();
}
