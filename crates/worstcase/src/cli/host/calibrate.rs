//! `worstcase host calibrate`.

use crate::cli::error::Error;
use crate::cli::output::{print, print_data};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_base::output::{check_may_make, write};
use worstcase_host::calibrate::{CalibrationRequest, calibrate};
use worstcase_host::{HostError, MachineFacts};
use worstcase_lab::payload;
use worstcase_report::calibration::terminal;
use worstcase_report::terminal::Style;
use worstcase_timing::table::OperationTable;

const HELP: &str = "\
Examples:
  worstcase host calibrate
  worstcase host calibrate --cpu 3 -o board.json

It needs root, or the right to SCHED_FIFO. It keeps one CPU for some seconds, and changes nothing of the machine.
Exit code: 0 calibrated, with doubts if there are any; 2 no such CPU; 3 a right is missing, or the machine is not x86-64;
4 too little could be measured; 5 the file cannot be written.";

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct CalibrateArgs {
    /// The CPU to calibrate [default: the last that this process may use]
    #[arg(long, value_name = "CPU")]
    cpu: Option<u32>,
    /// The file
    #[arg(long, short, value_name = "FILE", default_value = "worstcase-calibration.json")]
    output: PathBuf,
    /// Print the file's JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    let unwritable = |source| HostError::CalibrationFile {
        path: args.output.clone(),
        source,
    };
    if !args.output.exists() {
        check_may_make(&args.output).map_err(unwritable)?;
    }
    let asked = CalibrationRequest {
        cpu: args.cpu,
        program: payload::operations(),
        table: OperationTable::own(),
    };
    let calibration = calibrate(&asked, &MachineFacts::of(Path::new("/")))?;
    let text = calibration.text();
    write(&args.output, text.as_bytes()).map_err(unwritable)?;
    if args.json {
        print_data(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&terminal(&calibration, Style::of_stdout()))?;
    eprintln!("worstcase: kept in {}", args.output.display());
    Ok(ExitCode::SUCCESS)
}
