//! `worstcase host watch`: measuring without an end.

mod looker;
mod serve;

use super::choice::OfWatch;
use super::folder::{self, TITLE};
use crate::cli::error::Error;
use crate::cli::kept::judged;
use crate::cli::parameters::ParameterArgs;
use crate::cli::progress::is_quiet;
use crate::cli::stop;
use crate::cli::words;
use clap::Args;
use looker::Looker;
use serve::{Served, Textfile};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_base::output::BegunFolder;
use worstcase_contract::Nanos;
use worstcase_host::run::specs::matrix;
use worstcase_host::watch::{WatchOrder, run as watch};
use worstcase_host::{HostError, StateFolder};
use worstcase_plan::{CellLength, Experiment, ExperimentPlan, Venue};
use worstcase_results::record::SampleSelection;

const HELP: &str = "\
Examples:
  worstcase host watch
  worstcase host watch --time 30d --rotate 1h --output week
  worstcase host watch --output week --resume
  worstcase host watch --cpus 2-3 --interval 250us --criterion 100us --metrics 127.0.0.1:9750
  worstcase host watch --captures 5 --output why
  worstcase host watch --keep 7d --textfile /var/lib/prometheus/node-exporter/worstcase.prom

Each segment is a run in the folder: worstcase show, report, explain and verdict take it. Of its samples the
histogram of all is kept, and the largest with their neighbours. What is measured while a segment runs is
written every --checkpoint, so a kill or a loss of power costs no more than that.
Ctrl-C and SIGTERM end it; the segment that runs is kept.
Exit code: 0 it was ended, or its time is over; 2 wrong arguments, or something else is in the folder;
4 the measurement failed; 5 the folder cannot be written, or another process watches into it.";

/// The samples that are kept of each segment.
const SELECTION: SampleSelection = SampleSelection {
    largest: 100,
    around: 5,
};
/// Shorter ones would be more writing than measuring.
const SHORTEST: Nanos = Nanos(1_000_000_000);

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct WatchArgs {
    #[command(flatten)]
    parameters: ParameterArgs<OfWatch>,
    /// The watch folder; a run folder for each segment is made in it [default: a new one, watch-NAME-YYYYMMDD-HHMM (UTC)]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Go on with the watch in the folder of --output, or begin one if there is none
    #[arg(long, requires = "output")]
    resume: bool,
    /// End this long after the watch began, gaps included [default: when it is stopped]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Nanos>,
    /// Length of a segment
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "1h")]
    rotate: Nanos,
    /// Keep so many segments, or as many as fit into a time; the oldest are removed
    #[arg(long, value_name = "N|DURATION", default_value = "30d")]
    keep: Keep,
    /// Write what the running segment has this often
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "1m")]
    checkpoint: Nanos,
    /// Keep the trace around this many of the largest samples of each CPU and segment, for `worstcase explain`. The trace costs
    /// some hundred ns a sample; it is written when the segment is over
    #[arg(long, value_name = "N", default_value_t = 0)]
    captures: usize,
    /// Judge each segment: no latency above this, e.g. 100us; for `worstcase show` and `verdict`, and a metric
    #[arg(long, value_name = "DURATION", value_parser = words::limit)]
    criterion: Option<Nanos>,
    /// Serve metrics for Prometheus there, e.g. 127.0.0.1:9750
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    metrics: Option<SocketAddr>,
    /// Write metrics to this file every 15 s, for node_exporter's textfile collector
    #[arg(long, value_name = "FILE")]
    textfile: Option<PathBuf>,
}

/// The number of segments that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Segments(u64),
    Time(Nanos),
}

impl FromStr for Keep {
    type Err = String;
    fn from_str(text: &str) -> Result<Keep, String> {
        let keep = match text.parse() {
            Ok(segments) => Keep::Segments(segments),
            Err(_) => {
                let time = duration::parse(text);
                Keep::Time(
                    time.map_err(|_| format!("write a number of segments, or a time, e.g. 100 or 30d, not '{text}'"))?,
                )
            }
        };
        match keep {
            Keep::Segments(0) | Keep::Time(Nanos(0)) => Err("at least one segment is kept".into()),
            keep => Ok(keep),
        }
    }
}

impl Keep {
    fn segments(self, rotate: Nanos) -> u64 {
        match self {
            Keep::Segments(segments) => segments,
            Keep::Time(time) => time.0.div_ceil(rotate.0),
        }
    }
}

/// Runs the command.
pub fn run(args: &WatchArgs, state: &StateFolder) -> Result<ExitCode, Error> {
    for (option, length) in [("--rotate", args.rotate), ("--checkpoint", args.checkpoint)] {
        if length < SHORTEST {
            return Err(HostError::Argument(format!("{option}: at least 1s")).into());
        }
    }
    let experiment = args.experiment()?;
    let order = WatchOrder {
        matrix: matrix(&experiment)?,
        plan: ExperimentPlan::new(TITLE, experiment),
        folder: args.output.clone().unwrap_or_else(|| folder::new("watch")),
        resume: args.resume,
        keep: args.keep.segments(args.rotate),
        checkpoint: args.checkpoint,
        selection: SELECTION,
        time: args.time,
    };
    let looker = Looker::new(&order, is_quiet());
    let cpus: Vec<u32> = order.matrix.specs.iter().flat_map(|spec| spec.cpus.clone()).collect();
    let served = args
        .metrics
        .map(|at| Served::open(at, &cpus, looker.watched()))
        .transpose()?;
    if let Some(served) = &served {
        looker.serves(served.address());
    }
    let textfile = args.textfile.as_ref();
    let textfile = textfile
        .map(|path| Textfile::open(path, &cpus, looker.watched()))
        .transpose()?;
    let _begun = BegunFolder::at(&order.folder);
    let stop = stop::in_order("keeping the running segment");
    let watched = watch(&order, state, &stop, &looker);
    looker.finish();
    drop((served, textfile));
    watched?;
    looker.tell_end(&order.folder);
    Ok(ExitCode::SUCCESS)
}

impl WatchArgs {
    fn experiment(&self) -> Result<Experiment, Error> {
        let mut experiment = self.parameters.given.experiment(Venue::Host, &[])?;
        for part in &mut experiment.parts {
            part.timing.length = Some(CellLength::Time(self.rotate));
            // A trace for weeks is only for who asks for it.
            let unasked = part.probes.iter().all(|probe| probe == "wakeup").then_some(0);
            part.method.captures = (self.captures > 0).then_some(self.captures).or(unasked);
        }
        Ok(judged(experiment, self.criterion)?)
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "write a number and a port, e.g. 127.0.0.1:9750; a name may stand for several addresses".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_kept_by_number_or_time() {
        let keep = |text: &str| text.parse::<Keep>().map(|keep| keep.segments(Nanos(3_600_000_000_000)));
        assert_eq!(
            [keep("7"), keep("30d"), keep("90m"), keep("1s")],
            [Ok(7), Ok(720), Ok(2), Ok(1)]
        );
        assert!(keep("0").is_err() && keep("0h").is_err() && keep("many").is_err());
    }
}
