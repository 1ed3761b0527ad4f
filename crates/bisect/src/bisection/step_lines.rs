//! A bisection's progress: a line when a step begins, with the time that is left, and one with its result.

use super::BisectionStep;
use crate::figures::{self, BisectedMeasure, KernelFigure};
use crate::search::{CandidateOrder, CandidateWord, steps};
use std::time::Duration;
use worstcase_base::format::span;
use worstcase_base::progress::Progress;

pub(super) struct StepLines<'a> {
    order: &'a dyn CandidateOrder,
    progress: &'a dyn Progress,
    measure: BisectedMeasure,
    /// The time that each step took, of those that this process measured.
    took: Vec<Duration>,
}

impl<'a> StepLines<'a> {
    pub(super) fn new(
        order: &'a dyn CandidateOrder,
        progress: &'a dyn Progress,
        measure: BisectedMeasure,
    ) -> StepLines<'a> {
        StepLines {
            order,
            progress,
            measure,
            took: Vec::new(),
        }
    }

    /// `candidate` is measured next. `left` candidates may be the first bad one; `None` for an end.
    pub(super) fn begins(&self, candidate: &str, left: Option<usize>) {
        let left = left.map_or(String::new(), |left| format!("; {}", self.left_in_words(left)));
        let name = self.order.shown(candidate);
        self.progress.line(&format!("{name}: measuring{left}"));
    }

    pub(super) fn took(&mut self, time: Duration) {
        self.took.push(time);
    }

    /// `step` is done, now or by an earlier command; `decisive` are the cells that decided.
    pub(super) fn done(&self, step: &BisectionStep, decisive: &[KernelFigure]) {
        let name = self.order.shown(&step.candidate);
        let line = figures::line(decisive, self.measure);
        self.progress.line(&match step.word {
            CandidateWord::Good => format!("{name}: good, {line}"),
            CandidateWord::Bad => format!("{name}: bad, {line}"),
            CandidateWord::Skipped => format!("{name}: skipped, {}", step.why.as_deref().unwrap_or_default()),
        });
    }

    /// `14 may be the first, about 4 more steps, 5 min left`.
    fn left_in_words(&self, left: usize) -> String {
        let steps = steps(left);
        let noun = if steps == 1 { "step" } else { "steps" };
        let time = match self.took.len() {
            0 => String::new(),
            n => {
                let each = self.took.iter().sum::<Duration>().as_secs_f64() / n as f64;
                format!(", {} left", span(each * f64::from(steps)))
            }
        };
        format!("{left} may be the first, about {steps} more {noun}{time}")
    }
}
