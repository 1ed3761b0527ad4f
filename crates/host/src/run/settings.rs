//! What is set for the length of a run: what the doctor can set, and priorities of the kernel's threads.

use super::matrix::HostMatrix;
use super::origin;
use crate::doctor::{Applied, AppliedFinding, apply, settable};
use crate::facts::FileTree;
use crate::{HostError, Journal, StateFolder};
use worstcase_contract::Probe;
use worstcase_contract::bench::{Bench, irq};
use worstcase_plan::Apply;
use worstcase_results::record::WasSet;

/// What was set. Some of it lasts as long as this value does.
pub(crate) struct AppliedSettings {
    applied: Option<Applied>,
    /// Threads with their priorities.
    priorities: Vec<(String, u8)>,
}

impl AppliedSettings {
    /// A journal with a guard, and everything made that is asked for; what there is to know goes to `note`.
    pub fn make(
        matrix: &HostMatrix,
        state: &StateFolder,
        command: &str,
        mut note: impl FnMut(&str),
    ) -> Result<(Journal, AppliedSettings), HostError> {
        let mut journal = Journal::begin(state, command)?;
        journal.start_guard()?;
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

    /// The first that could not be made.
    pub fn refused(&self) -> Option<&AppliedFinding> {
        let mut outcomes = self.applied.iter().flat_map(|applied| &applied.outcomes);
        outcomes.find(|outcome| !outcome.refused.is_empty())
    }

    /// For records; nothing if nothing was asked for.
    pub fn were_set(&self) -> Option<Vec<WasSet>> {
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
