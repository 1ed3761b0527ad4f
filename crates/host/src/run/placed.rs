//! One measurement with its own folders, and with what it alone changes on this machine: its CPUs' frequency, its disk's
//! scheduler.

use super::io_scheduler::{self, RequestQueue};
use super::matrix::HostMatrix;
use super::settings::AppliedSettings;
use super::speed;
use super::work_dir::work_dir;
use crate::facts::FileTree;
use crate::loads::cgroup;
use crate::{HostError, HostSpec, Journal, StateFolder};
use worstcase_contract::Probe;
use worstcase_contract::bench::{Bench, Switch};
use worstcase_results::record::WasSet;

/// A measurement that can begin.
pub(crate) struct PlacedMeasurement {
    pub spec: HostSpec,
    held: Option<Journal>,
    set: Vec<WasSet>,
}

impl PlacedMeasurement {
    /// Applies what it asks for, in a journal of its own.
    pub(crate) fn begin(
        matrix: &HostMatrix,
        state: &StateFolder,
        command: &str,
        spec: &HostSpec,
    ) -> Result<PlacedMeasurement, HostError> {
        let spec = HostSpec {
            work_dir: work_dir(&matrix.work_parent)?,
            cgroup: cgroup::propose(),
            ..spec.clone()
        };
        let mhz = match spec.probe {
            Probe::Bench(Bench::Switch(Switch { mhz: mhz @ 1.., .. })) => Some(mhz),
            _ => None,
        };
        let (mut held, mut set) = (None, Vec::new());
        if mhz.is_some() || spec.io_scheduler.is_some() {
            let journal = held.insert(Journal::guarded(state, command)?);
            if let Some(mhz) = mhz {
                speed::hold(&FileTree::at("/".as_ref()), journal, &spec.cpus, mhz)?;
                set.push(speed::was_set(&spec.cpus, mhz));
            }
            if let Some(scheduler) = &spec.io_scheduler {
                RequestQueue::below(&matrix.work_parent)?.hold(journal, scheduler)?;
                set.push(io_scheduler::was_set(scheduler));
            }
        }
        Ok(PlacedMeasurement { spec, held, set })
    }

    /// All that is set on this machine for it, for records; `None` if nothing was asked for.
    pub(crate) fn were_set(&self, settings: Option<&AppliedSettings>) -> Option<Vec<WasSet>> {
        let mut all = settings.and_then(AppliedSettings::were_set);
        if !self.set.is_empty() {
            all.get_or_insert_default().extend(self.set.iter().cloned());
        }
        all
    }

    /// Undoes what it alone changed.
    pub(crate) fn end(self) -> Result<(), HostError> {
        self.held.map_or(Ok(()), Journal::finish_all)
    }
}
