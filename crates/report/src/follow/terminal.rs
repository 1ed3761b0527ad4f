//! A followed program for a terminal.

use super::habits::habits;
use super::lines::{BreakdownLine, CycleLines};
use super::notes::noted;
use super::{FIGURES, FollowReport, spread};
use crate::style::{Style, wrapped};
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, micros, micros_exact, percent, plain};
use worstcase_contract::Nanos;
use worstcase_traces::follow::words::{sentence, thread};
use worstcase_traces::follow::{CycleWait, ExplainedCycle, Followed, LateCause, WokenBy, advice};

const NO_CYCLES: &str = "No cycles: of the threads that were looked at none waited again and again in one call.";
/// Other threads that are named.
const OTHERS: usize = 4;
/// Waits that are shown, if there is no cycle.
const SEEN: usize = 8;
/// Changes of the period that are shown.
const CHANGES: usize = 4;
/// Causes that are shown.
const CAUSES: usize = 6;
/// Parts below this share of a cycle are summed up.
const SMALL: f64 = 0.005;

/// And so are all but so many.
const LINES: usize = 20;

/// The whole answer.
pub fn terminal(report: &FollowReport<'_>, style: Style) -> String {
    let followed = report.followed;
    let mut text = Vec::new();
    match (followed.thread, followed.wait) {
        (Some(named), Some(wait)) => {
            text.push(style.bold(&plain(&answer(followed, &named.comm.to_string()))));
            text.push(format!(
                "{}: a cycle {}",
                plain(&thread(&named)),
                plain(&cycle(&wait, followed))
            ));
            text.extend(changes(followed).iter().flat_map(|line| wrapped("", &plain(line))));
            text.extend(causes(report));
            text.extend(noted(followed));
            text.extend(others(followed));
            text.push(String::new());
            text.extend(figures(followed));
            for (which, cycle) in worst(report) {
                text.push(String::new());
                text.push(which);
                text.extend(breakdown(&CycleLines::of(cycle, report.names), style));
            }
            let habits = habits(followed, &report.facts);
            if !habits.is_empty() {
                text.push(String::new());
                text.push(style.bold("What a real-time thread should not do, seen here:"));
                text.extend(habits.iter().flat_map(|habit| wrapped("- ", &plain(habit))));
            }
        }
        _ => {
            text.push(style.bold(&plain(&no_cycles(followed))));
            text.extend(seen(followed));
        }
    }
    text.push(String::new());
    text.extend(rests_on(followed));
    text.extend(report.trace.clone());
    text.extend(report.notes.iter().flat_map(|note| wrapped("note: ", &plain(note))));
    text.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The answer and the causes, a sentence each.
pub(super) fn sentences(report: &FollowReport<'_>) -> Vec<String> {
    let followed = report.followed;
    let Some(named) = followed.thread else {
        return vec![no_cycles(followed)];
    };
    let mut told: Vec<String> = Vec::new();
    let causes = followed.causes.iter().take(CAUSES).flat_map(|cause| {
        let words = format!("{}: {}", counted(cause.cycles, "cycle"), because(cause, report));
        let change = advice(&cause.cause).filter(|line| !told.contains(line));
        told.extend(change.clone());
        [Some(words), change.map(|line| format!("-> {line}"))]
    });
    [answer(followed, &named.comm.to_string())]
        .into_iter()
        .chain(changes(followed))
        .chain(causes.flatten())
        .chain(noted(followed))
        .collect()
}

fn no_cycles(followed: &Followed) -> String {
    match &followed.mark {
        Some(mark) => format!("No cycles: no thread that was asked for passed the mark again and again, a {mark}."),
        None => NO_CYCLES.into(),
    }
}

/// Other threads that have a period.
fn others(followed: &Followed) -> Option<String> {
    let own = followed.thread?.tid;
    let mut others: Vec<String> = Vec::new();
    for wait in followed.waits.iter().filter(|wait| wait.thread.tid != own) {
        let Some(period) = wait.period else { continue };
        let words = format!("{}, {}", thread(&wait.thread), duration::about(period));
        if others.len() < OTHERS && others.iter().all(|there| !there.starts_with(&thread(&wait.thread))) {
            others.push(words);
        }
    }
    let text = format!("With a period are also {} (--thread).", others.join("; "));
    (!others.is_empty()).then(|| plain(&text))
}

/// What waits there were, if none is a cycle's.
fn seen(followed: &Followed) -> Vec<String> {
    let mut text = vec![
        "Name a thread of those below (--thread), or the call that ends a cycle (--wait), or follow it longer. Waits that were seen:"
            .into(),
    ];
    let waits = followed.waits.iter().take(SEEN);
    text.extend(waits.map(|wait| {
        plain(&format!(
            "{:>10}  {} in {}",
            grouped(wait.count),
            thread(&wait.thread),
            wait.call
        ))
    }));
    if followed.waits.is_empty() {
        text.push("      none".into());
    }
    text
}

/// `49 of 3 886 cycles of ctl end later than 1 ms after their release; 113 periods were missed.`
fn answer(followed: &Followed, name: &str) -> String {
    let count = followed.cycles.len() as u64;
    let of_all = counted(count, "cycle");
    let limit = match followed.wait.and_then(|wait| wait.period) {
        Some(period) if period == followed.limit && !followed.changes.is_empty() => "a period".into(),
        Some(period) if period == followed.limit => format!("{}, the period,", duration::about(period)),
        _ => duration::about(followed.limit),
    };
    let late = match followed.late {
        0 => format!("All {of_all} of {name} end within {limit} of their release"),
        1 => format!("1 of {of_all} of {name} ends later than {limit} after its release"),
        late => format!(
            "{} of {of_all} of {name} end later than {limit} after their release",
            grouped(late)
        ),
    };
    match followed.missed {
        0 => format!("{late}."),
        1 => format!("{late}; 1 period was missed."),
        missed => format!("{late}; {} periods were missed.", grouped(missed)),
    }
}

fn cycle(wait: &CycleWait, followed: &Followed) -> String {
    let every = match wait.period {
        Some(period) => format!("every {}", duration::about(period)),
        None => "at irregular times".into(),
    };
    let next = followed.mark.clone().unwrap_or_else(|| wait.call.to_string());
    let ends = match wait.by {
        Some(WokenBy::Timer { .. }) => "a timer".into(),
        Some(WokenBy::Interrupt(name)) => format!("{name}"),
        Some(WokenBy::Thread(name)) => format!("the thread {name}"),
        Some(WokenBy::Mark) => format!("a {next}"),
        None if followed.mark.is_some() => format!("a {next}"),
        None => "different things".into(),
    };
    let at_once = match followed.at_once {
        0 => String::new(),
        n => format!("; {} did not wait, because it was time already", counted(n, "cycle")),
    };
    format!("{every}, from {ends} to the next {next}{at_once}")
}

/// Whether it kept its period, a sentence for each change.
pub fn changes(followed: &Followed) -> Vec<String> {
    let each = followed.changes.iter().take(CHANGES).map(|change| {
        format!(
            "It changed its period from {} to {} at {} s of CLOCK_MONOTONIC; who was late in the cycles just after that is not \
             known.",
            duration::about(change.from),
            duration::about(change.to),
            seconds(change.at)
        )
    });
    let rest = followed.changes.len().saturating_sub(CHANGES) as u64;
    let more = (rest > 0).then(|| format!("It did so {} more.", counted(rest, "time")));
    let off = followed.is_off_grid.then(|| {
        "Many of its releases lie on no multiple of its period: which periods it missed, and which cycles were late, cannot be \
         told without --deadline."
            .to_string()
    });
    each.chain(more).chain(off).collect()
}

fn causes(report: &FollowReport<'_>) -> Vec<String> {
    let (mut text, mut told) = (Vec::new(), Vec::new());
    let all = &report.followed.causes;
    for cause in all.iter().take(CAUSES) {
        let head = format!("{:>6}  ", grouped(cause.cycles));
        let words = because(cause, report);
        text.extend(wrapped(&head, &plain(&words)));
        if let Some(line) = advice(&cause.cause).filter(|line| !told.contains(line)) {
            text.extend(wrapped("        -> ", &plain(&line)));
            told.push(line);
        }
    }
    if all.len() > CAUSES {
        let rest: u64 = all[CAUSES..].iter().map(|cause| cause.cycles).sum();
        text.push(format!(
            "{:>6}  for {}: --json",
            grouped(rest),
            counted((all.len() - CAUSES) as u64, "other cause")
        ));
    }
    text
}

/// `because ctl was ready ...: up to 351 us, usually 2.00 us`.
fn because(cause: &LateCause, report: &FollowReport<'_>) -> String {
    let usual = match cause.usual {
        Nanos(0) => "usually not at all".into(),
        usual => format!("usually {} us", micros(usual)),
    };
    format!(
        "because {}: up to {} us, {usual}",
        sentence(&cause.cause, report.names),
        micros(cause.longest)
    )
}

fn figures(followed: &Followed) -> Vec<String> {
    let mut text = vec![format!("{:<14}{:>10}{:>10}{:>10}", "us", "median", "99 %", "highest")];
    for figure in &FIGURES {
        let values = spread(&followed.cycles, figure.of);
        if values[2] == Nanos(0) {
            continue;
        }
        let [median, high, highest] = values.map(micros);
        text.push(format!(
            "{:<14}{median:>10}{high:>10}{highest:>10}  {}",
            figure.name, figure.about
        ));
    }
    text
}

/// The cycles that are shown: the worst of each cause, the most frequent first, then the slowest.
fn worst<'a>(report: &FollowReport<'a>) -> Vec<(String, &'a ExplainedCycle)> {
    let followed = report.followed;
    let of_causes = followed.causes.iter().enumerate().filter_map(|(nth, cause)| {
        let which = match nth {
            0 => "The worst of the first cause:".to_string(),
            nth => format!("The worst of cause {}:", nth + 1),
        };
        Some((which, cause.worst.as_ref()?))
    });
    let slowest = followed
        .slowest
        .iter()
        .map(|cycle| ("One of the slowest:".to_string(), cycle));
    let mut cycles: Vec<(String, &ExplainedCycle)> = Vec::new();
    for (which, cycle) in of_causes.chain(slowest) {
        if cycles.len() < report.shown && cycles.iter().all(|(_, there)| there.times != cycle.times) {
            cycles.push((which, cycle));
        }
    }
    cycles
}

/// A cycle with all parts that are not small.
pub fn breakdown(cycle: &CycleLines, style: Style) -> Vec<String> {
    breakdown_with(cycle, |_| Vec::new(), style)
}

/// The same with further lines below each part, by its number among those that are no sums.
pub(super) fn breakdown_with(cycle: &CycleLines, below: impl Fn(usize) -> Vec<String>, style: Style) -> Vec<String> {
    let mut text = vec![style.bold(&format!(
        "Cycle {}: {} us, released at {} s of CLOCK_MONOTONIC",
        grouped(cycle.index.into()),
        micros_exact(cycle.response_ns),
        seconds(cycle.release_ns)
    ))];
    text.push(format!("{:>12} {:>13}", "at us", "for us"));
    let small = ((cycle.response_ns.0 as f64 * SMALL) as u64).max(nth_largest(cycle, LINES));
    let (mut others, mut sum, mut part) = (0, 0, 0);
    for line in &cycle.parts {
        let number = part;
        part += usize::from(!line.sum);
        if line.length_ns.0 < small {
            if !line.sum {
                others += 1;
                sum += line.length_ns.0;
            }
            continue;
        }
        text.extend(of_line(line));
        if !line.sum {
            text.extend(below(number));
        }
    }
    if others > 0 {
        text.push(format!(
            "{:>12}{:>12}  {}",
            "",
            micros_exact(Nanos(sum)),
            counted(others, "shorter part")
        ));
    }
    text.extend(cycle.notes.iter().flat_map(|note| wrapped("note: ", &plain(note))));
    text
}

/// The length of a cycle's nth part by length, 0 if it has fewer.
fn nth_largest(cycle: &CycleLines, nth: usize) -> u64 {
    let mut all: Vec<u64> = cycle
        .parts
        .iter()
        .filter(|part| !part.sum)
        .map(|part| part.length_ns.0)
        .collect();
    all.sort_unstable_by_key(|length| std::cmp::Reverse(*length));
    all.get(nth).copied().unwrap_or_default()
}

fn of_line(line: &BreakdownLine) -> Vec<String> {
    let (open, close) = if line.sum { ("(", ")") } else { ("", "") };
    let head = format!(
        "{:>12} {:>13}  {:depth$}",
        micros_exact(line.at_ns),
        format!("{open}{}{close}", micros_exact(line.length_ns)),
        "",
        depth = 2 * line.depth
    );
    wrapped(&head, &plain(&format!("{} {}", line.thread, line.words)))
}

pub(super) fn seconds(at: Nanos) -> String {
    format!("{}.{:06}", at.0 / 1_000_000_000, at.0 / 1_000 % 1_000_000)
}

fn rests_on(followed: &Followed) -> Vec<String> {
    let all: u64 = followed.cycles.iter().map(|cycle| cycle.response().0).sum();
    let share = followed.unexplained.0 as f64 / all.max(1) as f64;
    let mut text = vec![format!(
        "From {} of trace; {} of the cycles' time is not explained; {} lost, {} not reported.",
        duration::about(followed.length),
        percent(share),
        counted(followed.lost, "event"),
        counted(followed.holes, "switch").replace("switchs", "switches"),
    )];
    if followed.forgotten > 0 {
        text.push("More happened in a cycle than is remembered: its beginning is not explained.".into());
    }
    text
}
