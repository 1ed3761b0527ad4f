//! A followed program: the answer, why its cycles were late, what a real-time thread should not do, and the worst cycle.

mod found;
mod functions;
mod habits;
mod json;
mod lines;
mod notes;
mod terminal;
#[cfg(test)]
mod tests;

pub use found::{FoundProgram, FoundThen, all, compared};
pub use functions::FunctionReport;
pub use habits::ThreadHabits;
pub use json::{json, kept};
pub use lines::{BreakdownLine, CycleLines};
pub use terminal::{breakdown, changes, terminal};

use worstcase_contract::Nanos;
use worstcase_results::stats::quantile;
use worstcase_traces::follow::words::FunctionNames;
use worstcase_traces::follow::{CycleTimes, Followed};

/// What is told of a followed program.
pub struct FollowReport<'a> {
    /// What was found.
    pub followed: &'a Followed,
    /// Names of the kernel's functions.
    pub names: FunctionNames<'a>,
    /// What is known of the thread besides the trace.
    pub facts: ThreadHabits,
    /// The limit that the user asked for.
    pub deadline: Option<Nanos>,
    /// So many of the worst cycles are shown.
    pub shown: usize,
    /// What the trace took, in a line.
    pub trace: Option<String>,
    /// What limits the answer, or changes it.
    pub notes: Vec<String>,
}

/// A figure of all cycles.
struct CycleFigure {
    name: &'static str,
    about: &'static str,
    of: fn(&CycleTimes) -> Nanos,
}

/// The figures, the most important one first.
const FIGURES: [CycleFigure; 6] = [
    CycleFigure {
        name: "response",
        about: "release to end",
        of: |cycle| cycle.response(),
    },
    CycleFigure {
        name: "start",
        about: "release to the return from the wait",
        of: |cycle| Nanos(cycle.start.0.saturating_sub(cycle.release.0)),
    },
    CycleFigure {
        name: "execution",
        about: "it ran",
        of: |cycle| cycle.execution,
    },
    CycleFigure {
        name: "interference",
        about: "it could run, and did not",
        of: |cycle| cycle.interference,
    },
    CycleFigure {
        name: "blocked",
        about: "it waited for another",
        of: |cycle| cycle.blocked,
    },
    CycleFigure {
        name: "unexplained",
        about: "not known",
        of: |cycle| cycle.unexplained,
    },
];

/// Median, 99th percentile and highest value of a figure.
fn spread(cycles: &[CycleTimes], of: fn(&CycleTimes) -> Nanos) -> [Nanos; 3] {
    let mut all: Vec<u64> = cycles.iter().map(|cycle| of(cycle).0).collect();
    all.sort_unstable();
    let at = |one_in| Nanos(quantile::of_sorted(&all, one_in).unwrap_or_default());
    [at(2.0), at(100.0), Nanos(all.last().copied().unwrap_or_default())]
}
