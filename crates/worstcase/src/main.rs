//! The `worstcase` executable: reads the command line, runs it, turns an error into one line and an exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match worstcase::cli::run(worstcase::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("worstcase: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
