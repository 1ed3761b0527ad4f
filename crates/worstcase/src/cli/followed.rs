//! What was found while a program of the user's own was followed: kept beside its record.

use super::breakdown_files::{BreakdownFiles, ShowBreakdownError};
use super::error::Error;
use std::path::Path;
use worstcase_analysis::cycle::CycleBreakdown;
use worstcase_analysis::explain;
use worstcase_base::format::plain;
use worstcase_report::follow::{self, FoundProgram, FoundThen, FunctionReport, breakdown};
use worstcase_report::html::CyclePart;
use worstcase_report::terminal::Style;
use worstcase_results::record::{CellId, FOLLOW_FILE, Record, Run, RunError};

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
    let cause = found.cause().map(str::to_string);
    let cycle = match replayed {
        Some(cycle) => FunctionReport::of(cycle).terminal(Style::PLAIN),
        None => found
            .cycle()
            .map_or(Vec::new(), |cycle| breakdown(&cycle, Style::PLAIN)),
    };
    Ok(Some(CyclePart::new(record, cause.as_deref(), &sentences, &cycle)))
}

/// The record with the longest cycle.
pub fn worst(records: &[Record]) -> Option<&Record> {
    records
        .iter()
        .max_by_key(|r| r.summary.latency.as_ref().map(|latency| latency.max_ns))
}

/// Why the late cycles of each were late, or all that was found, as a list.
pub fn all(run: &Run, records: &[&Record], json: bool) -> Result<String, Error> {
    let each = records.iter().map(|record| FoundCell::of(run, record));
    let cells: Vec<FoundCell> = each.collect::<Result<_, Error>>()?;
    Ok(match json {
        true => listed(&cells),
        false => follow::all(&cells.iter().map(FoundCell::program).collect::<Vec<_>>()),
    })
}

/// The cycles of two side by side; `other` is a cell of the run, or the folder of another one.
pub fn compared(run: &Run, record: &Record, other: &str, json: bool) -> Result<String, Error> {
    let folder = Path::new(other);
    let other = match folder.is_dir() {
        true => {
            let run = Run::open(folder)?;
            let records = run.records()?;
            let worst = worst(&records).filter(|record| record.followed.is_some());
            let there = worst.ok_or_else(|| ShowBreakdownError::NoProgram(folder.to_path_buf()))?;
            explain::comparable(record, there)?;
            FoundCell::of(&run, there)?
        }
        false => {
            let there = run.record_of(other)?;
            explain::comparable(record, &there)?;
            FoundCell::of(run, &there)?
        }
    };
    let cells = [FoundCell::of(run, record)?, other];
    Ok(match json {
        true => listed(&cells),
        false => follow::compared(cells[0].program(), cells[1].program()),
    })
}

/// What was found of a cell.
struct FoundCell {
    id: CellId,
    subject: String,
    load: String,
    file: Vec<u8>,
    found: FoundThen,
}

impl FoundCell {
    fn of(run: &Run, record: &Record) -> Result<FoundCell, Error> {
        let (file, found) = kept(run, record)?;
        Ok(FoundCell {
            id: record.id.clone(),
            subject: record.subject.id().to_string(),
            load: record.cell.load.clone(),
            file,
            found,
        })
    }

    fn program(&self) -> FoundProgram<'_> {
        FoundProgram {
            cell: self.id.as_str(),
            subject: &self.subject,
            load: &self.load,
            found: &self.found,
        }
    }
}

/// The files as a list.
fn listed(cells: &[FoundCell]) -> String {
    let files: Vec<&str> = cells
        .iter()
        .filter_map(|cell| std::str::from_utf8(&cell.file).ok())
        .collect();
    format!("[{}]\n", files.join(","))
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
