//! Counters of the load and the machine, over a measurement or a segment of it.

use crate::loads::RunningHostLoad;
use crate::machine;
use crate::spec::HostSpec;
use worstcase_contract::Nanos;
use worstcase_contract::record::Work;
use worstcase_instruments::loads::LoadError;

/// The counters when it began.
pub(super) struct CountersBefore {
    work: Vec<Work>,
    steal: Vec<Option<Nanos>>,
}

impl CountersBefore {
    pub(super) fn now(spec: &HostSpec, load: &RunningHostLoad) -> CountersBefore {
        CountersBefore {
            work: load.work(),
            steal: machine::steal(&spec.cpus),
        }
    }

    /// The load's work since then, so far.
    pub(super) fn work_so_far(&self, load: &RunningHostLoad) -> Vec<Work> {
        load.added_to(&self.work)
    }

    /// The load's work of the whole measurement: an error if it did none. One that `ended_early` may have been too short for
    /// it.
    pub(super) fn work(&self, load: &RunningHostLoad, ended_early: bool) -> Result<Vec<Work>, LoadError> {
        match ended_early {
            true => Ok(self.work_so_far(load)),
            false => load.work_since(&self.work),
        }
    }

    /// Time that the hypervisor took from each CPU since then, where the kernel counts it.
    pub(super) fn steal(&self, spec: &HostSpec) -> Vec<Option<Nanos>> {
        machine::steal_between(&self.steal, &machine::steal(&spec.cpus))
    }
}
