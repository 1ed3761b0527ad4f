//! The `worstcase` executable: reads the command line, runs it, turns an error into one line and an exit code.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The load `compile` starts this very program again for each of its units.
    worstcase_probe::loads::compile::child_main();
    worstcase::cli::run(worstcase::cli::Cli::parse()).unwrap_or_else(|error| {
        eprintln!("worstcase: {error}");
        ExitCode::from(error.exit_code())
    })
}
