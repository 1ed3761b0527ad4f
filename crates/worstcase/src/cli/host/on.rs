//! `--on` of `worstcase host run` and `host follow`: the same measurement on other machines, at the same time.

use super::folder;
use crate::cli::error::Error;
use crate::cli::output::print;
use crate::cli::stop;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use worstcase_base::format::{file_name, is_file_name, plain};
use worstcase_base::output::{BegunFolder, OutputFolder};
use worstcase_remote::ssh::{RemoteBoard, measure_on};
use worstcase_remote::{Executable, RemoteError};
use worstcase_report::machines::{MachineRecords, table};
use worstcase_report::terminal::Style;
use worstcase_results::record::{Run, parallel};

pub use worstcase_remote::ssh::RUN;

/// Longest name of a machine that its folder has, too.
const LONGEST_NAME: usize = 64;

/// Which machines.
#[derive(Debug, Args)]
pub struct OnArgs {
    /// Measure on these machines instead, all at once, by ssh: worstcase is copied there, its run is brought back, and nothing
    /// stays (docs/cluster.md)
    #[arg(long = "on", value_name = "HOST,...", value_delimiter = ',')]
    pub boards: Vec<String>,
    /// With --on: the worstcase to copy, for machines that cannot execute this one [default: this one]
    #[arg(long, value_name = "FILE", requires = "boards")]
    on_executable: Option<PathBuf>,
}

/// Gives worstcase these arguments on each machine, of which it keeps a run in the folder [`RUN`], and shows a table of all.
pub fn run(args: &OnArgs, arguments: &[String], output: Option<&Path>) -> Result<ExitCode, Error> {
    if let Some(wrong) = args.boards.iter().find(|name| name.is_empty() || name.starts_with('-')) {
        let what = "is no host; write --on HOST,HOST".to_string();
        return Err(RemoteError::Choice(format!("'{wrong}'"), what).into());
    }
    let is_twice = |(nth, name): &(usize, &String)| args.boards[..*nth].contains(name);
    if let Some((_, name)) = args.boards.iter().enumerate().find(is_twice) {
        let what = "is named twice in --on".to_string();
        return Err(RemoteError::Choice(format!("'{name}'"), what).into());
    }
    let folder = output.map_or_else(|| folder::new("boards"), Path::to_path_buf);
    let executable = match &args.on_executable {
        Some(path) => Executable::at(path.clone())?,
        None => Executable::own()?,
    };
    let _begun = BegunFolder::at(&folder);
    OutputFolder::create(&folder).map_err(RemoteError::io(&folder))?;
    for name in &args.boards {
        Run::check_begun(&folder.join(folder_of(name)), false)?;
    }
    let stop = stop::in_order("ending the measurements, and fetching what was taken");
    let all = NonZeroUsize::new(args.boards.len()).unwrap_or(NonZeroUsize::MIN);
    let measured = parallel(all, &args.boards, |name| {
        let into = folder.join(folder_of(name));
        let board = RemoteBoard {
            name,
            executable: &executable,
            arguments,
        };
        let ended = measure_on(&board, &into, &stop);
        match &ended {
            Ok(_) => eprintln!("worstcase: {name}: kept in {}", into.display()),
            Err(error) => eprintln!("worstcase: {}", plain(&error.to_string())),
        }
        Ok::<_, Error>((name.clone(), into, ended))
    })?;
    let mut machines = Vec::new();
    let mut code = 0;
    for (name, into, ended) in measured {
        match ended {
            Ok(broke) => {
                code = code.max(broke as u8);
                machines.push(MachineRecords {
                    machine: name,
                    records: Run::open(&into)?.records()?,
                });
            }
            Err(error) => code = code.max(error.exit() as u8),
        }
    }
    if !machines.is_empty() {
        print(&table(&machines, Style::of_stdout()))?;
    }
    if stop.load(Ordering::Relaxed) {
        eprintln!("worstcase: ended early, what was taken until then is kept");
    }
    Ok(ExitCode::from(code))
}

/// A machine's folder has its name, if that is one of a file.
fn folder_of(name: &str) -> String {
    match is_file_name(name, LONGEST_NAME) {
        true => name.to_string(),
        false => file_name(name),
    }
}
