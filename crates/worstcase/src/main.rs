//! The `worstcase` executable: reads the command line, runs it, turns an error into one line and an exit code.

#![deny(clippy::print_stderr, reason = "it panics where nobody reads: say!")]

use std::process::ExitCode;
use worstcase_base::format::plain;
use worstcase_base::say;
use worstcase_base::{defect, interrupt};

fn main() -> ExitCode {
    // Some loads and probes start this very program again.
    worstcase_instruments::child_main();
    worstcase_base::child::hand_on_no_descriptors();
    defect::run_reporting_panics(command).unwrap_or_else(|defect| ExitCode::from(defect as u8))
}

fn command() -> ExitCode {
    worstcase::cli::complete();
    let ended = worstcase::cli::run(worstcase::cli::Cli::read());
    // A signal that ends this process ends its children, too, which may look like an error.
    interrupt::wait_if_ending();
    ended.unwrap_or_else(|error| {
        // Names and texts of files may hold anything; some errors have several lines.
        let lines: Vec<String> = error.to_string().lines().map(plain).collect();
        say!("worstcase: {}", lines.join("\n"));
        ExitCode::from(error.exit_code())
    })
}
