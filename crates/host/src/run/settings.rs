//! Settings during a run: what the doctor can set, and priorities of kernel threads.

use super::matrix::HostMatrix;
use super::origin;
use crate::doctor::{Applied, AppliedFinding, apply, settable};
use crate::facts::FileTree;
use crate::{HostError, Journal, StateFolder};
use worstcase_contract::Probe;
use worstcase_contract::bench::{Bench, irq};
use worstcase_plan::Apply;
use worstcase_results::record::WasSet;

/// The applied settings. Some of them last as long as this value.
pub(crate) struct AppliedSettings {
    applied: Option<Applied>,
    /// Threads and their new priorities.
    priorities: Vec<(String, u8)>,
}

impl AppliedSettings {
    /// Begins a journal with a guard, and applies everything that is asked for; notes go to `note`.
    pub(crate) fn make(
        matrix: &HostMatrix,
        state: &StateFolder,
        command: &str,
        mut note: impl FnMut(&str),
    ) -> Result<(Journal, AppliedSettings), HostError> {
        let mut journal = Journal::guarded(state, command)?;
        matrix.notes.iter().for_each(|words| note(words));
        let is_asked = matrix.apply != Apply::Nothing;
        let applied = is_asked.then(|| {
            let findings = settable(&matrix.findings).filter(|f| matrix.apply.asks_for(f.id));
            apply(findings, &FileTree::at("/".as_ref()), &mut journal)
        });
        for outcome in applied.iter().flat_map(|a| &a.outcomes) {
            note(&outcome.line());
        }
        for spec in &matrix.specs {
            if let (Probe::Bench(Bench::Irq(line)), Some(cpu)) = (spec.probe, spec.cpus.first())
                && let Some(path) = irq::affinity(line)
            {
                let path = path.map_err(|e| HostError::Missing(format!("probe '{}': {e}", spec.probe)))?;
                journal.set(&path, &cpu.to_string())?;
            }
        }
        let mut priorities = Vec::new();
        let threads = matrix.chrt.threads();
        for (thread, priority) in threads.map_err(|e| HostError::Argument(format!("--chrt: {e}")))? {
            journal.set_priority(&thread, priority)?;
            note(&format!("{}: priority {priority}", thread.name));
            priorities.push((thread.name, priority));
        }
        Ok((journal, AppliedSettings { applied, priorities }))
    }

    /// The first setting of which nothing could be made. One interrupt of many that the kernel does not let go is no reason
    /// not to go on without it.
    pub fn refused(&self) -> Option<&AppliedFinding> {
        let mut outcomes = self.applied.iter().flat_map(|applied| &applied.outcomes);
        outcomes.find(|outcome| outcome.is_refused())
    }

    /// The settings, for records; `None` if none were asked for.
    pub(crate) fn were_set(&self) -> Option<Vec<WasSet>> {
        let priority = |(thread, priority): &(String, u8)| WasSet {
            id: format!("{thread}={priority}"),
            made: 1,
            refused: Vec::new(),
        };
        let mut all = self.applied.as_ref().map(|applied| origin::was_set(&applied.outcomes));
        if !self.priorities.is_empty() {
            all.get_or_insert_default().extend(self.priorities.iter().map(priority));
        }
        all
    }
}
