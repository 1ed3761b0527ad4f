//! What no tracepoint tells of the CPUs: names of idle states, the frequencies at the beginning, and what a hypervisor takes.

use super::session::LOOK;
use crate::facts::FileTree;
use crate::facts::power::states;
use crate::machine;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_traces::events::{CpuEvent, ENDED, ShortName, TracedChange};

/// The kernel's own states, where no driver has others.
const WITHOUT_DRIVER: [&str; 2] = ["POLL", "halt"];

/// Watches these CPUs.
pub(super) struct CpuWatch {
    cpus: Vec<u32>,
    /// What was taken from each when that was read last; empty where there is no hypervisor.
    taken: Vec<Option<Nanos>>,
    looked: Nanos,
}

impl CpuWatch {
    pub fn new(cpus: &[u32], is_guest: bool, now: Nanos) -> CpuWatch {
        CpuWatch {
            cpus: cpus.to_vec(),
            taken: if is_guest { machine::steal(cpus) } else { Vec::new() },
            looked: now,
        }
    }

    /// Names of each CPU's idle states.
    pub fn idle_states(&self, tree: &FileTree) -> BTreeMap<u32, Vec<ShortName>> {
        let names = |cpu: &u32| {
            let known: Vec<ShortName> = states(tree, *cpu)
                .iter()
                .map(|state| state.name.as_str().into())
                .collect();
            match known.is_empty() {
                true => (*cpu, WITHOUT_DRIVER.map(ShortName::from).to_vec()),
                false => (*cpu, known),
            }
        };
        self.cpus.iter().map(names).collect()
    }

    /// Their frequencies now, where they are told.
    pub fn frequencies(&self, tree: &FileTree) -> Vec<CpuEvent<'static>> {
        let frequency = |cpu: &u32| {
            let khz = tree.value(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"))?;
            Some(event(self.looked, *cpu, TracedChange::Frequency { cpu: *cpu, khz }))
        };
        self.cpus.iter().filter_map(frequency).collect()
    }

    /// Until when all is known, if the trace is until an instant.
    pub fn known(&self, reached: Nanos) -> Nanos {
        match self.taken.is_empty() {
            true => reached,
            false => reached.min(self.looked),
        }
    }

    /// What a hypervisor took since this was asked last, if that is a while ago. It is told as of then: a cycle that ended
    /// meanwhile is not explained yet.
    pub fn stolen(&mut self, now: Nanos) -> Vec<CpuEvent<'static>> {
        if self.taken.is_empty() || now < self.looked + LOOK {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.taken, machine::steal(&self.cpus));
        let since = std::mem::replace(&mut self.looked, now);
        told(&self.cpus, &machine::steal_between(&before, &self.taken), since, now)
    }
}

fn told(cpus: &[u32], taken: &[Option<Nanos>], since: Nanos, until: Nanos) -> Vec<CpuEvent<'static>> {
    let of_cpu = cpus.iter().zip(taken).filter_map(|(cpu, taken)| {
        let time = taken.filter(|time| *time > Nanos(0))?;
        Some(event(since, *cpu, TracedChange::Stolen { until, time }))
    });
    of_cpu.collect()
}

fn event(at: Nanos, cpu: u32, what: TracedChange) -> CpuEvent<'static> {
    CpuEvent {
        at,
        cpu,
        tid: ENDED,
        what,
        chain: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_states_and_frequencies_have_the_names_and_values_of_each_cpu() {
        let root = tempfile::tempdir().unwrap();
        let cpu0 = root.path().join("sys/devices/system/cpu/cpu0");
        for (nth, name) in ["POLL", "C1", "C6"].iter().enumerate() {
            let folder = cpu0.join(format!("cpuidle/state{nth}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("name"), name).unwrap();
            std::fs::write(folder.join("latency"), "1").unwrap();
        }
        std::fs::create_dir_all(cpu0.join("cpufreq")).unwrap();
        std::fs::write(cpu0.join("cpufreq/scaling_cur_freq"), "800000\n").unwrap();
        let tree = FileTree::at(root.path());
        let watch = CpuWatch::new(&[0, 1], false, Nanos(5));
        let names = watch.idle_states(&tree);
        assert_eq!(names[&0], ["POLL", "C1", "C6"].map(ShortName::from));
        assert_eq!(names[&1], WITHOUT_DRIVER.map(ShortName::from));
        let told: Vec<_> = watch
            .frequencies(&tree)
            .iter()
            .map(|event| (event.cpu, event.what))
            .collect();
        assert_eq!(told, [(0, TracedChange::Frequency { cpu: 0, khz: 800_000 })]);
    }

    #[test]
    fn only_who_lost_time_is_told_of_and_as_of_the_last_look() {
        let taken = [Some(Nanos(0)), Some(Nanos(20)), None];
        let events = told(&[0, 1, 2], &taken, Nanos(100), Nanos(200));
        let told: Vec<_> = events.iter().map(|event| (event.at, event.cpu, event.what)).collect();
        let stolen = TracedChange::Stolen {
            until: Nanos(200),
            time: Nanos(20),
        };
        assert_eq!(told, [(Nanos(100), 1, stolen)]);
    }

    #[test]
    fn it_looks_after_a_while_and_not_without_a_hypervisor() {
        let mut watch = CpuWatch::new(&[0], false, Nanos(0));
        assert!(watch.stolen(LOOK + LOOK).is_empty() && watch.looked == Nanos(0));
        let mut guest = CpuWatch::new(&[0], true, Nanos(0));
        guest.stolen(Nanos(1));
        assert_eq!(guest.looked, Nanos(0));
        guest.stolen(LOOK);
        assert_eq!(guest.looked, LOOK);
    }
}
