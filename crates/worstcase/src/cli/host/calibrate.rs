//! `worstcase host calibrate`.

use super::on::{OnArgs, RUN};
use crate::cli::error::Error;
use crate::cli::output::{print, print_data};
use crate::cli::stop;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_base::output::{BegunFolder, OutputFolder, check_may_make, write};
use worstcase_base::say;
use worstcase_host::calibrate::{CalibrationRequest, calibrate};
use worstcase_host::{HostError, MachineFacts};
use worstcase_lab::payload;
use worstcase_remote::RemoteError;
use worstcase_report::calibration::terminal;
use worstcase_report::terminal::Style;
use worstcase_timing::Calibration;
use worstcase_timing::table::OperationTable;

const HELP: &str = "\
Examples:
  worstcase host calibrate
  worstcase host calibrate --cpu 3 -o board.json
  worstcase host calibrate --on board1,board2 -o boards     boards/board1/calibration.json, of each

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
    /// The file; with --on a folder [default: worstcase-calibration.json, worstcase-calibrations]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the file's JSON instead of tables
    #[arg(long, conflicts_with = "boards")]
    json: bool,
    #[command(flatten)]
    on: OnArgs,
}

/// The file in a machine's folder.
const FILE: &str = "calibration.json";

/// Runs the command.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    if !args.on.boards.is_empty() {
        return on_others(args);
    }
    let path = args
        .output
        .as_deref()
        .unwrap_or(Path::new("worstcase-calibration.json"));
    let unwritable = |source| HostError::CalibrationFile {
        path: path.to_path_buf(),
        source,
    };
    if !path.exists() {
        check_may_make(path).map_err(unwritable)?;
    }
    let asked = CalibrationRequest {
        cpu: args.cpu,
        program: payload::operations(),
        table: OperationTable::own(),
    };
    let calibration = calibrate(&asked, &MachineFacts::of(Path::new("/")))?;
    let text = calibration.text();
    write(path, text.as_bytes()).map_err(unwritable)?;
    if args.json {
        print_data(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&terminal(&calibration, Style::of_stdout()))?;
    say!("worstcase: kept in {}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Calibrates other machines, all at once.
fn on_others(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    let executable = args.on.executable()?;
    let folder = args.output.as_deref().unwrap_or(Path::new("worstcase-calibrations"));
    let _begun = BegunFolder::at(folder);
    OutputFolder::create(folder).map_err(RemoteError::io(folder))?;
    let file = format!("{RUN}/{FILE}");
    let mut arguments = vec!["host".to_string(), "calibrate".into(), "--output".into(), file];
    arguments.extend(args.cpu.iter().flat_map(|cpu| ["--cpu".into(), cpu.to_string()]));
    let stop = stop::in_order("ending the calibrations");
    let mut code = 0;
    for one in args.on.measure(&executable, &arguments, folder, true, &stop)? {
        match one.ended {
            Ok(_) => {
                let calibration = Calibration::read(&one.folder.join(FILE))?;
                print(&format!(
                    "{}\n{}",
                    one.machine,
                    terminal(&calibration, Style::of_stdout())
                ))?;
            }
            Err(error) => code = code.max(error.exit() as u8),
        }
    }
    Ok(ExitCode::from(code))
}
