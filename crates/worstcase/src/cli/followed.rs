//! What was found while a program of the user's own was followed: kept beside its record.

use super::breakdown_files::{BreakdownFiles, ShowBreakdownError};
use super::error::Error;
use serde::Deserialize;
use worstcase_analysis::cycle::CycleBreakdown;
use worstcase_base::format::plain;
use worstcase_report::follow::{CycleLines, FunctionReport, breakdown};
use worstcase_report::html::CyclePart;
use worstcase_report::terminal::Style;
use worstcase_results::record::{FOLLOW_FILE, Record, Run, RunError};

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
    sentence: String,
    worst: Option<CycleLines>,
}

impl FoundThen {
    /// The worst cycle of the most frequent cause, or the slowest.
    fn cycle(self) -> Option<CycleLines> {
        let of_causes = self.causes.into_iter().find_map(|cause| cause.worst);
        of_causes.or_else(|| self.slowest.into_iter().next())
    }
}

/// What was kept, if anything: the file, and what is told of it again.
fn read(run: &Run, record: &Record) -> Result<Option<(Vec<u8>, FoundThen)>, RunError> {
    let Some(bytes) = run.beside(&record.id, FOLLOW_FILE)? else {
        return Ok(None);
    };
    let found = serde_json::from_slice(&bytes);
    let found = found.map_err(|e| run.other_version(&record.id, FOLLOW_FILE, e.to_string()))?;
    Ok(Some((bytes, found)))
}

fn kept(run: &Run, record: &Record) -> Result<(Vec<u8>, FoundThen), Error> {
    let found = read(run, record)?;
    Ok(found.ok_or_else(|| ShowBreakdownError::NothingFound(record.id.clone()))?)
}

/// Its part of a page, with the functions of a cycle if one was replayed.
pub fn part(run: &Run, record: &Record, replayed: Option<&CycleBreakdown>) -> Result<Option<CyclePart>, RunError> {
    let Some((_, found)) = read(run, record)? else {
        return Ok(None);
    };
    let sentences = found.sentences.clone();
    let cause = found.causes.first().map(|cause| cause.sentence.clone());
    let cycle = match replayed {
        Some(cycle) => FunctionReport::of(cycle).terminal(Style::PLAIN),
        None => found
            .cycle()
            .map_or(Vec::new(), |cycle| breakdown(&cycle, Style::PLAIN)),
    };
    Ok(Some(CyclePart::new(record, cause.as_deref(), &sentences, &cycle)))
}

/// It in sentences with the worst cycle, or the file as it is; and files of that cycle.
pub fn told(run: &Run, record: &Record, json: bool, files: &BreakdownFiles) -> Result<String, Error> {
    let (bytes, found) = kept(run, record)?;
    let sentences = found.sentences.clone();
    let cycle = found.cycle();
    files.write_cycle(&record.id, cycle.as_ref())?;
    if json {
        let other = |e: std::string::FromUtf8Error| run.other_version(&record.id, FOLLOW_FILE, e.to_string());
        return Ok(String::from_utf8(bytes).map_err(other)?);
    }
    let cycle = cycle.map(|cycle| breakdown(&cycle, Style::of_stdout()));
    Ok(whole(run, record, sentences, cycle))
}

/// The same of a cycle that was replayed, with its functions.
pub fn replayed(
    run: &Run,
    record: &Record,
    cycle: &CycleBreakdown,
    json: bool,
    files: &BreakdownFiles,
) -> Result<String, Error> {
    let (bytes, found) = kept(run, record)?;
    let report = FunctionReport::of(cycle);
    files.write_functions(&report)?;
    if json {
        let found = serde_json::from_slice(&bytes);
        return Ok(report.json(found.map_err(|e| run.other_version(&record.id, FOLLOW_FILE, e.to_string()))?));
    }
    let cycle = report.terminal(Style::of_stdout());
    Ok(whole(run, record, found.sentences, Some(cycle)))
}

fn whole(run: &Run, record: &Record, sentences: Vec<String>, cycle: Option<Vec<String>>) -> String {
    let name = record.followed.as_ref().map(|followed| followed.named());
    let mut text: Vec<String> = name.into_iter().chain(sentences).map(|line| plain(&line)).collect();
    if let Some(cycle) = cycle {
        text.push(String::new());
        text.extend(cycle);
    }
    let file = run.cell_dir(&record.id).join(FOLLOW_FILE);
    format!(
        "{}\n\nall of it: {}\n",
        text.join("\n"),
        plain(&file.display().to_string())
    )
}
