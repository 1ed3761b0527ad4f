//! What was found while a program of the user's own was followed: kept beside its record.

use super::breakdown_files::{BreakdownFiles, ShowBreakdownError};
use super::error::Error;
use serde::Deserialize;
use worstcase_base::format::plain;
use worstcase_report::follow::{CycleLines, breakdown};
use worstcase_report::terminal::Style;
use worstcase_results::record::{FOLLOW_FILE, Record, Run};

/// The part of the file that is told again.
#[derive(Deserialize)]
struct FoundThen {
    /// For people.
    sentences: Vec<String>,
    #[serde(default)]
    causes: Vec<FoundCause>,
    #[serde(default)]
    slowest: Vec<CycleLines>,
}

#[derive(Deserialize)]
struct FoundCause {
    worst: Option<CycleLines>,
}

impl FoundThen {
    /// The worst cycle of the most frequent cause, or the slowest.
    fn cycle(self) -> Option<CycleLines> {
        let of_causes = self.causes.into_iter().find_map(|cause| cause.worst);
        of_causes.or_else(|| self.slowest.into_iter().next())
    }
}

/// It in sentences with the worst cycle, or the file as it is; and files of that cycle.
pub fn told(run: &Run, record: &Record, json: bool, files: &BreakdownFiles) -> Result<String, Error> {
    let bytes = run.beside(&record.id, FOLLOW_FILE)?;
    let bytes = bytes.ok_or_else(|| ShowBreakdownError::NothingFound(record.id.clone()))?;
    let other = |what: String| Error::from(run.other_version(&record.id, FOLLOW_FILE, what));
    let found: FoundThen = serde_json::from_slice(&bytes).map_err(|e| other(e.to_string()))?;
    let sentences = found.sentences.clone();
    let cycle = found.cycle();
    files.write_cycle(&record.id, cycle.as_ref())?;
    if json {
        return String::from_utf8(bytes).map_err(|e| other(e.to_string()));
    }
    let name = record.followed.as_ref().map(|followed| followed.named());
    let mut text: Vec<String> = name.into_iter().chain(sentences).map(|line| plain(&line)).collect();
    if let Some(cycle) = &cycle {
        text.push(String::new());
        text.extend(breakdown(cycle, Style::of_stdout()));
    }
    let file = run.cell_dir(&record.id).join(FOLLOW_FILE);
    Ok(format!(
        "{}\n\nall of it: {}\n",
        text.join("\n"),
        plain(&file.display().to_string())
    ))
}
