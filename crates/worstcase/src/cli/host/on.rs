//! `--on` of `worstcase host run`, `host follow` and `host calibrate`: the same on other machines, at the same time.

use super::folder;
use crate::cli::error::Error;
use crate::cli::output::print;
use crate::cli::stop;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_base::format::{file_name, is_file_name, plain};
use worstcase_base::output::{BegunFolder, OutputFolder};
use worstcase_base::say;
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

/// What a machine gave.
pub struct Measured {
    /// Its name.
    pub machine: String,
    /// The folder with what it sent, if it ended well.
    pub folder: PathBuf,
    /// The exit code of what is kept.
    pub ended: Result<i32, RemoteError>,
}

/// Gives worstcase these arguments on each machine, of which it keeps a run in the folder [`RUN`], and shows a table of all.
pub fn run(args: &OnArgs, arguments: &[String], output: Option<&Path>) -> Result<ExitCode, Error> {
    let executable = args.executable()?;
    let folder = output.map_or_else(|| folder::new("boards"), Path::to_path_buf);
    Run::check_free(&folder)?;
    let _begun = BegunFolder::at(&folder);
    OutputFolder::create(&folder).map_err(RemoteError::io(&folder))?;
    for name in &args.boards {
        Run::check_free(&folder.join(file_of(name)))?;
    }
    let stop = stop::in_order("ending the measurements, and fetching what was taken");
    let mut machines = Vec::new();
    let mut code = 0;
    for one in args.measure(&executable, arguments, &folder, false, &stop)? {
        match one.ended {
            Ok(broke) => {
                code = code.max(broke as u8);
                machines.push(MachineRecords {
                    machine: one.machine,
                    records: Run::open(&one.folder)?.records()?,
                });
            }
            Err(error) => code = code.max(error.exit() as u8),
        }
    }
    if !machines.is_empty() {
        print(&table(&machines, Style::of_stdout()))?;
    }
    if stop.load(Ordering::Relaxed) {
        say!("worstcase: ended early, what was taken until then is kept");
    }
    Ok(ExitCode::from(code))
}

impl OnArgs {
    /// What is copied to the machines, if they are named as machines are.
    pub fn executable(&self) -> Result<Executable, Error> {
        if let Some(wrong) = self.boards.iter().find(|name| name.is_empty() || name.starts_with('-')) {
            let what = "is no host; write --on HOST,HOST".to_string();
            return Err(RemoteError::Choice(format!("'{wrong}'"), what).into());
        }
        let is_twice = |(nth, name): &(usize, &String)| self.boards[..*nth].contains(name);
        if let Some((_, name)) = self.boards.iter().enumerate().find(is_twice) {
            let what = "is named twice in --on".to_string();
            return Err(RemoteError::Choice(format!("'{name}'"), what).into());
        }
        Ok(match &self.on_executable {
            Some(path) => Executable::at(path.clone())?,
            None => Executable::own()?,
        })
    }

    /// Gives worstcase these arguments on each machine, and puts what it left in the folder [`RUN`] into one with the machine's
    /// name.
    pub fn measure(
        &self,
        executable: &Executable,
        arguments: &[String],
        folder: &Path,
        needs_folder: bool,
        stop: &AtomicBool,
    ) -> Result<Vec<Measured>, Error> {
        let all = NonZeroUsize::new(self.boards.len()).unwrap_or(NonZeroUsize::MIN);
        parallel(all, &self.boards, |name| {
            let into = folder.join(file_of(name));
            let board = RemoteBoard {
                name,
                executable,
                arguments,
                needs_folder,
            };
            let ended = measure_on(&board, &into, stop);
            match &ended {
                Ok(_) => say!("worstcase: {name}: kept in {}", into.display()),
                Err(error) => say!("worstcase: {}", plain(&error.to_string())),
            }
            Ok(Measured {
                machine: name.clone(),
                folder: into,
                ended,
            })
        })
    }
}

/// A machine's folder has its name, if that is one of a file.
fn file_of(name: &str) -> String {
    match is_file_name(name, LONGEST_NAME) {
        true => name.to_string(),
        false => file_name(name),
    }
}
