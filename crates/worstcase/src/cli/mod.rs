//! The commands, as users type them.

mod show;
mod study;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measures how late Linux can be, which kernel or setting is better, and why.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Show(show::ShowArgs),
    #[command(subcommand)]
    Study(study::StudyCommand),
}

/// Runs the command that was asked for; exit code 2 is bad input.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Show(args) => show::run(&args).map_err(|e| e.to_string()),
        Command::Study(command) => study::run(&command).map_err(|e| e.to_string()),
    };
    result.unwrap_or_else(|e| {
        eprintln!("worstcase: {e}");
        ExitCode::from(2)
    })
}
