//! `worstcase lab sensitivity`.

use super::how::QemuArgs;
use crate::cli::cell_names;
use crate::cli::error::Error;
use crate::cli::jobs::Jobs;
use crate::cli::output::print;
use crate::cli::progress::ProgressDisplay;
use crate::cli::replay::AddedArgs;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_analysis::explain::{has_latency, worst_cell};
use worstcase_base::progress::Progress;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::executor::{LabExecutor, LabRunOptions};
use worstcase_lab::matrix::{self, LabMatrix};
use worstcase_plan::PlannedCell;
use worstcase_plan::sensitivity::variations;
use worstcase_report::sensitivity::Sensitivity;
use worstcase_report::terminal::Style;
use worstcase_results::record::Run;

pub(super) const HELP: &str = "\
Examples:
  worstcase lab sensitivity RUN
  worstcase lab sensitivity RUN --cell full.shm.wakeup.s1 --seeds 5

One thing is varied at a time: memory, whether the random generator is ready, CPU, speed,
interval, and phase (other seeds). A maximum that moves by more than a factor of two depends on
it: then it says something about that, too, and not about the kernel alone.

Exit code: 0 everything was measured, whatever it depends on.";

/// Arguments of `sensitivity`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct SensitivityArgs {
    /// The run's folder
    run: PathBuf,
    /// The cell [default: the one with the highest latency]
    #[arg(long, value_name = "ID", add = cell_names::cells())]
    cell: Option<String>,
    /// Seeds of each line
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: u32,
    /// Print JSON (worstcase-sensitivity/1), times in instructions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    added: AddedArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    qemu: QemuArgs,
}

/// Runs the command.
pub fn run(args: &SensitivityArgs) -> Result<ExitCode, Error> {
    let run = Run::open(&args.run)?;
    let measured = run.records()?;
    let record = match &args.cell {
        Some(id) => run.record_of(id)?,
        None => worst_cell(&run, &measured)?.clone(),
    };
    if !has_latency(&record) {
        let what = format!("{}: its probe has no latency", record.id);
        return Err(LabError::Request(what).into());
    }
    let variations = variations(&matrix::planned(&record)?, args.seeds);
    let cells: Vec<PlannedCell> = variations.iter().flat_map(|v| v.cells.clone()).collect();

    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal)?;
    let qemus = args
        .qemu
        .find_of(&options, cells.iter().map(|cell| cell.machine.arch()))?;
    let additions = args.added.named()?.or_of(&run.plan().experiment)?;
    let matrix = LabMatrix::prepare(&cells, &additions, &qemus, &options)?;
    let how = LabRunOptions {
        cache: &options.cache,
        jobs: args.jobs.count(),
        limit: args.qemu.limit(),
    };
    let bar = ProgressDisplay::new();
    let all = LabExecutor::new(matrix, how).records(&bar);
    bar.end();
    let all = all?;
    let mut rest = &all[..];
    let groups = variations.into_iter().map(|variation| {
        let (own, others) = rest.split_at(variation.cells.len());
        rest = others;
        (variation.property, variation.value, own)
    });
    let groups: Vec<_> = groups.collect();
    let sensitivity = Sensitivity::new(record.id.as_str(), &groups);
    let sensitivity =
        sensitivity.ok_or_else(|| LabError::Request(format!("{}: every period was missed", record.id)))?;
    print(&match args.json {
        true => format!("{:#}\n", serde_json::to_value(&sensitivity).expect("plain data")),
        false => sensitivity.terminal(Style::of_stdout()),
    })?;
    Ok(ExitCode::SUCCESS)
}
