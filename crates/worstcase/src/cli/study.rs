//! `worstcase study`: which studies there are, and what one of them asks for.

use super::lab::{self, How};
use super::show::print;
use crate::duration;
use crate::error::Error;
use crate::kernels::ResolveOptions;
use crate::record::RunPlan;
use crate::report::terminal::{self, Style};
use crate::study::{self, Study, Variant};
use clap::Subcommand;
use std::fmt::Write;
use std::process::ExitCode;
use worstcase_probe::Nanos;

/// List and show studies: files that ask a question and name the cells that answer it
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// List the built-in studies
    List,
    /// Measure a study's cells and print its table, with the published figures beside it
    Run {
        /// A built-in study's name, or a study file
        study: String,
        /// Measure the study's few quick cells instead of all
        #[arg(long)]
        quick: bool,
        /// Where, and with how many machines at once
        #[command(flatten)]
        how: How,
    },
    /// Show a study: its question, cells and published figures
    Show {
        /// A built-in study's name, or a study file
        study: String,
        /// Print the study's file instead, to be copied and changed
        #[arg(long)]
        toml: bool,
    },
}

/// Runs the command.
pub fn run(command: StudyCommand) -> Result<ExitCode, Error> {
    let text = match &command {
        StudyCommand::List => list(),
        StudyCommand::Run { study, quick, how } => return measure(study, *quick, how),
        StudyCommand::Show { study, toml: true } => study::text(study)?,
        StudyCommand::Show { study, toml: false } => show(&study::load(study)?, Style::of_stdout()),
    };
    print(&text).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn measure(name: &str, quick: bool, how: &How) -> Result<ExitCode, Error> {
    let study = study::load(name)?;
    let variant = if quick { Variant::Quick } else { Variant::Full };
    let planned = |_: &ResolveOptions<'_>| Ok(study.plan(variant));
    let plan = |cells| {
        let mut command: Vec<String> = ["worstcase", "study", "run", &study.name].map(str::to_string).to_vec();
        command.extend(quick.then(|| "--quick".to_string()));
        let mut plan = RunPlan::new(&format!("{}: {}", study.name, study.title), command, cells);
        plan.criterion_ns = study.criterion.map(|c| c.0);
        plan.published = study.published.clone();
        plan
    };
    lab::measure(&planned, &[], how, &plan)
}

fn list() -> String {
    study::built_in().fold(String::new(), |mut out, study| {
        writeln!(out, "{:<20} {}", study.name, study.title).expect("writing to a String cannot fail");
        out
    })
}

fn show(study: &Study, style: Style) -> String {
    let mut out = vec![
        style.bold(&format!("{}: {}", study.name, study.title)),
        study.question.clone(),
        format!("Source: {}", study.source),
    ];
    if let Some(limit) = study.criterion {
        out.push(format!("Criterion: no latency above {}", duration::show(limit)));
    }
    for variant in [Variant::Quick, Variant::Full] {
        out.push(String::new());
        out.extend(cells(study, variant, style));
    }
    if !study.published.is_empty() {
        out.push(String::new());
        out.extend(terminal::published(&study.published, style));
    }
    out.push(String::new());
    out.join("\n")
}

fn cells(study: &Study, variant: Variant, style: Style) -> Vec<String> {
    let cells = study.cells(variant);
    let plan = study.plan(variant);
    let count = plan.len();
    let looked = Nanos(plan.iter().map(|c| c.spec.period.0 * u64::from(c.spec.periods)).sum());
    let kernels = cells
        .kernels
        .iter()
        .map(|k| format!("{} ({})", k.kernel, k.preempt.join(", ")));
    let probes = cells.probes.iter().map(ToString::to_string);
    let samples = cells
        .samples
        .map_or("as many samples as the probe usually takes".into(), |n| {
            format!("{n} samples")
        });
    let period = cells
        .period
        .map_or(String::new(), |p| format!(", every {}", duration::show(p)));
    vec![
        style.bold(&format!(
            "{}: {count} cells, {} of virtual time looked at",
            variant.name(),
            duration::show(looked)
        )),
        format!("  kernels  {}", kernels.collect::<Vec<_>>().join("; ")),
        format!("  loads    {}", cells.loads.join(", ")),
        format!("  probes   {}", probes.collect::<Vec<_>>().join(", ")),
        format!(
            "  a cell   {samples}{period}, after {} of load alone, priority {}; {} seeds",
            duration::show(cells.warmup),
            cells.priority,
            cells.seeds
        ),
        format!("  machine  {} MIPS, {} MB", cells.mips, cells.memory_mb),
    ]
}
