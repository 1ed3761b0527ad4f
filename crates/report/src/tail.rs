//! The tail estimate of a cell, in words and for programs.

use crate::style::Style;
use serde::Serialize;
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, micros, plain, span};
use worstcase_contract::Nanos;
use worstcase_results::record::{Record, Venue};
use worstcase_results::stats::tail::{
    ExceedanceLevel, Exceeded, LatencyTail, Peaks, SPAN, Sure, TIMES_LOOKED, estimate,
};

/// The limits of every estimate from samples.
const HOST_LIMITS: [&str; 3] = [
    "95 % if the time that was seen is typical, and what lies above the threshold has one kind of cause. An estimate from the",
    "paths that were taken, under this load, on this machine as it was: no bound, no ground for a PASS. Of other paths it knows",
    "nothing: firmware, rare errors and drivers, other loads, heat, a state that takes days to come.",
];
const LAB_LIMITS: [&str; 3] = [
    "An estimate from the paths that these seeds took, per hour of virtual time: no bound, no ground for a PASS. Of paths that",
    "were not taken it knows nothing. In the lab every section can be counted instead, and the run bounded:",
    "worstcase census.",
];

/// The note on a record that has the largest samples alone.
const SELECTED: &str = "only its largest samples are kept, and an estimate needs all of them";

/// One path through the kernel.
const ONE_SEED: &str = "one seed of the lab is one path through the kernel; its seeds are taken together, two or more";

/// The tail of a host's cell, or of the seeds of a lab's taken together; or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellTail {
    /// The cell; in the lab without its seed.
    pub cell: String,
    /// Lab: the number of seeds.
    pub seeds: Option<usize>,
    /// Its clock.
    pub(crate) time_unit: String,
    /// The estimate.
    pub(crate) estimate: Option<LatencyTail>,
    /// Why there is none.
    pub(crate) why_not: Option<String>,
    /// The limits of the estimate, line by line.
    pub(crate) warning: [&'static str; 3],
}

impl CellTail {
    /// The tail of the largest samples of a record, in the lab of all seeds of a cell; with a `limit`, how often it is exceeded.
    pub fn of(records: &[&Record], peaks: &Peaks, limit: Option<Nanos>) -> CellTail {
        let unordered = "its samples, and the order in which they came, are not in the file";
        let record = records[0];
        let observed = Nanos(records.iter().map(|r| r.observation_time().0).sum());
        let in_lab = record.subject.venue() == Venue::Lab;
        let selected = |r: &&&Record| r.samples.selection.is_some() && !r.has_samples();
        let (estimate, why_not) = match estimate(peaks, observed, limit) {
            _ if in_lab && records.len() < 2 => (None, Some(ONE_SEED.to_string())),
            _ if records.iter().any(|r| selected(&r)) => (None, Some(SELECTED.to_string())),
            _ if !records.iter().all(|r| r.has_samples()) => (None, Some(unordered.to_string())),
            Ok(tail) => (Some(tail), None),
            Err(refusal) => (None, Some(refusal.to_string())),
        };
        CellTail {
            cell: match in_lab {
                true => format!("{}, {}, {}", record.subject.id(), record.cell.load, record.cell.probe),
                false => record.id.to_string(),
            },
            seeds: in_lab.then_some(records.len()),
            time_unit: record.subject.time_unit().replacen("us", "ns", 1),
            estimate,
            why_not,
            warning: match record.subject.venue() {
                Venue::Lab => LAB_LIMITS,
                Venue::Host => HOST_LIMITS,
            },
        }
    }

    /// The lines, with a heading and the warning.
    pub fn lines(&self, style: Style) -> Vec<String> {
        let unit = self.time_unit.replacen("ns", "us", 1);
        let mut lines = vec![style.bold(&format!("Tail ({unit}; an estimate, 95 % intervals)"))];
        lines.extend(self.figures().into_iter().map(|line| format!("  {line}")));
        lines.extend(self.warning.map(|line| format!("  {line}")));
        lines
    }

    /// The figures alone.
    fn figures(&self) -> Vec<String> {
        match (&self.estimate, &self.why_not) {
            (Some(tail), _) => estimated(tail),
            (None, why_not) => vec![format!("none: {}", why_not.as_deref().unwrap_or_default())],
        }
    }
}

/// The tails of several cells.
pub(crate) fn several(tails: &[CellTail], style: Style) -> Vec<String> {
    let mut lines =
        vec![style.bold("Tail: latencies by how seldom they are exceeded (us; an estimate, 95 % intervals)")];
    for tail in tails {
        let seeds = tail
            .seeds
            .map_or_else(String::new, |n| format!(", {} together", counted(n as u64, "seed")));
        lines.push(format!("  {}{seeds}", plain(&tail.cell)));
        lines.extend(tail.figures().into_iter().map(|line| format!("    {line}")));
    }
    // All cells of a run are of one venue.
    let warning = tails.first().map(|t| t.warning);
    lines.extend(warning.into_iter().flatten().map(|line| format!("  {line}")));
    lines
}

fn estimated(tail: &LatencyTail) -> Vec<String> {
    let mut lines = vec![
        format!(
            "{} events above {} in {} ({} of {} samples); largest {}",
            grouped(tail.events),
            micros(tail.threshold_ns),
            duration::show(tail.observation_ns),
            grouped(tail.above),
            grouped(tail.samples),
            micros(tail.max_ns)
        ),
        format!(
            "generalized Pareto, shape {:.2} ({:.2}..{:.2}); a fit as bad has p = {:.3}",
            tail.shape.best, tail.shape.low, tail.shape.high, tail.fit_p
        ),
    ];
    lines.extend(tail.levels.iter().map(|l| level(l, tail.observation_ns)));
    lines.extend(tail.withheld.iter().map(|time| {
        let once = once(time);
        format!("{once:<12} withheld: its interval spans more than a factor of ten")
    }));
    lines.extend(tail.limit.as_ref().map(|limit| exceeded(limit, tail.observation_ns)));
    lines
}

fn level(level: &ExceedanceLevel, observation_time: Nanos) -> String {
    let times = level.every_ns.0 as f64 / observation_time.0 as f64;
    let once = once(level.once_a);
    let line = format!("{once:<12} {}", latency(&level.latency_ns));
    match times > 1.0 {
        true => format!(
            "{line:<40} {} times the observation time",
            grouped(times.round() as u64)
        ),
        false => line,
    }
}

fn once(time: &str) -> String {
    let article = if time == "hour" { "an" } else { "a" };
    format!("once {article} {time}")
}

fn latency(sure: &Sure<Option<Nanos>>) -> String {
    let show = |value: Option<Nanos>| value.map_or("no end".to_string(), micros);
    format!("{:<8} ({}..{})", show(sure.best), show(sure.low), show(sure.high))
}

fn exceeded(exceeded: &Exceeded, observation_time: Nanos) -> String {
    let every = exceeded.every_s;
    let often = match (every.best, every.low, every.high) {
        (_, None, _) => format!(
            "less than once in {}, {TIMES_LOOKED} times the observation time; how seldom, the samples do not tell",
            span(observation_time.0 as f64 / 1e9 * TIMES_LOOKED)
        ),
        (Some(best), Some(low), Some(high)) if high <= low * SPAN => {
            format!("once in {} ({}..{})", span(best), span(low), span(high))
        }
        (_, Some(low), _) => format!(
            "at most once in {} (how seldom is withheld: the interval spans more than a factor of ten)",
            span(low)
        ),
    };
    format!("{:<12} exceeded {often}", duration::show(exceeded.limit_ns))
}
