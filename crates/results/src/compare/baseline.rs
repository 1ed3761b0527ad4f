//! The file that a gate compares with: `worstcase-baseline/4`, small enough for a repository.

use super::{CompareError, Side};
use crate::record::{SubjectId, bounds};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use worstcase_base::format::{grouped, shell, without_types};
use worstcase_plan::grammar;

/// The form of the file; see the versioning policy in `docs/formats.md`.
pub const SCHEMA: &str = "worstcase-baseline/4";

#[derive(Debug, Serialize, Deserialize)]
struct Baseline {
    schema: String,
    tool_version: String,
    #[serde(flatten)]
    side: Side,
}

/// The schema alone, read first: a file of another version must be refused for that.
#[derive(Debug, Deserialize)]
struct BaselineSchema {
    schema: String,
}

/// Writes the figures of a finished run.
pub fn write(path: &Path, side: &Side) -> Result<(), CompareError> {
    if let Some(first) = side.unfinished.first() {
        return Err(CompareError::Unfinished {
            missing: side.unfinished.len(),
            first: first.clone(),
            command: shell(&side.to_go_on),
        });
    }
    check(side).map_err(CompareError::NoBaseline)?;
    let baseline = Baseline {
        schema: SCHEMA.to_string(),
        tool_version: env!("CARGO_PKG_VERSION").to_string(),
        side: side.clone(),
    };
    let mut json = serde_json::to_vec_pretty(&baseline).expect("plain values are serialised");
    json.push(b'\n');
    worstcase_base::output::write(path, &json).map_err(|cause| CompareError::Write {
        path: path.to_path_buf(),
        cause,
    })
}

/// Reads such a file.
pub fn read(path: &Path) -> Result<Side, CompareError> {
    let refused = |what: String| CompareError::NotABaseline {
        path: path.to_path_buf(),
        what,
    };
    let json = worstcase_base::files::read(path).map_err(|cause| CompareError::Read {
        path: path.to_path_buf(),
        cause,
    })?;
    let unread = |e: serde_json::Error| refused(without_types(&e.to_string()));
    let form: BaselineSchema = serde_json::from_slice(&json).map_err(unread)?;
    if form.schema != SCHEMA {
        return Err(refused(format!(
            "its schema is '{}', this worstcase reads '{SCHEMA}'",
            form.schema
        )));
    }
    bounds::check(&json).map_err(refused)?;
    let baseline: Baseline = serde_json::from_slice(&json).map_err(unread)?;
    check(&baseline.side).map_err(refused)?;
    Ok(baseline.side)
}

/// A contradiction in the file, in words.
fn check(side: &Side) -> Result<(), String> {
    let subjects: BTreeSet<SubjectId> = side.subjects.iter().map(|subject| subject.id()).collect();
    let mut before = BTreeMap::new();
    for cell in &side.cells {
        let name = || format!("{}, {}", cell.subject, cell.how.name());
        if !subjects.contains(&cell.subject) {
            return Err(format!("it does not describe the subject of {}", name()));
        }
        let seeds: BTreeSet<u64> = cell.seeds.iter().map(|s| s.seed).collect();
        if seeds.is_empty() || seeds.len() != cell.seeds.len() {
            return Err(format!("{} has no seed, or one twice", name()));
        }
        let (how, subject) = (&cell.how, &cell.subject);
        grammar::check_word(&how.probe).map_err(|e| e.0)?;
        if let Some(other) = before.insert((subject, &how.load, &how.probe, how.cpu), cell) {
            return Err(format!(
                "{} is there twice, with {} and {} periods",
                name(),
                grouped(u64::from(other.how.periods)),
                grouped(u64::from(cell.how.periods))
            ));
        }
    }
    match side.cells.is_empty() {
        true => Err("it has no cell".to_string()),
        false => Ok(()),
    }
}
