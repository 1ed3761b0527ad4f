//! `worstcase study`: which studies there are, and what one of them asks for.

use super::lab::{self, How};
use super::output::print;
use crate::cli::Error;
use clap::Subcommand;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use worstcase_base::duration;
use worstcase_kernels::{self as kernels, ResolveOptions, preempt};
use worstcase_lab::study::{self, ALL_MODELS, Cells, PlannedCell, Study, StudyError, Variant};
use worstcase_probe::Nanos;
use worstcase_report::terminal::{self, Style};
use worstcase_results::record::{CellEntry, RunPlan};

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
  worstcase study run realfeel-jitter --host --quick
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
    /// Measure a study's cells and print its table, with the published figures beside it
    Run {
        /// A built-in study's name, or a study file
        study: String,
        /// Measure the study's few quick cells instead of all
        #[arg(long)]
        quick: bool,
        /// Measure the study's part for this machine, instead of the one for the lab
        #[arg(long)]
        host: bool,
        /// Where, and with how many machines at once
        #[command(flatten)]
        how: How,
    },
    #[command(after_help = SHOW_HELP)]
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
        StudyCommand::Run {
            study,
            quick,
            host: true,
            how,
        } => return measure_host(study, *quick, how),
        StudyCommand::Run { study, quick, how, .. } => return measure(study, *quick, how),
        StudyCommand::Show { study, toml: true } => study::text(study)?,
        StudyCommand::Show { study, toml: false } => show(&study::load(study)?, Style::of_stdout()),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn measure(name: &str, quick: bool, how: &How) -> Result<ExitCode, Error> {
    let study = study::load(name)?;
    let variant = if quick { Variant::Quick } else { Variant::Full };
    let planned = |options: &ResolveOptions<'_>| every_model(study.plan(variant), options);
    lab::measure(&planned, &[], how, &|cells| described(&study, quick, cells))
}

/// The cells, with every model that its kernel can boot where a cell asks for all.
fn every_model(cells: Vec<PlannedCell>, options: &ResolveOptions<'_>) -> Result<Vec<PlannedCell>, Error> {
    let mut models: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all = Vec::new();
    for cell in &cells {
        if cell.preempt == ALL_MODELS && !models.contains_key(&cell.kernel) {
            let kernel = kernels::resolve(&cell.kernel, options)?;
            let names = preempt::models(&kernel)?.iter().map(|m| m.model.to_string()).collect();
            models.insert(cell.kernel.clone(), names);
        }
    }
    // A subject's cells stand together: it is booted once.
    for group in cells
        .chunk_by(|a, b| (&a.kernel, &a.preempt, a.mips, a.memory_mb) == (&b.kernel, &b.preempt, b.mips, b.memory_mb))
    {
        let asked = std::slice::from_ref(&group[0].preempt);
        let names = match group[0].preempt == ALL_MODELS {
            true => &models[&group[0].kernel],
            false => asked,
        };
        for preempt in names {
            all.extend(group.iter().map(|cell| PlannedCell {
                preempt: preempt.clone(),
                ..cell.clone()
            }));
        }
    }
    Ok(all)
}

/// The study's part for this machine, as `worstcase host run` would measure it.
fn measure_host(name: &str, quick: bool, how: &How) -> Result<ExitCode, Error> {
    let study = study::load(name)?;
    let Some(part) = &study.host else {
        return Err(StudyError::NoHost { name: study.name }.into());
    };
    let arguments = if quick { &part.quick } else { &part.full };
    let plan = |cells| {
        let mut plan = described(&study, quick, cells);
        plan.command.push("--host".into());
        plan
    };
    super::host::run_for(arguments, &how.output, &plan)
}

fn described(study: &Study, quick: bool, cells: Vec<CellEntry>) -> RunPlan {
    let mut command: Vec<String> = ["worstcase", "study", "run", &study.name].map(str::to_string).to_vec();
    command.extend(quick.then(|| "--quick".to_string()));
    let mut plan = RunPlan::new(&format!("{}: {}", study.name, study.title), command, cells);
    plan.criterion_ns = study.criterion.map(|c| c.0);
    plan.published = study.published.clone();
    plan
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
    let plan = study.plan(variant);
    let looked = Nanos(plan.iter().map(|c| c.spec.period.0 * u64::from(c.spec.periods)).sum());
    let each = match plan.iter().any(|c| c.preempt == ALL_MODELS) {
        true => ", each for every preemption model of its kernel",
        false => "",
    };
    let heading = format!(
        "{}: {} cells{each}, {} of virtual time looked at",
        variant.name(),
        plan.len(),
        duration::show(looked)
    );
    let mut lines = vec![style.bold(&heading)];
    for part in study.cells(variant) {
        lines.extend(one_part(part));
    }
    if let Some(host) = &study.host {
        let arguments = match variant {
            Variant::Quick => &host.quick,
            Variant::Full => &host.full,
        };
        lines.push(format!("  with --host: worstcase host run {}", arguments.join(" ")));
    }
    lines
}

fn one_part(cells: &Cells) -> Vec<String> {
    let kernels = cells
        .kernels
        .iter()
        .map(|k| format!("{} ({})", k.kernel, k.preempt.join(", ")));
    let probes: Vec<String> = cells.probes.iter().map(ToString::to_string).collect();
    let probes = match &probes[..] {
        [first, .., last] if probes.len() > 6 => format!("{first} ... {last}, {} in all", probes.len()),
        all => all.join(", "),
    };
    let samples = cells
        .samples
        .map_or("as many samples as the probe usually takes".into(), |n| {
            format!("{n} samples")
        });
    let period = cells
        .period
        .map_or(String::new(), |p| format!(", every {}", duration::show(p)));
    vec![
        format!("  kernels  {}", kernels.collect::<Vec<_>>().join("; ")),
        format!("  loads    {}", cells.loads.join(", ")),
        format!("  probes   {probes}"),
        format!(
            "  a cell   {samples}{period}, after {} of load alone, priority {}; {} seeds",
            duration::show(cells.warmup),
            cells.priority,
            cells.seeds
        ),
        format!("  machine  {} MIPS, {} MB", cells.mips, cells.memory_mb),
    ]
}
