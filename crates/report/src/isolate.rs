//! Entries into a CPU of this machine: a sentence, and a table of causes with their senders and remedies.

use super::table::json::rows;
use super::table::terminal::figures_with;
use super::table::{ColumnKind, Table, TableValue, field};
use crate::style::Style;
use crate::style::wrapped;
use serde_json::json;
use worstcase_analysis::isolate::{EntryLine, IsolatedCpu, IsolationAnswer, Judgement};
use worstcase_base::format::{counted, grouped, plain};

/// The form of the document.
const SCHEMA: &str = "worstcase-isolate/2";
const SHOWN: usize = 25;
/// Senders of one cause that are shown.
const SENDERS: usize = 5;

/// The whole answer.
pub fn terminal(answer: &IsolationAnswer, style: Style) -> String {
    let mut lines = Vec::new();
    for cpu in &answer.cpus {
        lines.extend(of_cpu(cpu, answer.time_ns, style));
        lines.push(String::new());
    }
    lines.extend(answer.notes.iter().flat_map(|note| wrapped("note: ", &plain(note))));
    if let Some(judgement) = &answer.judgement {
        lines.extend(judged(judgement, style));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn of_cpu(cpu: &IsolatedCpu, time_ns: u64, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(&plain(&cpu.sentence)), whose(cpu)];
    let causes = CauseLines::of(&cpu.lines);
    let rows: Vec<EntryRow> = causes.iter().take(SHOWN).flat_map(CauseLines::rows).collect();
    if !rows.is_empty() {
        lines.push(String::new());
        lines.extend(figures_with(&table(&rows, time_ns), |nth, indent| {
            rows[nth].below(indent)
        }));
    }
    if causes.len() > SHOWN {
        lines.push(format!(
            "and {} of fewer entries: --json",
            counted((causes.len() - SHOWN) as u64, "cause")
        ));
    }
    if cpu.lost > 0 {
        let events = counted(cpu.lost, "event");
        lines.push(format!(
            "{events} lost: the trace's memory was full, so there was more than this"
        ));
    }
    lines.extend(
        cpu.smis_not_known
            .iter()
            .map(|why| format!("SMIs are not known: {}", plain(why))),
    );
    if !cpu.tick.is_empty() {
        let needs: Vec<String> = cpu
            .tick
            .iter()
            .map(|(need, n)| format!("{need} {}", grouped(*n)))
            .collect();
        lines.push(format!("the tick was to stop; what needed it: {}", needs.join(", ")));
    }
    lines
}

fn whose(cpu: &IsolatedCpu) -> String {
    match (&cpu.program, cpu.is_occupied) {
        (_, true) => "a thread of worstcase kept it busy".into(),
        (Some(name), _) => format!("its program: {}", plain(name)),
        (None, _) => "no program ran on it".into(),
    }
}

/// All lines of one cause.
struct CauseLines<'a> {
    lines: Vec<&'a EntryLine>,
}

impl<'a> CauseLines<'a> {
    /// Most entries first.
    fn of(lines: &'a [EntryLine]) -> Vec<CauseLines<'a>> {
        let mut causes: Vec<CauseLines<'a>> = Vec::new();
        for line in lines {
            match causes.iter_mut().find(|cause| cause.lines[0].cause == line.cause) {
                Some(cause) => cause.lines.push(line),
                None => causes.push(CauseLines { lines: vec![line] }),
            }
        }
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.sum(|line| line.count)));
        causes
    }

    fn sum(&self, of: impl Fn(&EntryLine) -> Option<u64>) -> Option<u64> {
        self.lines.iter().map(|line| of(line)).sum()
    }

    /// A row of all its senders, and one of each if there are several. The remedy stands below the last.
    fn rows(&self) -> Vec<EntryRow<'a>> {
        let first = self.lines[0];
        let excluded = if first.is_excluded { " (excluded)" } else { "" };
        let mut rows = vec![EntryRow::of(&self.lines, format!("{}{excluded}", first.cause))];
        match &self.lines[..] {
            [EntryLine { sent_by: None, .. }] => {}
            [EntryLine { sent_by: Some(one), .. }] => {
                rows[0].sender = Some(one.clone());
            }
            several => rows.extend(senders(several)),
        }
        if let Some(last) = rows.last_mut() {
            last.remedy = Some(first.remedy.clone());
        }
        rows
    }
}

/// The number and duration of entries of one kind.
struct EntryRow<'a> {
    count: Option<u64>,
    total_ns: Option<u64>,
    worst_ns: Option<u64>,
    cause: String,
    /// The only sender, which is named below.
    sender: Option<String>,
    /// The remedy, if it stands below this row.
    remedy: Option<String>,
    /// The lines that it sums up.
    lines: Vec<&'a EntryLine>,
}

impl<'a> EntryRow<'a> {
    fn of(lines: &[&'a EntryLine], cause: String) -> EntryRow<'a> {
        EntryRow {
            count: lines.iter().map(|line| line.count).sum(),
            total_ns: lines.iter().map(|line| line.total_ns).sum(),
            worst_ns: lines.iter().filter_map(|line| line.worst_ns).max(),
            cause,
            sender: None,
            remedy: None,
            lines: lines.to_vec(),
        }
    }

    /// A line of the answer, as it is.
    fn of_line(line: &'a EntryLine) -> EntryRow<'a> {
        EntryRow {
            sender: line.sent_by.clone(),
            remedy: Some(line.remedy.clone()),
            ..EntryRow::of(&[line], line.cause.clone())
        }
    }

    /// The further lines about the row, indented to its cause.
    fn below(&self, indent: usize) -> Vec<String> {
        let sender = self.sender.iter();
        let mut lines: Vec<String> = sender
            .map(|sender| format!("{:indent$}  sent by {}", "", plain(sender)))
            .collect();
        let lead = format!("{:indent$}  remedy: ", "");
        lines.extend(self.remedy.iter().flat_map(|remedy| wrapped(&lead, remedy)));
        lines
    }
}

/// Senders, remedies and kinds are lines below a row, or a program's.
fn table<'a>(rows: &[EntryRow<'a>], time_ns: u64) -> Table {
    let rate = move |row: &EntryRow| {
        let rate = row.count.map(|n| n as f64 * 1e9 / time_ns.max(1) as f64);
        rate.map(|rate| TableValue::in_words(a_second(rate), rate))
            .unwrap_or(TableValue::NONE)
    };
    let of_line = |key: &str, value: fn(&EntryLine) -> TableValue| {
        field(ColumnKind::Text, key, key, move |row: &EntryRow<'a>| {
            match row.lines[..] {
                [line] => value(line),
                _ => TableValue::NONE,
            }
        })
        .programs()
    };
    let fields = [
        field(ColumnKind::Count, "count", "times", |row: &EntryRow| row.count),
        field(ColumnKind::Words, "a_second", "a second", rate),
        field(ColumnKind::Time, "total_ns", "total us", |row: &EntryRow| row.total_ns),
        field(ColumnKind::Time, "worst_ns", "worst us", |row: &EntryRow| row.worst_ns),
        field(ColumnKind::Text, "cause", "cause", |row: &EntryRow| row.cause.clone()),
        of_line("kind", |line| line.kind.into()),
        of_line("name", |line| line.name.clone().into()),
        of_line("sent_by", |line| line.sent_by.clone().into()),
        of_line("chain", |line| json!(line.chain).into()),
        of_line("remedy", |line| line.remedy.clone().into()),
        of_line("is_excluded", |line| line.is_excluded.into()),
    ];
    Table::new("entries", "", &fields, rows)
}

/// A row for each sender, the last for all lines without a sender.
fn senders<'a>(lines: &[&'a EntryLine]) -> Vec<EntryRow<'a>> {
    let (shown, others) = lines.split_at(lines.len().min(SENDERS));
    let sent_by = |name: &str| format!("  sent by {name}");
    let row = |line: &&'a EntryLine| {
        EntryRow::of(
            &[line],
            sent_by(line.sent_by.as_deref().unwrap_or("nobody who is known")),
        )
    };
    let mut rows: Vec<EntryRow> = shown.iter().map(row).collect();
    if !others.is_empty() {
        rows.push(EntryRow::of(others, sent_by(&counted(others.len() as u64, "other"))));
    }
    rows
}

fn a_second(rate: f64) -> String {
    match rate {
        rate if rate >= 10.0 => grouped(rate.round() as u64),
        rate if rate >= 0.095 => format!("{rate:.1}"),
        rate => format!("{rate:.3}"),
    }
}

fn judged(judgement: &Judgement, style: Style) -> Vec<String> {
    let excluded = match judgement.excluded.is_empty() {
        true => String::new(),
        false => format!(", but for {}", judgement.excluded.join(", ")),
    };
    let mut lines = vec![format!(
        "{} at most {} for each CPU{}",
        style.outcome(judgement.outcome),
        counted(judgement.criterion, "time"),
        plain(&excluded)
    )];
    lines.extend(judgement.reasons.iter().map(|reason| format!("  {}", plain(reason))));
    lines
}

/// The same for programs, with a row for each cause and sender.
pub fn json(answer: &IsolationAnswer) -> String {
    let mut document = json!(answer);
    document["schema"] = json!(SCHEMA);
    for (nth, cpu) in answer.cpus.iter().enumerate() {
        let all: Vec<EntryRow> = cpu.lines.iter().map(EntryRow::of_line).collect();
        document["cpus"][nth]["lines"] = rows(&table(&all, answer.time_ns));
    }
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests;
