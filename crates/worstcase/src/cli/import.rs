//! `worstcase import`: files of other tools as a run.

use super::output::OutputError;
use super::show::{self, ShowError};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_base::format::{is_file_name, plain, readable};
use worstcase_base::output::BegunFolder;
use worstcase_contract::Nanos;
use worstcase_foreign::{ForeignFormat, ForeignSource, ImportFacts, read, records};
use worstcase_results::record::{CellEntry, CellResult, Imported, Run, RunError, RunPlan};

/// Import what cyclictest, rtla, fio or another of two dozen tools wrote, as a run that show, compare and report take
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase import cyclictest.json
  worstcase import before.txt after.txt --load hackbench -o tried
  worstcase import timerlat.txt --interval 1ms
  worstcase import fio.json --load idle

Read are text and JSON of cyclictest, oslat, pmqtest, ptsematest, svsematest, sigwaittest, signaltest,
cyclicdeadline, pi_stress; hwlatdetect and rteval; rtla's timerlat and osnoise, hist and top, and the text
of the tracers (timerlat-tracer, osnoise-tracer); jitterdebugger; stress-ng --cyclic, schbench, linuxcnc's
latency-test, xenomai's latency, perf-sched (perf sched latency); fio's JSON (--output-format=json+),
bonnie++'s lines of comma-separated values, hdparm -tT. What stands before all lines alike (CI, journal,
mail) is taken off. Several runs in a file are several seeds.
Nothing is made up: what a file does not hold is absent (-), and the run says so.
Files of one kernel and tool are the seeds of one subject. Of a file that does not tell its kernel the
file's name stands in its place.
Exit code: 0 imported, 2 a file is of no known tool, cut or damaged, 3 a file cannot be read.")]
pub struct ImportArgs {
    /// Files that another tool wrote
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The run's folder [default: import- and the first file's name]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Which tool wrote them, in the words of this help [default: as the content tells]
    #[arg(long, value_name = "TOOL")]
    format: Option<ForeignFormat>,
    /// What ran beside, in your words; to compare with a run of worstcase, as it names the load: idle, fork, cmd:...
    #[arg(long, value_name = "LOAD")]
    load: Option<String>,
    /// Distance of two due times, where a file does not tell it
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    interval: Option<Nanos>,
    /// Times without a unit are ns, not us: cyclictest -N, jitterdebugger -N
    #[arg(long, conflicts_with = "microseconds")]
    nanoseconds: bool,
    /// They are us, though none is shorter than an interval
    #[arg(long)]
    microseconds: bool,
}

worstcase_base::errors! {
    /// Why nothing is imported.
    #[derive(Debug, thiserror::Error)]
    pub enum ImportCliError {
        /// A file.
        #[error(transparent)]
        Import(#[from] worstcase_foreign::ImportError) => within,
        /// The run's folder.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// Something is in the folder.
        #[error("{} is there already; choose another folder with --output", .0.display())]
        Taken(PathBuf) => Usage,
        /// A path cannot be made absolute.
        #[error("{}: {source}", path.display())]
        Path {
            /// The path.
            path: PathBuf,
            /// Why.
            source: std::io::Error,
        } => Usage,
        /// The imported run cannot be shown.
        #[error(transparent)]
        Show(#[from] ShowError) => within,
        /// The output failed.
        #[error(transparent)]
        Output(#[from] OutputError) => Storage,
    }
}

/// Runs the command.
pub fn run(args: &ImportArgs) -> Result<ExitCode, ImportCliError> {
    let output = args.output.clone().unwrap_or_else(|| usual(&args.files));
    let is_taken = std::fs::read_dir(&output).map_or(output.exists(), |mut entries| entries.next().is_some());
    // An import that was killed goes on if the command is given again.
    let is_unfinished = || Run::open(&output).is_ok_and(|run| run.missing().next().is_some());
    if is_taken && !is_unfinished() {
        return Err(ImportCliError::Taken(output));
    }
    let _begun = BegunFolder::at(&output);
    let read = args.files.iter().map(|file| read(file, args.format, args.unit()));
    let sources = read.collect::<Result<Vec<_>, _>>()?;
    let title = title(&sources);
    let given = ImportFacts {
        load: args.load.clone(),
        interval: args.interval,
    };
    let cells = records(sources, &given)?;
    let entries = cells.iter().map(entry).collect();
    let run = Run::create(&output, RunPlan::imported(title, args.imported()?, entries))?;
    for cell in &cells {
        if !run.has_cell(&cell.record.id) {
            run.write_cell(cell)?;
        }
    }
    Ok(show::summary(&run)?)
}

impl ImportArgs {
    /// The unit of times without one, if the user tells it.
    fn unit(&self) -> Option<Nanos> {
        let given = [(self.nanoseconds, 1), (self.microseconds, 1_000)]
            .into_iter()
            .find(|(is_given, _)| *is_given);
        given.map(|(_, ns)| Nanos(ns))
    }

    /// The files and the user's facts, to give the command again.
    fn imported(&self) -> Result<Imported, ImportCliError> {
        let absolute = |file: &PathBuf| {
            std::path::absolute(file).map_err(|source| ImportCliError::Path {
                path: file.clone(),
                source,
            })
        };
        let mut options = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            options.extend(value.into_iter().flat_map(|value| [name.to_string(), value]));
        };
        option("--format", self.format.map(|format| format.to_string()));
        option("--load", self.load.clone());
        option("--interval", self.interval.map(|interval| format!("{}ns", interval.0)));
        options.extend(self.nanoseconds.then(|| "--nanoseconds".to_string()));
        options.extend(self.microseconds.then(|| "--microseconds".to_string()));
        Ok(Imported {
            files: self.files.iter().map(absolute).collect::<Result<_, _>>()?,
            options,
        })
    }
}

/// At most so many files are named in a run's title, which is a line.
const NAMED: usize = 20;

fn title(sources: &[ForeignSource]) -> String {
    let tools = distinct(sources.iter().flat_map(ForeignSource::tools)).join(", ");
    let files = sources.iter().map(|source| source.file.as_str());
    let more = match sources.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = files.take(NAMED).collect::<Vec<_>>().join(", ");
    plain(&format!("imported, measured by {tools}: {named}{more}"))
}

fn entry(cell: &CellResult) -> CellEntry {
    let (subject, cell) = (&cell.record.subject, &cell.record.cell);
    CellEntry::named(&subject.id(), &cell.load, &cell.probe, cell.seed, cell.cpu)
}

/// `import-cyclictest` of `cyclictest.json`, in the present folder.
fn usual(files: &[PathBuf]) -> PathBuf {
    let stem = files.first().and_then(|file| file.file_stem());
    let stem = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let name = format!("import-{stem}");
    match is_file_name(&name, 100) {
        true => Path::new(&name).into(),
        false => readable(&name).into(),
    }
}
