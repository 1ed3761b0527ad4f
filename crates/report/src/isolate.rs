//! What entered a CPU of this machine: a sentence, and a table of causes with their senders and remedies.

use super::breakdown::terminal::wrapped;
use super::terminal::Style;
use worstcase_analysis::isolate::{Answer, Cpu, Judgement, Line};
use worstcase_base::format::{counted, grouped, micros, plain};
use worstcase_contract::Nanos;

/// Below the four columns of figures.
const INDENT: usize = 39;
/// Causes that are shown.
const SHOWN: usize = 25;
/// Senders of one cause that are shown.
const SENDERS: usize = 5;

/// The whole answer.
pub fn terminal(answer: &Answer, style: Style) -> String {
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

fn of_cpu(cpu: &Cpu, time_ns: u64, style: Style) -> Vec<String> {
    let mut lines = vec![style.bold(&plain(&cpu.sentence)), whose(cpu)];
    if !cpu.lines.is_empty() {
        lines.push(String::new());
        lines.push(format!(
            "{:>9}{:>9}{:>11}{:>10}  cause",
            "times", "a second", "total us", "worst us"
        ));
    }
    let causes = Cause::of(&cpu.lines);
    for cause in causes.iter().take(SHOWN) {
        lines.extend(cause.rows(time_ns));
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

fn whose(cpu: &Cpu) -> String {
    match (&cpu.program, cpu.is_occupied) {
        (_, true) => "a thread of worstcase kept it busy".into(),
        (Some(name), _) => format!("its program: {}", plain(name)),
        (None, _) => "no program ran on it".into(),
    }
}

/// All lines of one cause.
struct Cause<'a> {
    lines: Vec<&'a Line>,
}

impl<'a> Cause<'a> {
    /// Most entries first.
    fn of(lines: &'a [Line]) -> Vec<Cause<'a>> {
        let mut causes: Vec<Cause<'a>> = Vec::new();
        for line in lines {
            match causes.iter_mut().find(|cause| cause.lines[0].cause == line.cause) {
                Some(cause) => cause.lines.push(line),
                None => causes.push(Cause { lines: vec![line] }),
            }
        }
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.sum(|line| line.count)));
        causes
    }

    fn sum(&self, of: impl Fn(&Line) -> Option<u64>) -> Option<u64> {
        self.lines.iter().map(|line| of(line)).sum()
    }

    fn rows(&self, time_ns: u64) -> Vec<String> {
        let first = self.lines[0];
        let worst = self.lines.iter().filter_map(|line| line.worst_ns).max();
        let (count, total) = (self.sum(|line| line.count), self.sum(|line| line.total_ns));
        let excluded = if first.is_excluded { " (excluded)" } else { "" };
        let figures = figures(count, total, worst, time_ns);
        let mut rows = vec![format!("{figures}{}{excluded}", plain(&first.cause))];
        rows.extend(match &self.lines[..] {
            [Line { sent_by: None, .. }] => Vec::new(),
            [Line { sent_by: Some(one), .. }] => vec![format!("{:INDENT$}  sent by {}", "", plain(one))],
            several => senders(several, time_ns),
        });
        rows.extend(wrapped(&format!("{:INDENT$}  remedy: ", ""), &first.remedy));
        rows
    }
}

/// A line a sender, the last for all that have no line of their own.
fn senders(lines: &[&Line], time_ns: u64) -> Vec<String> {
    let (shown, others) = lines.split_at(lines.len().min(SENDERS));
    let mut rows: Vec<String> = shown
        .iter()
        .map(|line| {
            let figures = figures(line.count, line.total_ns, line.worst_ns, time_ns);
            let sent_by = line.sent_by.as_deref().unwrap_or("nobody who is known");
            format!("{figures}  sent by {}", plain(sent_by))
        })
        .collect();
    if !others.is_empty() {
        let sum = |of: fn(&Line) -> Option<u64>| others.iter().map(|line| of(line)).sum::<Option<u64>>();
        let worst = others.iter().filter_map(|line| line.worst_ns).max();
        let figures = figures(sum(|line| line.count), sum(|line| line.total_ns), worst, time_ns);
        rows.push(format!("{figures}  sent by {}", counted(others.len() as u64, "other")));
    }
    rows
}

fn figures(count: Option<u64>, total: Option<u64>, worst: Option<u64>, time_ns: u64) -> String {
    let time = |ns: Option<u64>| ns.map_or("-".into(), |ns| micros(Nanos(ns)));
    let rate = |count: u64| a_second(count as f64 * 1e9 / time_ns.max(1) as f64);
    format!(
        "{:>9}{:>9}{:>11}{:>10}  ",
        count.map_or("-".into(), grouped),
        count.map_or("-".into(), rate),
        time(total),
        time(worst)
    )
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

/// The same for programs.
pub fn json(answer: &Answer) -> String {
    let json = serde_json::to_string_pretty(answer).expect("plain values are serialised");
    format!("{json}\n")
}
