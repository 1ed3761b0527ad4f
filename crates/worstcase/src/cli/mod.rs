//! The command line: one file a subcommand, each with its arguments and its handler.

use clap::{Parser, Subcommand};

use crate::error::Error;

pub mod kernels;

/// Measures how late Linux can be.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 a verdict is FAIL (only with --gate and its like); 2 wrong arguments or input;
3 a tool, right, file or the network is missing; 4 the measured machine failed; 5 disk full or cache not writable.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find, download and look at kernels
    #[command(subcommand)]
    Kernels(kernels::KernelsCommand),
}

/// Runs the command.
pub fn run(cli: Cli) -> Result<(), Error> {
    match cli.command {
        Command::Kernels(command) => kernels::run(command),
    }
}
