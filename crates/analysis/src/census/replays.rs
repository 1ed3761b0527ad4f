//! Findings that counting cannot give, from one more replay: the owners of the longest sections, and when the probe
//! slept again.

use super::CensusTakeError;
use super::top::{self, OwnedSection};
use crate::debuginfo::{LineOrigin, Modules};
use crate::kept::kept;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::ops::Range;
use worstcase_base::cache::Cache;
use worstcase_contract::Instructions;
use worstcase_contract::census::log::Section;
use worstcase_lab::again::RepeatableCell;
use worstcase_lab::execution::Execution;
use worstcase_lab::moments::SampleMoment;

/// The area of these findings in the cache.
const AREA: &str = "census-owners";

/// A replay covers so many instructions around a section, because returns there reveal its callers.
const AROUND: u64 = 20_000;

/// The probe sleeps within so many instructions after its sample: its own code, a system call, and interrupts in between.
const TO_SLEEP: u64 = 8_000;

/// At most so many samples are looked at, evenly chosen: the windows of one replay.
const MOST_SAMPLES: usize = 1_500;

/// See the module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReplayFindings {
    /// For each section, unless the replay does not hold it.
    pub(crate) owned: Vec<Option<OwnedSection>>,
    /// For each sample, the time at which the probe gave the CPU away after it, if the replay looked.
    pub(crate) asleep: Vec<Option<Instructions>>,
}

/// Replays a cell.
pub(crate) struct Replays<'a> {
    again: &'a RepeatableCell,
    cache: &'a Cache,
    origin: LineOrigin<'a>,
    /// The lines, read when the first replay needs them.
    lines: OnceCell<Modules>,
}

impl<'a> Replays<'a> {
    /// The replays of a cell whose modules are known; `origin` gives lines of source code.
    pub(crate) fn of(again: &'a RepeatableCell, cache: &'a Cache, origin: LineOrigin<'a>) -> Replays<'a> {
        Replays {
            again,
            cache,
            origin,
            lines: OnceCell::new(),
        }
    }

    /// The findings of a replay for these sections and samples, in their order; kept in the cache.
    pub(crate) fn seen(
        &self,
        sections: &[Section],
        samples: &[SampleMoment],
    ) -> Result<ReplayFindings, CensusTakeError> {
        if sections.is_empty() && samples.is_empty() {
            return Ok(ReplayFindings::default());
        }
        let sections_text = format!("{sections:?}");
        let samples_text = format!("{} samples", samples.len());
        let followed = format!("CPU {}", self.again.followed());
        let (cell, lines) = (self.again.key()?, self.origin.kept_lines());
        let asked = [&cell, &followed, &sections_text, &samples_text, &lines].map(String::as_str);
        kept(self.cache, AREA, &asked, || self.replay(sections, samples))
    }

    fn lines(&self) -> Result<&Modules, CensusTakeError> {
        if let Some(lines) = self.lines.get() {
            return Ok(lines);
        }
        let kernel = self.origin.kernel(self.again)?;
        Ok(self.lines.get_or_init(|| self.origin.with_modules(kernel, self.again)))
    }

    fn replay(&self, sections: &[Section], samples: &[SampleMoment]) -> Result<ReplayFindings, CensusTakeError> {
        let (again, lines) = (self.again, self.lines()?);
        let around =
            |s: &Section| Instructions(s.start.0.saturating_sub(AROUND))..Instructions(s.start.0 + s.length + AROUND);
        let after = |m: &SampleMoment| m.sample..Instructions(m.sample.0 + TO_SLEEP);
        let chosen: Vec<usize> = (0..samples.len())
            .step_by(samples.len().div_ceil(MOST_SAMPLES).max(1))
            .collect();
        let stretches: Vec<Range<Instructions>> = sections
            .iter()
            .map(around)
            .chain(chosen.iter().map(|i| after(&samples[*i])))
            .collect();
        let mut seen = ReplayFindings {
            owned: vec![None; sections.len()],
            asleep: vec![None; samples.len()],
        };
        again.replay_stretches(self.cache, &stretches, |index, execution| match sections.get(index) {
            Some(section) => seen.owned[index] = top::owned(execution, again.symbols(), lines, section),
            None => seen.asleep[chosen[index - sections.len()]] = switched(execution),
        })?;
        Ok(seen)
    }
}

/// When the CPU went to another task than the first.
fn switched(execution: &Execution) -> Option<Instructions> {
    let (first, later) = execution.tasks.split_first()?;
    later.iter().find(|t| t.pid != first.pid).map(|t| t.count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::testing::SyntheticMachine;

    #[test]
    fn the_probe_sleeps_when_another_task_has_the_cpu() {
        let (mut execution, _) = SyntheticMachine::in_user(7, "probe").work(9).execution();
        assert_eq!(switched(&execution), None);
        let task = |count, pid| worstcase_lab::execution::TaskFrom {
            count: Instructions(count),
            pid,
            comm: String::new(),
        };
        // A new name is no other task.
        execution.tasks = vec![task(10, 7), task(15, 7), task(20, 0), task(30, 7)];
        assert_eq!(switched(&execution), Some(Instructions(20)));
    }
}
