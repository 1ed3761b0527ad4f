//! Several CPUs in the lab's machine, and which of them does what.

use crate::{CpuList, Problem};
use serde::{Deserialize, Serialize};
use worstcase_base::duration;
use worstcase_contract::Nanos;
use worstcase_contract::machine::{DEFAULT_QUANTUM, MOST_CPUS};

/// The CPUs of a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Smp {
    /// The number of CPUs.
    pub cpus: u32,
    /// How far one CPU may be ahead of another.
    #[serde(rename = "quantum_ns")]
    pub quantum: Nanos,
    /// The CPU on which the probe measures; the last unless one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<u32>,
    /// The CPUs that the load runs on; all that are not isolated unless some are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<CpuList>,
}

impl Default for Smp {
    fn default() -> Smp {
        Smp {
            cpus: 1,
            quantum: DEFAULT_QUANTUM,
            probe: None,
            load: None,
        }
    }
}

impl Smp {
    /// Larger quanta are no side by side.
    pub(crate) const QUANTA: std::ops::RangeInclusive<Nanos> = Nanos(50)..=Nanos(1_000_000);

    /// Whether it is the usual machine.
    pub(crate) fn is_usual(&self) -> bool {
        *self == Smp::default()
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        let cpus = self.cpus;
        if !(1..=MOST_CPUS).contains(&(cpus as usize)) {
            let what = format!("the lab's machine has 1 to {MOST_CPUS} CPUs, not {cpus}");
            return Err(Problem::new("cpus", what));
        }
        if !Self::QUANTA.contains(&self.quantum) {
            let asked = duration::show(self.quantum);
            let what = format!("the quantum is 50 ns to 1 ms, not {asked}");
            return Err(Problem::new("quantum", what));
        }
        let there = match cpus - 1 {
            0 => "CPU 0 only".to_string(),
            last => format!("CPUs 0 to {last}"),
        };
        if let Some(cpu) = self.probe.filter(|cpu| *cpu >= cpus) {
            let what = format!("the probe cannot run on CPU {cpu}: the machine has {there}");
            return Err(Problem::new("probe_cpu", what));
        }
        if self.load.as_ref().is_some_and(CpuList::is_empty) {
            return Err(Problem::new("load_cpus", "the load needs a CPU; write it like 0-1"));
        }
        if let Some(cpu) = self.load.as_ref().and_then(|load| load.iter().find(|cpu| *cpu >= cpus)) {
            let what = format!("the load cannot run on CPU {cpu}: the machine has {there}");
            return Err(Problem::new("load_cpus", what));
        }
        Ok(())
    }

    /// The CPU that the probe measures on.
    pub fn probe_cpu(&self) -> u32 {
        self.probe.unwrap_or(self.cpus - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        let smp = |cpus, probe: Option<u32>, load: Option<&str>| Smp {
            cpus,
            probe,
            load: load.map(|list| list.parse().unwrap()),
            ..Smp::default()
        };
        let refused = |smp: Smp| smp.check().unwrap_err().what;
        assert!(refused(smp(17, None, None)).contains("1 to 16 CPUs, not 17"));
        assert!(refused(smp(2, Some(2), None)).contains("CPUs 0 to 1"));
        assert!(refused(smp(2, None, Some("0-2"))).contains("CPU 2"));
        assert!(refused(smp(2, None, Some(""))).contains("needs a CPU"));
        assert_eq!(
            refused(smp(1, Some(1), None)),
            "the probe cannot run on CPU 1: the machine has CPU 0 only"
        );
        assert_eq!(smp(4, Some(3), Some("0-2")).check(), Ok(()));
    }
}
