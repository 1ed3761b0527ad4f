//! The `worstcase` executable: reads the command line, runs it, turns an error into one line and an exit code.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    worstcase::cli::run(worstcase::cli::Cli::parse()).unwrap_or_else(|error| {
        eprintln!("worstcase: {error}");
        ExitCode::from(error.exit_code())
    })
}
