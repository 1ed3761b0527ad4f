//! The history as text: the sentences of all lines on top, then a table for each.

use super::table::{changes_at, of_line};
use super::words::sentences;
use crate::style::{Style, WIDTH};
use crate::table::terminal::figures;
use worstcase_base::format::{grouped, plain};
use worstcase_results::history::{History, HistoryLine, LEVEL};
use worstcase_results::record::Venue;

/// The table of a longer line has this many newest points, and those at which it changed.
const NEWEST: usize = 25;
/// At most so many of the skipped are named; the text counts the rest.
const SKIPPED: usize = 5;

/// The whole answer; `all` points, or the newest.
pub fn lines(history: &History, all: bool, style: Style) -> String {
    let names = names(history);
    let mut out = Vec::new();
    for (line, name) in history.lines.iter().zip(&names) {
        out.extend(sentences(line, name));
    }
    if history.tests > 0 {
        out.push(format!(
            "(series tested together: {}; the probability of any change shown where there is none is {:.0} %, at the autocorrelation of each)",
            history.tests,
            LEVEL * 100.0
        ));
    }
    out.extend(skipped(history));
    for (line, name) in history.lines.iter().zip(&names) {
        out.push(String::new());
        out.push(style.bold(name));
        out.push(about(line));
        out.extend(line.notes.iter().map(|note| format!("  {note}")));
        out.extend(table(line, all));
    }
    out.join("\n") + "\n"
}

/// The lines' names, with the machine if there are several.
pub(super) fn names(history: &History) -> Vec<String> {
    let machines = history.lines.iter().map(|l| (&l.key.machine, &l.key.preempt));
    let several = worstcase_base::distinct(machines).len() > 1;
    history.lines.iter().map(|l| plain(&l.key.name(several))).collect()
}

fn about(line: &HistoryLine) -> String {
    let key = &line.key;
    let unit = match key.venue {
        Venue::Lab => "virtual us",
        Venue::Host => "us",
    };
    let told = [
        Some(key.machine.clone()),
        Some(key.cpus.clone()),
        Some(key.preempt.clone()),
    ];
    let told: Vec<String> = told.into_iter().flatten().filter(|t| !t.is_empty()).collect();
    plain(&format!("{} (times are {unit})", told.join(", ")))
}

fn skipped(history: &History) -> Vec<String> {
    let all = &history.skipped;
    let one = |s: &worstcase_results::history::Skipped| plain(&format!("  {}: {}", s.path.display(), s.why));
    let mut out = Vec::new();
    if !all.is_empty() {
        out.push(format!("skipped: {}", all.len()));
    }
    out.extend(all.iter().take(SKIPPED).map(one));
    if all.len() > SKIPPED {
        out.push(format!("  and {} more", all.len() - SKIPPED));
    }
    out
}

fn table(line: &HistoryLine, all: bool) -> Vec<String> {
    let count = line.points.len();
    let is_shown = |at: &usize| all || at + NEWEST >= count || changes_at(line, *at).next().is_some();
    let shown: Vec<usize> = (0..count).filter(is_shown).collect();
    let mut out = figures(&of_line(line, &shown), WIDTH);
    if shown.len() < count {
        out.push(format!(
            "{} older points are left out; --all shows them",
            grouped((count - shown.len()) as u64)
        ));
    }
    out
}
