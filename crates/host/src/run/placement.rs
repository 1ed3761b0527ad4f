//! Chooses CPUs for a probe that asks for a placement.

use crate::facts::FileTree;
use crate::{CpuList, HostError};
use worstcase_contract::Probe;
use worstcase_contract::bench::{Bench, Placement};
use worstcase_contract::probe::CpuNeed;

/// How CPUs lie to each other.
#[derive(Clone, Debug)]
pub struct Topology(Vec<LogicalCpu>);

#[derive(Clone, Debug)]
struct LogicalCpu {
    cpu: u32,
    /// The CPUs of its core.
    core: CpuList,
    /// The CPUs that share its last-level cache.
    cache: CpuList,
}

impl Topology {
    /// Reads the topology of these CPUs. A CPU without topology files counts as a core of its own that shares no cache.
    pub(crate) fn read(tree: &FileTree, cpus: &[u32]) -> Topology {
        let place = |cpu: &u32| {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            let alone = || [*cpu].into_iter().collect::<CpuList>();
            let caches = tree.numbers(&format!("{folder}/cache"), "index");
            let level = |index: &u32| tree.value::<u32>(&format!("{folder}/cache/index{index}/level"));
            let last = caches.into_iter().max_by_key(|index| level(index));
            LogicalCpu {
                cpu: *cpu,
                core: tree
                    .value(&format!("{folder}/topology/thread_siblings_list"))
                    .unwrap_or_else(alone),
                cache: last
                    .and_then(|index| tree.value(&format!("{folder}/cache/index{index}/shared_cpu_list")))
                    .unwrap_or_else(alone),
            }
        };
        Topology(cpus.iter().map(place).collect())
    }

    /// The first two CPUs for which `wanted` accepts the second as a partner of the first.
    fn pair(&self, wanted: impl Fn(&LogicalCpu, u32) -> bool) -> Option<Vec<u32>> {
        let all = &self.0;
        let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (a, b.cpu)));
        pairs
            .filter(|(a, b)| a.cpu != *b)
            .find(|(a, b)| wanted(a, *b))
            .map(|(a, b)| vec![a.cpu, b])
    }
}

/// The CPUs for a probe; an error if this machine, or its usable part, has no such place.
pub fn place(bench: &Bench, topology: &Topology) -> Result<Vec<u32>, HostError> {
    let all: Vec<u32> = topology.0.iter().map(|place| place.cpu).collect();
    let first = |most: usize| all[..most.min(all.len())].to_vec();
    let none = |what: &str| {
        let cpus: CpuList = all.iter().copied().collect();
        HostError::Missing(format!(
            "{bench}: CPUs {cpus} have no {what}; choose another placement, or other --cpus"
        ))
    };
    match Probe::Bench(*bench).cpus() {
        CpuNeed::Ring(placement) => match placement {
            Placement::Same => Ok(all[..1].to_vec()),
            Placement::Free => Ok(all),
            Placement::Smt => topology
                .pair(|a, b| a.core.contains(b))
                .ok_or_else(|| none("two threads of one core")),
            Placement::Cache => topology
                .pair(|a, b| a.cache.contains(b) && !a.core.contains(b))
                .ok_or_else(|| none("two cores that share a cache")),
            Placement::Across => topology
                .pair(|a, b| !a.cache.contains(b) && !a.core.contains(b))
                .ok_or_else(|| none("two cores without a common cache")),
        },
        CpuNeed::All => Ok(all),
        CpuNeed::Exactly(n) if n <= all.len() => Ok(first(n)),
        CpuNeed::Exactly(n) => Err(none(&format!("{n} of them"))),
        CpuNeed::First(n) => Ok(first(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages of two cores with two threads each.
    fn topology() -> Topology {
        let place = |cpu: u32| LogicalCpu {
            cpu,
            core: [cpu % 4, cpu % 4 + 4].into_iter().collect(),
            cache: (0..8).filter(|c| c % 4 / 2 == cpu % 4 / 2).collect(),
        };
        Topology((0..8).map(place).collect())
    }

    fn cpus(probe: &str, topology: &Topology) -> Result<Vec<u32>, String> {
        place(&worstcase_contract::names::parse(probe).unwrap(), topology).map_err(|e| e.to_string())
    }

    #[test]
    fn rings_lie_where_they_are_asked_to() {
        let t = topology();
        assert_eq!(cpus("switch:2x0", &t), Ok(vec![0]));
        assert_eq!(cpus("switch:2x0+smt", &t), Ok(vec![0, 4]));
        assert_eq!(cpus("switch:2x0+cache", &t), Ok(vec![0, 1]));
        assert_eq!(cpus("switch:2x0+across", &t), Ok(vec![0, 2]));
        assert_eq!(cpus("hackbench:1+cpus2", &t), Ok(vec![0, 1]));
        assert_eq!(cpus("hackbench:1", &t), Ok((0..8).collect()));
        assert_eq!(cpus("remote+pipe", &t), Ok(vec![0, 1]));
        assert_eq!(cpus("shootdown:0", &t), Ok(vec![0]));
        assert_eq!(cpus("shootdown:3", &t), Ok(vec![0, 1, 2, 3]));
        assert_eq!(cpus("shootdown:15", &t), Ok((0..8).collect()));
    }

    #[test]
    fn a_place_that_is_not_there_is_refused() {
        let one = Topology(topology().0[..1].to_vec());
        for (probe, says) in [
            ("switch:2x0+smt", "CPUs 0 have no two threads of one core"),
            ("switch:2x0+across", "no two cores without a common cache"),
            ("hackbench:1+cpus2", "no 2 of them"),
        ] {
            let error = cpus(probe, &one).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
