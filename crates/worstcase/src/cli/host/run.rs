//! `worstcase host run`.

use super::choices::{PolicyArg, ProbeList, TimerArg, probe_help};
use super::lines::{Lines, Quiet};
use super::live::{self, Live};
use crate::cli::Error;
use crate::cli::show;
use clap::{Args, Parser};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_base::duration;
use worstcase_host::HostSpec;
use worstcase_host::doctor::examine;
use worstcase_host::facts::Tree;
use worstcase_host::run::placement::{self, Topology};
use worstcase_host::run::{Matrix, Watch, run as run_matrix, subject, timerlat};
use worstcase_host::spec::{Policy, Timer};
use worstcase_host::{CpuList, Facts, HostError, StateFolder};
use worstcase_probe::bench::{Bench, Inversion};
use worstcase_probe::loads::LoadSpec;
use worstcase_probe::probes::environment;
use worstcase_probe::spec::SpecError;
use worstcase_probe::{Nanos, Probe, Venue};
use worstcase_results::record::{CellEntry, Run, RunPlan};

const HELP: &str = "\
Examples:
  worstcase host run
  worstcase host run --load desktop --time 10m --criterion 100us
  worstcase host run --probe response --load cpu+disk --cpus 2-3 --interval 250us
  worstcase host run --probe jitter --load desktop
  worstcase host run --probe switch:2/16x0/16k --load desktop
  worstcase host run --probe hackbench:1/4+pipes/sockets
  worstcase host run --probe inversion --criterion 100us

Ctrl-C ends a measurement early; what was taken until then is kept whole.
As root everything can be measured; without, what is missing is said, and stands in the record.
Exit code: 0 what was measured is kept, whatever the verdict: worstcase verdict and gate decide by it.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct RunArgs {
    /// Instruments, separated by commas
    #[arg(
        long = "probe",
        value_name = "PROBE",
        value_delimiter = ',',
        default_value = "wakeup",
        long_help = probe_help()
    )]
    probes: Vec<ProbeList>,
    /// A load (see docs/loads.md), several at once as A+B; may be given again
    #[arg(long = "load", value_name = "LOAD", default_value = "idle")]
    loads: Vec<String>,
    /// CPUs to measure, e.g. 0,2-5 [default: all that this process may use]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// How long each measurement takes
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration::parse)]
    time: Nanos,
    /// switch, hackbench, inversion: how many samples [default: 10, 4, 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: Option<u32>,
    /// Distance of two due times [default: 1ms; jitter: 2048 a second; noise: windows of 100ms; inversion: three times what a
    /// round takes]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    interval: Option<Nanos>,
    /// The due times of each CPU are this much after those of the CPU before it
    #[arg(long, value_name = "DURATION", default_value = "0us", value_parser = duration::parse)]
    distance: Nanos,
    /// What wakes the probe [default: nanosleep; response: posix; jitter: rtc where there is one]
    #[arg(long, value_enum)]
    timer: Option<TimerArg>,
    /// Scheduling policy of the probe
    #[arg(long, value_enum, default_value = "fifo")]
    policy: PolicyArg,
    /// Real-time priority of the probe, 1 to 99
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: u8,
    /// Number of measurements of each load and probe, each with a seed of its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// The load runs alone for this long before
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration::parse)]
    warmup: Nanos,
    /// noise: gaps at least this long are kept
    #[arg(long, value_name = "DURATION", default_value = "1us", value_parser = duration::parse)]
    threshold: Nanos,
    /// Keep the trace around this many of the largest samples of each CPU, for `worstcase explain` [default: response: 10; others: none]
    #[arg(long, value_name = "N")]
    flights: Option<usize>,
    /// The loads make their files in a new folder of this one [default: the temporary folder]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    /// Set what `worstcase host doctor` can set, for the length of the run; set back even if worstcase is killed
    #[arg(long)]
    apply: bool,
    /// The run's folder
    #[arg(long, short, default_value = "host-run")]
    output: PathBuf,
    /// Judge: no latency above this, e.g. 100us [default: 100us if inversion is the only probe]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    criterion: Option<Nanos>,
    /// Plain lines while it measures, also on a terminal
    #[arg(long, conflicts_with = "quiet")]
    plain: bool,
    /// Show nothing while it measures
    #[arg(long, short)]
    quiet: bool,
}

/// The CPUs that this process may use.
fn allowed_cpus() -> CpuList {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    (0..rustix::thread::CpuSet::MAX_CPU as u32)
        .filter(|cpu| set.is_set(*cpu as usize))
        .collect()
}

/// Flights of `response` unless asked otherwise.
const FLIGHTS: usize = 10;
/// Of the kernel's timerlat threads.
const TIMERLAT_POLICY: Policy = Policy::Fifo(95);
const RTC: &str = "/dev/rtc";

/// The same arguments on their own.
#[derive(Debug, Parser)]
pub struct Parsed {
    #[command(flatten)]
    args: RunArgs,
}

impl Parsed {
    /// With the run's folder.
    pub fn of(self, output: &Path) -> RunArgs {
        RunArgs {
            output: output.to_path_buf(),
            ..self.args
        }
    }
}

/// Runs the command.
pub fn run(args: &RunArgs, state: &StateFolder) -> Result<ExitCode, Error> {
    measure(args, state, &|cells| {
        RunPlan::new("how late this machine is", command(), cells)
    })
}

/// Measures what the arguments say; `plan` describes the run.
pub fn measure(
    args: &RunArgs,
    state: &StateFolder,
    plan: &dyn Fn(Vec<CellEntry>) -> RunPlan,
) -> Result<ExitCode, Error> {
    let facts = Facts::of("/".as_ref());
    let matrix = matrix(args, &facts)?;
    if matrix.specs.iter().any(|spec| spec.probe == Probe::Timerlat) {
        timerlat::check()?;
    }
    let mut plan = plan(matrix.cells());
    let only_inversion = matrix
        .specs
        .iter()
        .all(|spec| matches!(spec.probe, Probe::Bench(Bench::Inversion(_))));
    let asked = args.criterion.map(|c| c.0).or(plan.criterion_ns);
    plan.criterion_ns = asked.or(only_inversion.then_some(Inversion::CRITERION.0));
    let run = Run::create(&args.output, plan)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        signal_hook::flag::register(signal, stop.clone()).map_err(HostError::Signals)?;
    }
    let mut watch = watch(args, &stop);
    let outcome = run_matrix(&matrix, &run, state, &stop, watch.as_mut())?;
    // Gives the terminal back.
    drop(watch);
    drop(run);
    if outcome.measured < outcome.of {
        eprintln!(
            "worstcase: ended early, {} of {} measurements are kept; the same command measures the rest",
            outcome.measured, outcome.of
        );
    }
    Ok(show::summary(&args.output)?)
}

/// What is shown meanwhile.
fn watch(args: &RunArgs, stop: &Arc<AtomicBool>) -> Box<dyn Watch> {
    match () {
        () if args.quiet => Box::new(Quiet),
        () if !args.plain && live::is_usable() => Box::new(Live::new(args.criterion, stop.clone())),
        () => Box::new(Lines::default()),
    }
}

/// The arguments that repeat the run.
fn command() -> Vec<String> {
    let mut all: Vec<String> = std::env::args().collect();
    if let Some(first) = all.first_mut() {
        *first = "worstcase".into();
    }
    all
}

fn matrix(args: &RunArgs, facts: &Facts) -> Result<Matrix, HostError> {
    let allowed = allowed_cpus();
    let cpus = args.cpus.clone().unwrap_or_else(|| allowed.clone());
    let missing = cpus.without(&allowed);
    if !missing.is_empty() {
        return Err(HostError::NotOnline {
            missing,
            online: allowed,
        });
    }
    let cpus: Vec<u32> = cpus.iter().collect();
    let loads = args
        .loads
        .iter()
        .map(|text| load(text))
        .collect::<Result<Vec<_>, _>>()?;
    let mut specs = Vec::new();
    for probe in args.probes.iter().flat_map(|list| &list.0) {
        let cpus = match probe {
            Probe::Bench(bench) => placement::place(bench, &Topology::read(&Tree::at("/".as_ref()), &cpus))?,
            _ => cpus.clone(),
        };
        for load in &loads {
            for seed in 1..=args.seeds {
                specs.push(spec(args, *probe, load, seed, &cpus)?);
            }
        }
    }
    Ok(Matrix {
        subject: subject::of(facts, &environment::read()),
        specs,
        work_parent: args.work_dir.clone().unwrap_or_else(std::env::temp_dir),
        apply: args.apply.then(|| examine(facts, &cpus.into_iter().collect())),
    })
}

fn load(text: &str) -> Result<LoadSpec, HostError> {
    let wrong = |e: SpecError| HostError::Argument(format!("--load: {e}"));
    let load: LoadSpec = text.parse().map_err(wrong)?;
    load.check_venue(Venue::Host).map_err(wrong)?;
    Ok(load)
}

fn spec(args: &RunArgs, probe: Probe, load: &LoadSpec, seed: u64, cpus: &[u32]) -> Result<HostSpec, HostError> {
    let wrong = |text: &str| Err(HostError::Argument(text.to_string()));
    let has_rtc = std::path::Path::new(RTC).exists();
    if let Probe::Bench(bench) = probe {
        return bench_spec(args, bench, load, seed, cpus);
    }
    if args.samples.is_some() {
        return wrong("--samples: for switch, hackbench and inversion; the others measure for --time");
    }
    let timer = args.timer.map(Timer::from).unwrap_or(match probe {
        Probe::Response => Timer::Posix,
        Probe::Timerlat => Timer::Timerlat,
        Probe::Jitter if has_rtc && cpus.len() == 1 => Timer::Rtc,
        _ => Timer::Nanosleep,
    });
    match timer {
        Timer::Setitimer if cpus.len() > 1 => {
            return wrong("--timer setitimer: a process has one, so name one CPU with --cpus");
        }
        Timer::Rtc if cpus.len() > 1 => return wrong("--timer rtc: there is one clock, so name one CPU with --cpus"),
        Timer::Rtc if probe != Probe::Jitter => {
            return wrong("--timer rtc: its interrupts have no due times; use --probe jitter");
        }
        Timer::Rtc if !has_rtc => return wrong("--timer rtc: this machine has no /dev/rtc; use another timer"),
        _ => {}
    }
    if probe == Probe::Timerlat && (args.timer.is_some() || args.distance.0 > 0 || args.flights.is_some_and(|n| n > 0))
    {
        return wrong("--probe timerlat: the kernel's threads take no --timer, --distance or --flights");
    }
    let interval = args.interval.unwrap_or(probe.usual_period(Venue::Host));
    if interval < Nanos(10_000) || interval > Nanos(60_000_000_000) {
        return wrong("--interval: from 10us to 60s");
    }
    if probe == Probe::Timerlat
        && (interval < Nanos(100_000) || interval > Nanos(1_000_000_000) || !interval.0.is_multiple_of(1_000))
    {
        return wrong("--interval: with timerlat from 100us to 1s, in whole microseconds");
    }
    let periods = u32::try_from(args.time.0 / interval.0).unwrap_or(u32::MAX);
    if periods == 0 {
        return wrong("--time: shorter than one interval");
    }
    Ok(HostSpec {
        probe,
        timer,
        policy: match args.policy {
            _ if probe == Probe::Timerlat => TIMERLAT_POLICY,
            PolicyArg::Fifo => Policy::Fifo(args.priority),
            PolicyArg::Rr => Policy::Rr(args.priority),
            PolicyArg::Deadline => Policy::Deadline,
            PolicyArg::Other => Policy::Other,
        },
        cpus: cpus.to_vec(),
        interval,
        distance: args.distance,
        periods,
        warmup: args.warmup,
        seed,
        load: load.clone(),
        threshold: args.threshold,
        flights: args.flights.unwrap_or(match probe {
            Probe::Response => FLIGHTS,
            _ => 0,
        }),
        work_dir: PathBuf::new(),
        cgroup: None,
        tracing: None,
        samples_dir: PathBuf::new(),
    })
}

fn bench_spec(args: &RunArgs, bench: Bench, load: &LoadSpec, seed: u64, cpus: &[u32]) -> Result<HostSpec, HostError> {
    let wrong = |text: &str| Err(HostError::Argument(text.to_string()));
    if args.timer.is_some() || args.distance.0 > 0 || args.flights.is_some_and(|n| n > 0) {
        return wrong(
            "--probe switch, hackbench, inversion: no timer wakes them; they take no --timer, --distance or --flights",
        );
    }
    let is_periodic = bench.usual_period().0 > 0;
    if args.interval.is_some() && !is_periodic {
        return wrong("--interval: switch and hackbench have none");
    }
    Ok(HostSpec {
        probe: Probe::Bench(bench),
        timer: Timer::None,
        policy: match is_periodic {
            true => Policy::Fifo(args.priority),
            false => Policy::Other,
        },
        cpus: cpus.to_vec(),
        interval: args.interval.unwrap_or(bench.usual_period()),
        distance: Nanos(0),
        periods: args.samples.unwrap_or(bench.usual_samples()),
        warmup: args.warmup,
        seed,
        load: load.clone(),
        threshold: Nanos(0),
        flights: 0,
        work_dir: PathBuf::new(),
        cgroup: None,
        tracing: None,
        samples_dir: PathBuf::new(),
    })
}
