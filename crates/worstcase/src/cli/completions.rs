//! `worstcase completions`: what a shell needs to complete the command line, from the command line itself.

use super::output::print;
use super::visible;
use crate::cli::Error;
use clap::Args;
use clap_complete::{Shell, generate};
use std::process::ExitCode;

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
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    generate(args.shell, &mut visible(), "worstcase", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
