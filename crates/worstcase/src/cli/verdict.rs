//! `worstcase verdict`: does a run meet a limit, as text and as exit code.

use super::output::{OutputError, print};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_base::{distinct, duration};
use worstcase_contract::Nanos;
use worstcase_report::ReportView;
use worstcase_report::next::next;
use worstcase_report::tail::CellTail;
use worstcase_report::terminal::{Style, fitted};
use worstcase_report::verdict::ShownVerdict;
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::{Record, Run, RunError, Venue};
use worstcase_results::stats::tail::Peaks;
use worstcase_results::verdict::{AskedLimit, Criterion, verdicts, worst};

/// Does a run meet a limit? PASS, FAIL or INCONCLUSIVE as text and as exit code, and how sure that is
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase verdict RUN --criterion 100us
  worstcase verdict RUN --criterion 100us --min-time 3600s
  worstcase verdict RUN --criterion p99.9=50us
  worstcase verdict RUN --tail --json

Exit code: 0 every subject PASSes, 1 one FAILs, 10 none FAILs but one is INCONCLUSIVE; 2 the input is wrong.
What a PASS needs: in the lab of every load and probe 3 seeds and 1000 samples; on the host of every load, probe
and CPU 10000 samples in a minute, no throttling and nearly no stolen time. The tail estimate never changes a verdict.")]
pub struct VerdictArgs {
    /// The run's folder
    run: PathBuf,
    /// No latency above this, e.g. 100us, or no percentile, e.g. p99.9=50us (default: the run's own criterion)
    #[arg(long, value_name = "LIMIT")]
    criterion: Option<AskedLimit>,
    /// Seeds that a PASS needs of every load and probe
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    min_seeds: Option<u32>,
    /// Samples that a PASS needs: in the lab of every load and probe, on the host of every CPU too
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    min_samples: Option<u64>,
    /// Observation time that a PASS needs of the same, e.g. 600s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    min_time: Option<Nanos>,
    /// Estimate how large latencies may become that are too seldom to be seen
    #[arg(long)]
    tail: bool,
    /// Print JSON, times in ns
    #[arg(long)]
    json: bool,
}

worstcase_base::errors! {
    /// Why a run cannot be judged.
    #[derive(Debug, thiserror::Error)]
    pub enum VerdictError {
        /// The run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// There is no limit.
        #[error("this run has no criterion of its own: add e.g. --criterion 100us")]
        NoCriterion => Usage,
        /// The output failed.
        #[error(transparent)]
        Output(#[from] OutputError) => Storage,
    }
}

/// Runs the command.
pub fn run(args: &VerdictArgs) -> Result<ExitCode, VerdictError> {
    let run = Run::open(&args.run)?;
    let own = run.plan().criterion().map(AskedLimit::of_all);
    let asked = args.criterion.or(own).ok_or(VerdictError::NoCriterion)?;
    let records = run.records()?;
    let usual = Criterion::asked(asked, &records);
    let criterion = Criterion {
        min_seeds: args.min_seeds.map_or(usual.min_seeds, |n| n as usize),
        min_samples: args.min_samples.unwrap_or(usual.min_samples),
        min_time: args.min_time.unwrap_or(usual.min_time),
        ..usual
    };
    let verdicts = verdicts(&run.plan().cells, &records, &criterion);
    let tails = match args.tail {
        true => Some(tails(&run, &records, asked.limit)?),
        false => None,
    };
    let view = ReportView {
        plan: run.plan(),
        dir: run.dir(),
        records: &records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: Some((criterion, verdicts.clone())),
    };
    let judged = ShownVerdict {
        title: &run.plan().title,
        records: &records,
        criterion,
        verdicts: &verdicts,
        tails: tails.as_deref(),
        next: &next(&view, &[]),
    };
    print(&match args.json {
        true => judged.json(),
        false => fitted(&judged.lines(Style::of_stdout())),
    })?;
    Ok(ExitCode::from(worst(&verdicts).exit_code()))
}

fn tails(run: &Run, records: &[Record], limit: Nanos) -> Result<Vec<CellTail>, RunError> {
    let of = |records: Vec<&Record>| {
        let mut peaks = Peaks::default();
        for record in &records {
            run.for_each_sample(record, |row| peaks.add(row.latency))?;
        }
        Ok(CellTail::of(&records, &peaks, Some(limit)))
    };
    // Seeds of the lab are taken together; a host's cells are not.
    let group = |r: &Record| match r.subject.venue() {
        Venue::Lab => format!("{}\n{}\n{}", r.subject.id(), r.cell.load, r.cell.probe),
        Venue::Host => r.id.to_string(),
    };
    distinct(records.iter().map(group))
        .into_iter()
        .map(|name| of(records.iter().filter(|r| group(r) == name).collect()))
        .collect()
}
