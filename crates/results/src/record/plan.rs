//! What a run is going to measure: `run.json`. Written before the first cell and never changed, so that an
//! interrupted run and an uninterrupted one end with the same bytes; what is done is told by the cells' folders.

use super::{CellId, SubjectId};
use serde::{Deserialize, Serialize};
use worstcase_probe::CellSpec;

/// The form of run.json.
pub const SCHEMA: &str = "worstcase-run/2";

/// A figure from the literature, set beside our own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What it is of.
    pub label: String,
    /// The figure as it was published; often a bound or an estimate, hence text.
    pub value: String,
    /// Its unit.
    pub unit: String,
    /// Where it is from; the study's source if empty.
    #[serde(default)]
    pub source: String,
}

/// One cell of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellEntry {
    /// The cell's name.
    pub id: CellId,
    /// Its subject's name.
    pub subject: SubjectId,
    /// Its load.
    pub load: String,
    /// Its probe.
    pub probe: String,
    /// Its seed.
    pub seed: u64,
    /// Host: the CPU that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
}

impl CellEntry {
    /// A subject's cell.
    pub fn new(subject: &SubjectId, spec: &CellSpec) -> CellEntry {
        Self::named(subject, &spec.load, &spec.probe.to_string(), spec.seed, None)
    }

    /// The cell of this name.
    pub fn named(subject: &SubjectId, load: &str, probe: &str, seed: u64, cpu: Option<u32>) -> CellEntry {
        CellEntry {
            id: CellId::new(subject, load, probe, seed, cpu),
            subject: subject.clone(),
            load: load.to_string(),
            probe: probe.to_string(),
            seed,
            cpu,
        }
    }
}

/// What a run is going to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPlan {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the tool.
    pub tool_version: String,
    /// The question, as a title.
    pub title: String,
    /// Arguments that repeat it, without those that do not change the result.
    pub command: Vec<String>,
    /// Limit of the latency that the question is about, if it has one.
    pub criterion_ns: Option<u64>,
    /// Figures set beside.
    pub published: Vec<Published>,
    /// All cells, in order.
    pub cells: Vec<CellEntry>,
}

impl RunPlan {
    /// A plan by this version of the tool.
    pub fn new(title: &str, command: Vec<String>, cells: Vec<CellEntry>) -> RunPlan {
        RunPlan {
            schema: SCHEMA.to_string(),
            tool_version: env!("CARGO_PKG_VERSION").to_string(),
            title: title.to_string(),
            command,
            criterion_ns: None,
            published: Vec::new(),
            cells,
        }
    }

    /// What contradicts itself in this plan, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!(
                "its schema is '{}', this worstcase reads '{SCHEMA}'",
                self.schema
            ));
        }
        let mut seen = std::collections::BTreeSet::new();
        for cell in &self.cells {
            if cell.id != CellId::new(&cell.subject, &cell.load, &cell.probe, cell.seed, cell.cpu) {
                return Err(format!("the cell '{}' is not what its name says", cell.id));
            }
            if !seen.insert(&cell.id) {
                return Err(format!(
                    "two cells are called '{}'; name each kernel, load and probe once, and measure kernels of one release in runs of their own",
                    cell.id
                ));
            }
        }
        Ok(())
    }
}
