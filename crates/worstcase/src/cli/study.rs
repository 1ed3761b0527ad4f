//! `worstcase study`: which studies there are, and what one of them asks for.

use super::show::print;
use crate::duration;
use crate::report::terminal::{self, Style};
use crate::study::{self, Study, StudyError, Variant};
use clap::Subcommand;
use std::fmt::Write;
use std::io;
use std::process::ExitCode;
use worstcase_probe::Nanos;

/// List and show studies: files that ask a question and name the cells that answer it
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// List the built-in studies
    List,
    /// Show a study: its question, cells and published figures
    Show {
        /// A built-in study's name, or a study file
        study: String,
        /// Print the study's file instead, to be copied and changed
        #[arg(long)]
        toml: bool,
    },
}

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum StudyCommandError {
    /// The study cannot be read.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The output failed.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

/// Runs the command.
pub fn run(command: &StudyCommand) -> Result<ExitCode, StudyCommandError> {
    let text = match command {
        StudyCommand::List => list(),
        StudyCommand::Show { study, toml: true } => study::text(study)?,
        StudyCommand::Show { study, toml: false } => show(&study::load(study)?, Style::of_stdout()),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
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
    let count = study.plan(variant).len() as u64;
    let looked = Nanos(
        count
            .saturating_mul(u64::from(cells.samples))
            .saturating_mul(cells.period.0),
    );
    let kernels = cells
        .kernels
        .iter()
        .map(|k| format!("{} ({})", k.kernel, k.preempt.join(", ")));
    let probes = cells.probes.iter().map(|p| p.name());
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
            "  a cell   {} periods of {} after {} of load alone, priority {}; {} seeds",
            cells.samples,
            duration::show(cells.period),
            duration::show(cells.warmup),
            cells.priority,
            cells.seeds
        ),
        format!("  machine  {} MIPS, {} MB", cells.mips, cells.memory_mb),
    ]
}
