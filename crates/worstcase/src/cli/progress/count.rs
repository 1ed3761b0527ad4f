//! The finished part of counted work, in words.

use indicatif::HumanDuration;
use std::time::{Duration, Instant};
use worstcase_base::format::plain;

/// The interval of lines if there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The finished part of the work.
#[derive(Default)]
pub(super) struct ProgressCount {
    pub(super) units: String,
    pub(super) count: usize,
    pub(super) done: usize,
    pub(super) weight: u64,
    pub(super) weight_done: u64,
    pub(super) begun: Option<Instant>,
    pub(super) told: Option<Instant>,
    /// What was done or begun last.
    pub(super) last: String,
}

impl ProgressCount {
    pub(super) fn message(&self) -> String {
        match self.units.is_empty() {
            true => plain(&self.last),
            false => format!("{}/{} {}; {}", self.done, self.count, self.units, plain(&self.last)),
        }
    }

    /// A line, if the last one is long enough ago.
    pub(super) fn line(&mut self, now: Instant) -> Option<String> {
        let since = self.told.or(self.begun).map(|told| now.duration_since(told));
        if since.is_none_or(|since| since < BETWEEN_LINES) {
            return None;
        }
        self.told = Some(now);
        let gone = now.duration_since(self.begun?);
        let each = gone.as_secs_f64() / self.weight_done as f64;
        let left = each * self.weight.saturating_sub(self.weight_done) as f64;
        // Without a finished unit there is no estimate, and what is behind the last one is not counted.
        let left = match left {
            1.0.. if left.is_finite() => format!(", {} left", HumanDuration(Duration::from_secs_f64(left))),
            _ => String::new(),
        };
        Some(format!("{} gone{left}: {}", HumanDuration(gone), self.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_gets_a_line_every_ten_seconds() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut counted = ProgressCount {
            units: "cells".into(),
            count: 4,
            weight: 4,
            begun: Some(begun),
            ..ProgressCount::default()
        };
        assert_eq!(counted.line(at(9)), None);
        (counted.done, counted.weight_done) = (1, 1);
        counted.last = "measured b".into();
        let line = counted.line(at(20)).unwrap();
        assert_eq!(line, "20 seconds gone, 60 seconds left: 1/4 cells; measured b");
        assert_eq!(counted.line(at(29)), None);
        // Nothing was finished meanwhile.
        assert!(counted.line(at(30)).is_some_and(|line| line.ends_with("measured b")));
        let mut over = ProgressCount::default();
        assert_eq!(over.line(at(60)), None);
    }
}
