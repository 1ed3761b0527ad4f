//! Studies: files that ask a question and hold the experiments that answer it.
//!
//! [`load`] reads a built-in study or a file of the user's ([`file`] has the form and its checks, [`cells`] how a section
//! becomes an experiment, [`section`] its keys, [`claim_form`] claims, [`demand`] classes of demand, [`selector`] their cells of ours, [`checked`] single values).

mod cells;
mod checked;
pub mod claim;
mod claim_form;
pub mod demand;
mod file;
mod section;
mod selector;

use crate::{Arch, Experiment, ExperimentPlan, Venue};
pub use claim::Claim;
pub use demand::Demand;
pub use file::parse;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use worstcase_base::near;

/// Studies inside the tool: name and text.
const BUILT_IN: [(&str, &str); 13] = [
    ("preemption-models", include_str!("built_in/preemption-models.toml")),
    ("realfeel-jitter", include_str!("built_in/realfeel-jitter.toml")),
    ("scheduler-scaling", include_str!("built_in/scheduler-scaling.toml")),
    (
        "interrupt-and-switch",
        include_str!("built_in/interrupt-and-switch.toml"),
    ),
    ("kernel-flavours", include_str!("built_in/kernel-flavours.toml")),
    ("io-schedulers", include_str!("built_in/io-schedulers.toml")),
    ("kernel-history", include_str!("built_in/kernel-history.toml")),
    ("isolation", include_str!("built_in/isolation.toml")),
    ("preemption-today", include_str!("built_in/preemption-today.toml")),
    ("threaded-interrupts", include_str!("built_in/threaded-interrupts.toml")),
    ("policy", include_str!("built_in/policy.toml")),
    ("memory", include_str!("built_in/memory.toml")),
    ("tick-rate", include_str!("built_in/tick-rate.toml")),
];

/// One of a study's experiments in a venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyVariant {
    /// Few enough cells for a first look.
    Quick,
    /// All of them.
    Full,
}

impl StudyVariant {
    /// The name, as in study files.
    pub const fn name(self) -> &'static str {
        match self {
            StudyVariant::Quick => "quick",
            StudyVariant::Full => "full",
        }
    }
}

/// A venue's experiments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variants {
    /// All cells.
    pub full: Experiment,
    /// Cells for a first look.
    pub quick: Experiment,
}

/// A study.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// The title, in one line.
    pub title: String,
    /// The question, in full.
    pub question: String,
    /// The source of the question.
    pub source: String,
    /// The experiments for the lab.
    pub lab: Variants,
    /// The experiments for this machine, if there are any.
    pub host: Option<Variants>,
    /// What the article claims, or what we predict.
    pub claims: Vec<Claim>,
    /// The demands of uses of a machine.
    pub demands: Vec<Demand>,
}

/// Why a study cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// There is no such study.
    #[error("{unknown}; or name a file, e.g. ./{name}.toml")]
    Unknown {
        /// The name that was given.
        name: String,
        /// What was perhaps meant.
        unknown: String,
    },
    /// The study has nothing for this machine.
    #[error("the study '{name}' asks nothing of this machine; give the command without --host")]
    NoHost {
        /// The study.
        name: String,
    },
    /// There is no such file.
    #[error("cannot read the study {path}: {cause}")]
    Read {
        /// The file.
        path: String,
        /// The system's words.
        cause: std::io::Error,
    },
    /// A value that is not allowed.
    #[error("{file}, line {line}: {what}")]
    Invalid {
        /// The file or built-in study.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The fault, and the allowed values.
        what: String,
    },
}

impl Study {
    /// One of the study's experiments.
    pub fn experiment(&self, venue: Venue, variant: StudyVariant) -> Result<&Experiment, StudyError> {
        let no_host = || StudyError::NoHost {
            name: self.name.clone(),
        };
        let variants = match venue {
            Venue::Lab => &self.lab,
            Venue::Host => self.host.as_ref().ok_or_else(no_host)?,
        };
        Ok(match variant {
            StudyVariant::Full => &variants.full,
            StudyVariant::Quick => &variants.quick,
        })
    }
}

/// The plan of one of a study's experiments; see [`text`] for the name.
pub fn plan(name_or_path: &str, venue: Venue, variant: StudyVariant) -> Result<ExperimentPlan, StudyError> {
    let study = load(name_or_path)?;
    let experiment = study.experiment(venue, variant)?.clone();
    Ok(ExperimentPlan {
        title: format!("{}: {}", study.name, study.title),
        experiment,
        study: Some(crate::StudySource {
            study: found_again(name_or_path)?,
            variant,
            arch: Arch::default(),
        }),
        question: Some(study.question),
        claims: study.claims,
        demands: study.demands,
    })
}

/// A built-in study's name; or a file's path, from the root on: the command must work from everywhere.
fn found_again(name_or_path: &str) -> Result<String, StudyError> {
    if BUILT_IN.iter().any(|(name, _)| *name == name_or_path) {
        return Ok(name_or_path.to_string());
    }
    let absolute: PathBuf = std::path::absolute(Path::new(name_or_path)).map_err(|cause| StudyError::Read {
        path: name_or_path.to_string(),
        cause,
    })?;
    Ok(absolute.display().to_string())
}

/// The built-in studies.
pub fn built_in() -> impl Iterator<Item = Study> {
    BUILT_IN
        .into_iter()
        .map(|(name, text)| file::parse(name, text).expect("built-in studies are valid, a test reads them"))
}

/// The text of a study: a built-in one by its name, else a file (a path, or a name that ends in `.toml`).
pub fn text(name_or_path: &str) -> Result<String, StudyError> {
    if let Some((_, text)) = BUILT_IN.into_iter().find(|(name, _)| *name == name_or_path) {
        return Ok(text.to_string());
    }
    if !name_or_path.contains('/') && !name_or_path.ends_with(".toml") {
        return Err(StudyError::Unknown {
            name: name_or_path.to_string(),
            unknown: near::unknown(
                "study",
                name_or_path,
                BUILT_IN.map(|(name, _)| name),
                "worstcase study list lists all",
            ),
        });
    }
    worstcase_base::files::read_to_string(name_or_path.as_ref()).map_err(|cause| StudyError::Read {
        path: name_or_path.to_string(),
        cause,
    })
}

/// Reads a study; see [`text`] for the name.
pub fn load(name_or_path: &str) -> Result<Study, StudyError> {
    file::parse(name_or_path, &text(name_or_path)?)
}
