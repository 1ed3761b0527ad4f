//! `worstcase study`: lists the studies, and shows one of them.

use super::ahead::{self, MissingKernels};
use super::host::{self, OfStudy};
use super::jobs::Jobs;
use super::kept::LAB_RUN;
use super::lab::{self, MatrixRunArgs};
use super::output::print;
use super::parameters::ParameterArgs;
use super::progress::ProgressDisplay;
use super::words;
use crate::cli::error::Error;
use clap::builder::StringValueParser;
use clap::{Args, Subcommand};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_base::cache::Cache;
use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_base::format::span;
use worstcase_base::say;
use worstcase_contract::Nanos;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::ahead::LabAhead;
use worstcase_lab::models;
use worstcase_lab::speed::LabSpeed;
use worstcase_plan::study::{self, Study, StudyVariant};
use worstcase_plan::{
    Arch, CellLength, Experiment, ExperimentPlan, Part, PlannedSubject, PreemptChoice, Subjects, Venue,
};
use worstcase_report::terminal::Style;
use worstcase_report::{claims, demands};

/// Examples of the group.
pub(super) const HELP: &str = "\
Examples:
  worstcase study list
  worstcase study show preemption-models
  worstcase study run preemption-models --quick -o demo-run";

const RUN_HELP: &str = "\
Examples:
  worstcase study run preemption-models --quick -o demo-run
  worstcase study run kernel-flavours --quick -o flavours
  worstcase study run kernel-flavours --quick --arch arm64 -o boards
  worstcase study run realfeel-jitter --host --quick
  worstcase study run io-schedulers --host --work-dir /var/tmp --io-scheduler none,mq-deadline
  worstcase study run ./mine.toml --jobs 4

Exit code: 0 everything was measured, whatever the verdicts: worstcase verdict and gate decide by them.";

const SHOW_HELP: &str = "\
Examples:
  worstcase study show preemption-models
  worstcase study show kernel-flavours --toml > mine.toml

docs/studies.md has the form of the file.";

/// List and show studies: files that ask a question and name the cells that answer it
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// List the built-in studies
    #[command(after_help = "Examples:\n  worstcase study list")]
    List,
    #[command(after_help = RUN_HELP)]
    /// Measure a study's cells and tell which of its claims hold now
    Run(StudyRunArgs),
    #[command(after_help = SHOW_HELP)]
    /// Show a study: its question, cells and claims
    Show {
        /// A built-in study's name, or a study file
        #[arg(hide_possible_values = true, value_parser = words::studies(StringValueParser::new()))]
        study: String,
        /// Print the study's file instead, to be copied and changed
        #[arg(long)]
        toml: bool,
    },
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct StudyRunArgs {
    /// A built-in study's name, or a study file
    #[arg(hide_possible_values = true, value_parser = words::studies(StringValueParser::new()))]
    study: String,
    /// Measure the study's few quick cells instead of all
    #[arg(long)]
    quick: bool,
    /// Measure the study's part for this machine, instead of the one for the lab
    #[arg(long)]
    host: bool,
    /// The run's folder [default: worstcase-run; with --host a new one, host-NAME-YYYYMMDD-HHMM (UTC)]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// With --host: go on with the run in the folder of --output; in the lab that is always so
    #[arg(long, requires_all = ["output", "host"])]
    resume: bool,
    /// Ask it of the archive's kernels for another architecture: x86-64, arm64. What that does not have is left out, and told
    #[arg(
        long,
        value_name = "ARCH",
        conflicts_with = "host",
        default_value_t,
        hide_default_value = true
    )]
    arch: Arch,
    #[command(flatten)]
    parameters: ParameterArgs<OfStudy>,
    /// With how many machines at once, and more
    #[command(flatten)]
    how: MatrixRunArgs,
}

impl StudyRunArgs {
    /// The experiment, and the run's folder.
    pub fn plan(&self) -> Result<(ExperimentPlan, PathBuf), Error> {
        let (plan, _, output) = self.plan_of_arch()?;
        Ok((plan, output))
    }

    /// The same, with what is left out because the architecture does not have it.
    fn plan_of_arch(&self) -> Result<(ExperimentPlan, Vec<String>, PathBuf), Error> {
        let venue = if self.host { Venue::Host } else { Venue::Lab };
        let variant = if self.quick {
            StudyVariant::Quick
        } else {
            StudyVariant::Full
        };
        let usual = || match venue {
            Venue::Lab => LAB_RUN.into(),
            Venue::Host => host::usual_folder(),
        };
        let output = self.output.clone().unwrap_or_else(usual);
        let mut plan = study::plan(&self.study, venue, variant)?;
        self.parameters.given.set_up(&mut plan.experiment)?;
        let left_out = match self.arch.is_usual() {
            true => Vec::new(),
            false => plan.ask_of(self.arch)?,
        };
        Ok((plan, left_out, output))
    }

    /// The archive's kernels for another architecture have fewer models.
    fn leave_out_lacking(&self, plan: &mut ExperimentPlan) -> Result<(), Error> {
        if self.arch.is_usual() {
            return Ok(());
        }
        let terminal = ProgressDisplay::new();
        let options = ResolveOptions::from_cache(&terminal)?;
        tell(&models::leave_out_lacking(plan, &options)?);
        Ok(())
    }

    fn measure(&self) -> Result<ExitCode, Error> {
        let (mut plan, left_out, dir) = self.plan_of_arch()?;
        tell(&left_out);
        let resume = self.resume;
        match plan.experiment.venue {
            Venue::Lab => {
                self.leave_out_lacking(&mut plan)?;
                lab::measure(plan, &dir, &self.how)
            }
            Venue::Host => {
                tell(&worstcase_host::run::leave_out(&mut plan.experiment));
                host::measure(plan, &host::RunPlace { dir, resume })
            }
        }
    }
}

/// What is left out.
fn tell(notes: &[String]) {
    notes.iter().for_each(|note| say!("worstcase: {note}"));
}

/// Runs the command.
pub fn run(command: StudyCommand) -> Result<ExitCode, Error> {
    let text = match &command {
        StudyCommand::List => list(&Speed::here()),
        StudyCommand::Run(args) => return args.measure(),
        StudyCommand::Show { study, toml: true } => study::text(study)?,
        StudyCommand::Show { study, toml: false } => show(&study::load(study)?, &Speed::here(), Style::of_stdout()),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn list(speed: &Speed) -> String {
    study::built_in().fold(String::new(), |mut out, study| {
        let lab = [("quick", &study.lab.quick), ("full", &study.lab.full)];
        let times = lab.map(|(name, experiment)| match speed.ahead(experiment) {
            Some(ahead) => format!("{name} {}", span(ahead.seconds)),
            None => name.to_string(),
        });
        let (name, title) = (study.name, study.title);
        writeln!(out, "{name:<20} {title} (about: {})", times.join(", ")).expect("writing to a String cannot fail");
        out
    })
}

/// What an estimate rests on.
struct Speed {
    cache: Option<Cache>,
    lab: LabSpeed,
    jobs: NonZeroUsize,
}

impl Speed {
    fn here() -> Speed {
        let cache = Cache::open().ok();
        Speed {
            lab: cache.as_ref().map_or_else(LabSpeed::unseen, LabSpeed::of),
            jobs: Jobs::usual(),
            cache,
        }
    }

    fn ahead(&self, experiment: &Experiment) -> Option<LabAhead> {
        LabAhead::of_experiment(experiment, self.jobs, &self.lab)
    }
}

fn show(study: &Study, speed: &Speed, style: Style) -> String {
    let mut out = vec![
        style.bold(&format!("{}: {}", study.name, study.title)),
        study.question.clone(),
        format!("Source: {}", study.source),
    ];
    if let Some(limit) = study.lab.full.criterion {
        out.push(format!("Criterion: no latency above {}", duration::show(limit)));
    }
    let venues = [("", Some(&study.lab)), (" with --host", study.host.as_ref())];
    for (with, variants) in venues {
        for (variant, experiment) in variants
            .into_iter()
            .flat_map(|v| [(StudyVariant::Quick, &v.quick), (StudyVariant::Full, &v.full)])
        {
            out.push(String::new());
            out.extend(cells(&format!("{}{with}", variant.name()), experiment, speed, style));
        }
    }
    if !study.demands.is_empty() {
        out.push(String::new());
        out.extend(demands::of_study(&study.demands, style));
    }
    if !study.claims.is_empty() {
        out.push(String::new());
        out.extend(claims::of_study(&study.claims, style));
    }
    out.push(String::new());
    out.join("\n")
}

fn cells(name: &str, experiment: &Experiment, speed: &Speed, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(&format!("{name}: {}", extent(experiment)))];
    let ahead = speed.ahead(experiment).filter(|_| experiment.venue == Venue::Lab);
    let ahead = ahead.and_then(|ahead| ahead::words(&ahead));
    lines.extend(ahead.map(|words| format!("  takes    {words}, with an empty cache")));
    let missing = speed.cache.as_ref().map(|cache| MissingKernels::of(experiment, cache));
    lines.extend(missing.and_then(|missing| Some(format!("  takes    {}", missing.words()?))));
    for part in &experiment.parts {
        lines.extend(one_part(part));
    }
    lines
}

/// The amount of work.
fn extent(experiment: &Experiment) -> String {
    match experiment.venue {
        Venue::Lab => {
            let cells = experiment.lab_cells().unwrap_or_default();
            let observation_time = Nanos(cells.iter().map(|(_, s)| s.period.0 * u64::from(s.periods)).sum());
            let each = match cells.iter().any(|(subject, _)| subject.preempt == PreemptChoice::All) {
                true => ", each for every preemption model of its kernel",
                false => "",
            };
            let observed = match observation_time {
                // Benchmarks take as long as their work.
                Nanos(0) => String::new(),
                time => format!(", {} of virtual observation time", duration::show(time)),
            };
            format!("{} cells{each}{observed}", cells.len())
        }
        Venue::Host => {
            let combinations = |part: &Part| part.combinations(Venue::Host).map_or(0, |all| all.len());
            let count: usize = experiment.parts.iter().map(combinations).sum();
            format!("{count} measurements")
        }
    }
}

fn one_part(part: &Part) -> Vec<String> {
    let probes = match &part.probes[..] {
        [first, .., last] if part.probes.len() > 6 => format!("{first} ... {last}, {} in all", part.probes.len()),
        all => all.join(", "),
    };
    let length = match part.timing.length {
        None => "as many samples as the probe usually takes".into(),
        Some(CellLength::Samples(n)) => format!("{n} samples"),
        Some(CellLength::Time(time)) => duration::show(time),
    };
    let interval = part
        .timing
        .interval
        .map_or(String::new(), |p| format!(", every {}", duration::show(p)));
    let mut lines = match &part.subjects {
        Subjects::Kernels(subjects) => kernels(subjects),
        Subjects::Cpus(Some(cpus)) => vec![format!("  CPUs     {cpus}")],
        Subjects::Cpus(None) => vec!["  CPUs     all that may be used".into()],
    };
    lines.extend([
        format!(
            "  loads    {}",
            part.loads
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!("  probes   {probes}"),
        format!(
            "  a cell   {length}{interval}, after {} of load alone, priority {}; {} seeds",
            duration::show(part.timing.warmup),
            part.method.priority,
            part.seeds.count()
        ),
    ]);
    lines
}

/// Kernels with their models, and each machine under them.
fn kernels(subjects: &[PlannedSubject]) -> Vec<String> {
    let kernels = subjects.chunk_by(|a, b| a.kernel == b.kernel).map(|same| {
        let models = distinct(same.iter().map(|subject| subject.preempt.to_string()));
        format!("{} ({})", same[0].kernel, models.join(", "))
    });
    let mut lines = vec![format!("  kernels  {}", kernels.collect::<Vec<_>>().join("; "))];
    let machines = distinct(subjects.iter().map(|subject| subject.machine.to_string()));
    lines.extend(machines.iter().map(|machine| format!("  machine  {machine}")));
    lines
}
