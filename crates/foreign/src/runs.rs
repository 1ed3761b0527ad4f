//! The runs in a file: one after the other, of one tool or several. Each is a measurement of its own.

use super::documents;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::ToolMeasurement;
use super::{ForeignFormat, FormatError};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// The measurements of a text, in their order.
pub(crate) fn read(
    text: &str,
    format: Option<ForeignFormat>,
    unit: Option<Nanos>,
) -> Result<Vec<ToolMeasurement>, FormatError> {
    let all = NumberedLines::of(text);
    let measured = of_lines(&all, format, unit)?;
    if text.is_empty() || text.ends_with('\n') || all.ends_whole() {
        return Ok(measured);
    }
    // A line that tells nothing may well be cut.
    let without = NumberedLines(all.0[..all.0.len() - 1].to_vec());
    let same = of_lines(&without, format, unit).is_ok_and(|less| format!("{less:?}") == format!("{measured:?}"));
    match same {
        true => Ok(measured),
        false => Err(FormatError::at(
            all.0.len(),
            "the last line has no end, so that it may be cut; end the line if the file is whole",
        )),
    }
}

fn of_lines(
    lines: &NumberedLines<'_>,
    format: Option<ForeignFormat>,
    unit: Option<Nanos>,
) -> Result<Vec<ToolMeasurement>, FormatError> {
    let mut lines = lines.clone();
    let mut measured: Vec<(usize, ToolMeasurement)> = Vec::new();
    let documents = documents::take(&mut lines)?;
    let mut known: Vec<&ToolForm> = Vec::new();
    for document in documents {
        let form = format.map(ForeignFormat::form);
        let form = form.or_else(|| ForeignFormat::forms().find(|form| (form.is_json)(&document.value)));
        if let Some(form) = form {
            known.push(form);
            measured.push((document.at, (form.json)(document.value)?));
        }
    }
    // What fio prints for people beside its JSON says the same again.
    let is_said = |form: &ToolForm| form.json_says_all && known.iter().any(|other| other.name == form.name);
    for run in split(&lines, format)?.into_iter().filter(|run| !is_said(run.form)) {
        let told = (run.form.text)(&run.lines, unit)?;
        told.check_unit()?;
        match measured
            .last_mut()
            .filter(|(_, before)| run.form.repeats && told.continues(before))
        {
            Some((_, before)) => *before = told,
            None => measured.push((run.at, told)),
        }
    }
    measured.sort_by_key(|(at, _)| *at);
    let several = measured.len();
    for (nth, (at, one)) in (1..).zip(&mut measured).filter(|_| several > 1) {
        one.notes
            .insert(0, format!("run {nth} of {several} in the file, from line {at} on"));
    }
    Ok(measured.into_iter().map(|(_, one)| one).collect())
}

/// The lines of a run.
struct FoundRun<'a> {
    form: &'static ToolForm,
    at: usize,
    lines: NumberedLines<'a>,
    /// What was said once, or of one thread, by its key.
    seen: BTreeMap<&'a str, &'a str>,
    has_rows: bool,
    is_over: bool,
}

impl<'a> FoundRun<'a> {
    fn new(form: &'static ToolForm, at: usize) -> FoundRun<'a> {
        FoundRun {
            form,
            at,
            lines: NumberedLines::default(),
            seen: BTreeMap::new(),
            has_rows: false,
            is_over: false,
        }
    }

    /// Whether a line of this meaning is of another run.
    fn ends_before(&self, form: &ToolForm, mark: Mark<'a>) -> bool {
        match mark {
            Mark::Maybe => false,
            _ if self.form.name != form.name => true,
            Mark::Row => false,
            Mark::Begin => self.has_rows || !self.seen.is_empty(),
            Mark::Once(key) | Mark::Last(key) => self.is_over || self.seen.contains_key(key),
            Mark::Of(key, id) => self.is_over || self.seen.get(key).is_some_and(|before| *before != id),
        }
    }

    fn take(&mut self, mark: Mark<'a>) {
        self.is_over |= matches!(mark, Mark::Last(_));
        match mark {
            Mark::Begin => {}
            Mark::Row | Mark::Maybe => self.has_rows = true,
            Mark::Once(key) | Mark::Last(key) => drop(self.seen.insert(key, "")),
            Mark::Of(key, id) => drop(self.seen.insert(key, id)),
        }
    }
}

/// The meaning of a line to a tool.
fn mark_of<'a>(line: &'a str, format: Option<ForeignFormat>) -> Option<(&'static ToolForm, Mark<'a>)> {
    let mut forms = ForeignFormat::forms().filter(|form| format.is_none_or(|asked| asked.name() == form.name));
    forms.find_map(|form| Some((form, (form.mark)(line)?)))
}

fn split<'a>(lines: &NumberedLines<'a>, format: Option<ForeignFormat>) -> Result<Vec<FoundRun<'a>>, FormatError> {
    let mut runs: Vec<FoundRun<'a>> = Vec::new();
    let mut before: Vec<(usize, &str)> = Vec::new();
    for (at, line) in lines.iter() {
        let Some((form, mark)) = mark_of(line, format) else {
            refuse_hidden(at, line, format)?;
            match runs.last_mut() {
                Some(run) => run.lines.0.push((at, line)),
                None => before.push((at, line)),
            }
            continue;
        };
        let is_another = runs.last().is_none_or(|run| run.ends_before(form, mark));
        if is_another {
            runs.push(FoundRun::new(form, at));
        }
        let run = runs.last_mut().expect("one was pushed");
        run.take(mark);
        run.lines.0.append(&mut before);
        run.lines.0.push((at, line));
    }
    if let (true, Some(format)) = (runs.is_empty(), format) {
        runs.push(FoundRun::new(format.form(), 1));
        runs[0].lines.0 = before;
    }
    // A heading alone, where others have results, is none of a run.
    let is_told = |run: &FoundRun<'_>| run.has_rows || !run.seen.is_empty();
    if runs.iter().any(is_told) {
        runs.retain(is_told);
    }
    Ok(runs)
}

/// Places behind which a line of a tool is looked for.
const PLACES: usize = 12;
/// Longest line that is looked through.
const LONGEST: usize = 300;

/// A result behind other words would be left out without a word.
fn refuse_hidden(at: usize, line: &str, format: Option<ForeignFormat>) -> Result<(), FormatError> {
    let boundaries = line
        .match_indices([' ', '\t', '>', '|', ']'])
        .map(|(place, _)| place + 1);
    let is_result = |mark: Mark<'_>| !matches!(mark, Mark::Begin | Mark::Maybe);
    let is_hidden = |place: usize| mark_of(&line[place..], format).is_some_and(|(_, mark)| is_result(mark));
    let found = boundaries
        .take(PLACES)
        .find(|place| line.len() <= LONGEST && is_hidden(*place));
    match found {
        Some(place) => Err(FormatError::at(
            at,
            format!(
                "'{}' stands before a result; put it before every line of the file, or before none",
                line[..place].trim().escape_debug()
            ),
        )),
        None => Ok(()),
    }
}
