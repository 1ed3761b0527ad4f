//! A bisection's progress: a line when a step begins, with the time that is left, and one with its result.

use super::BisectionStep;
use crate::criterion::KernelCriterion;
use crate::figures::{self, KernelFigure};
use crate::search::{CandidateOrder, SoughtChange, steps};
use std::time::Duration;
use worstcase_base::format::span;
use worstcase_base::progress::Progress;

pub(super) struct StepLines<'a> {
    order: &'a dyn CandidateOrder,
    progress: &'a dyn Progress,
    criterion: KernelCriterion,
    /// The time that each step took, of those that this process measured.
    took: Vec<Duration>,
}

impl<'a> StepLines<'a> {
    pub(super) fn new(
        order: &'a dyn CandidateOrder,
        progress: &'a dyn Progress,
        criterion: KernelCriterion,
    ) -> StepLines<'a> {
        StepLines {
            order,
            progress,
            criterion,
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
        let said = self.criterion.said(step.word);
        let why = match &step.why {
            Some(why) => why.clone(),
            None => figures::line(decisive, self.criterion.measure()),
        };
        self.progress.line(&format!("{name}: {said}, {why}"));
    }

    /// Both ends are known: says so if the newer one is the better one.
    pub(super) fn ends(&self, older: &str, newer: &str, sought: SoughtChange) {
        if sought == SoughtChange::Better {
            let [older, newer] = [older, newer].map(|end| self.order.shown(end));
            let text = format!("{newer} is better than {older}, the older one: the first better one is searched");
            self.progress.line(&text);
        }
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
