//! `worstcase show`: a run as tables, Markdown, JSON or CSV, and its verdicts.

mod data;

use super::cell_names;
use super::output::{OutputError, print};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::explain::{ExplainError, worst_of_host};
use worstcase_base::format::plain;
use worstcase_report::{ReportView, cell, csv, json, markdown, terminal};
use worstcase_results::record::{CAPTURES, Quantity, Record, Run, RunError};
use worstcase_results::verdict::{AskedLimit, Criterion, Outcome, verdicts};

/// Show what a run measured: a table of subjects and loads, one cell, or data for programs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase show RUN
  worstcase show RUN --criterion 100us
  worstcase show RUN --cell none.shm.wakeup.s1
  worstcase show RUN --csv > run.csv
  worstcase show RUN --markdown > run.md
  worstcase show RUN --samples > samples.csv
  worstcase show RUN --histogram > run.dat          then, in gnuplot: plot 'run.dat' with steps

A verdict never changes the exit code: worstcase verdict and gate decide by it.")]
pub struct ShowArgs {
    /// The run's folder
    run: PathBuf,
    /// Print ensembles and verdicts as JSON, times in ns
    #[arg(long, conflicts_with_all = ["csv", "cell"])]
    json: bool,
    /// Print every sample as CSV, times in ns; with --cell of one cell
    #[arg(long, conflicts_with_all = ["json", "csv", "histogram", "quantity"])]
    samples: bool,
    /// Print latencies in steps of 1 us as plain text in the form of cyclictest -h, a column a cell; with --cell of one cell
    #[arg(long, conflicts_with_all = ["json", "csv", "quantity"])]
    histogram: bool,
    /// Print a line for each cell and quantity as CSV, times in ns
    #[arg(long, conflicts_with = "cell")]
    csv: bool,
    /// Print the tables as Markdown, for an issue or a merge request
    #[arg(long, conflicts_with_all = ["json", "csv", "samples", "histogram", "cell"])]
    markdown: bool,
    /// Print one cell in every detail
    #[arg(long, value_name = "ID", add = cell_names::cells())]
    cell: Option<String>,
    /// Judge every subject: no latency above this, e.g. 100us, or no percentile, e.g. p99.9=50us (default: the run's own criterion)
    #[arg(long, value_name = "LIMIT")]
    criterion: Option<AskedLimit>,
    /// Which quantities to show; by default what the probe is about (response: irq-latency and after-irq)
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with = "cell")]
    quantity: Vec<QuantityArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum QuantityArg {
    /// Timer due to user code
    Latency,
    /// Timer due to timer interrupt
    IrqLatency,
    /// Timer interrupt to user code
    AfterIrq,
}

impl From<QuantityArg> for Quantity {
    fn from(arg: QuantityArg) -> Quantity {
        match arg {
            QuantityArg::Latency => Quantity::Latency,
            QuantityArg::IrqLatency => Quantity::IrqLatency,
            QuantityArg::AfterIrq => Quantity::AfterIrq,
        }
    }
}

worstcase_base::errors! {
    /// Why nothing can be shown.
    #[derive(Debug, thiserror::Error)]
    pub enum ShowError {
        /// The run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// The run does not hold it.
        #[error("the run holds {0} to print; see what it holds with worstcase show RUN")]
        NothingToPrint(&'static str) => Usage,
        /// What was kept of a late sample cannot be told.
        #[error(transparent)]
        Why(#[from] ExplainError) => within,
        /// CSV failed.
        #[error("cannot write CSV: {0}")]
        Csv(#[from] ::csv::Error) => Storage,
        /// The output failed.
        #[error(transparent)]
        Output(#[from] OutputError) => Storage,
    }
}

/// Runs the command.
pub fn run(args: &ShowArgs) -> Result<ExitCode, ShowError> {
    show(&Run::open(&args.run)?, args)
}

fn show(run: &Run, args: &ShowArgs) -> Result<ExitCode, ShowError> {
    let style = terminal::Style::of_stdout();
    if args.samples || args.histogram {
        data::run(run, args)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(id) = &args.cell {
        let record = run.record_of(id)?;
        let mut gathered = cell::GatheredSamples::of(&record);
        run.for_each_sample(&record, |row| gathered.add(row))?;
        print(&terminal::fitted(&cell::details(&record, &gathered, style)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let records = run.records()?;
    let asked = args.criterion.or(run.plan().criterion().map(AskedLimit::of_all));
    let criterion = asked.map(|asked| Criterion::asked(asked, &records));
    let quantities: Vec<Quantity> = args.quantity.iter().copied().map(Quantity::from).collect();
    let explanations = run.explanations()?;
    let view = ReportView {
        plan: run.plan(),
        dir: run.dir(),
        records: &records,
        explanations: &explanations,
        quantities: &quantities,
        verdicts: criterion.map(|c| (c, verdicts(&run.plan().cells, &records, &c))),
    };
    print(&match (args.json, args.csv, args.markdown) {
        (true, ..) => json::run(&view),
        (_, true, _) => csv::run(&view)?,
        (.., true) => markdown::run(&view),
        _ => {
            let why = why(run, &view)?;
            terminal::fitted(&(terminal::run(&view, style) + &terminal::after(&view, &why, style)))
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Why the latest sample of each subject that failed was late, of this machine: what was kept while measuring tells it.
fn why(run: &Run, view: &ReportView) -> Result<Vec<Breakdown>, ShowError> {
    let Some((_, verdicts)) = &view.verdicts else {
        return Ok(Vec::new());
    };
    let failed = verdicts.iter().filter(|v| v.outcome == Outcome::Fail);
    let mut why = Vec::new();
    for verdict in failed {
        let recorded = |r: &&Record| r.subject.id() == verdict.subject && r.environment.contains_key(CAPTURES);
        if let Some(worst) = view.records.iter().filter(recorded).max_by_key(|r| r.max_latency()) {
            why.extend(worst_of_host(run, view.records, worst)?);
        }
    }
    Ok(why)
}

/// Shows a run that was just measured, with its own criterion, and says where it is and what may come next.
pub fn summary(run: &Run) -> Result<ExitCode, ShowError> {
    let dir = run.dir();
    let args = ShowArgs {
        run: dir.to_path_buf(),
        json: false,
        csv: false,
        markdown: false,
        samples: false,
        histogram: false,
        cell: None,
        criterion: None,
        quantity: Vec::new(),
    };
    let shown = show(run, &args)?;
    print(&format!("\nkept in {}\n", plain(&dir.display().to_string())))?;
    Ok(shown)
}
