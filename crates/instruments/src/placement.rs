//! On a machine of several CPUs: where the probe measures and where the load runs.

use crate::cpus::CpuList;
use crate::sys::affinity;
use std::io;

/// Where probe and load run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    all: Vec<u32>,
    /// The probe's CPU.
    pub probe: u32,
    /// The load's.
    pub load: Vec<u32>,
}

impl Placement {
    /// On the CPUs of this machine; none if there is one only. What nobody asked for is the last CPU for the probe, and for
    /// the load all that are not isolated, or all if that leaves none.
    pub fn choose(probe: Option<u32>, load: Option<&CpuList>) -> io::Result<Option<Placement>> {
        let listed = |name: &str| {
            let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/{name}"));
            let list = text.ok().and_then(|text| text.trim().parse::<CpuList>().ok());
            list.unwrap_or_default()
        };
        let all = listed("online");
        if all.len() <= 1 {
            return Ok(None);
        }
        let others = all.without(&listed("isolated")).without(&listed("nohz_full"));
        Ok(Some(Placement::among(&all, others, probe, load)))
    }

    /// Among these CPUs, of which `others` are not isolated.
    pub fn among(all: &CpuList, others: CpuList, probe: Option<u32>, load: Option<&CpuList>) -> Placement {
        let usual = if others.is_empty() { all.clone() } else { others };
        let all: Vec<u32> = all.iter().collect();
        Placement {
            probe: probe.unwrap_or(all[all.len() - 1]),
            load: load.unwrap_or(&usual).iter().collect(),
            all,
        }
    }

    /// The calling thread goes where the load is to run: what it starts inherits that.
    pub fn enter_load(&self) -> io::Result<()> {
        affinity::set(&self.load)
    }

    /// The calling thread goes where the probe measures. It stays on that one CPU: the lab counts what that one executes
    /// from mark to mark.
    pub fn enter_probe(&self) -> io::Result<()> {
        affinity::set(&[self.probe])
    }

    /// All CPUs: those of a probe that is itself a load for all.
    pub fn all(&self) -> Vec<u32> {
        self.all.clone()
    }

    /// The probe's own and then all others: those of a probe that has threads there.
    pub fn probe_first(&self) -> Vec<u32> {
        let others = self.all.iter().copied().filter(|cpu| *cpu != self.probe);
        std::iter::once(self.probe).chain(others).collect()
    }

    /// The load's CPUs as text.
    pub fn load_list(&self) -> String {
        let words: Vec<String> = self.load.iter().map(u32::to_string).collect();
        words.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(probe: Option<u32>, load: Option<&str>, isolated: &[u32]) -> Placement {
        let all: CpuList = (0..4).collect();
        let others = all.without(&isolated.iter().copied().collect());
        let load = load.map(|list| list.parse().unwrap());
        Placement::among(&all, others, probe, load.as_ref())
    }

    #[test]
    fn the_probe_is_on_the_last_cpu_and_the_load_where_nothing_is_isolated() {
        let usual = placed(None, None, &[]);
        assert_eq!((usual.probe, usual.load.as_slice()), (3, &[0, 1, 2, 3][..]));
        assert_eq!(placed(None, None, &[2, 3]).load, [0, 1]);
        assert_eq!(placed(None, None, &[0, 1, 2, 3]).load, [0, 1, 2, 3]);
        let chosen = placed(Some(1), Some("0,2-3"), &[3]);
        assert_eq!((chosen.probe, chosen.load_list().as_str()), (1, "0,2,3"));
        assert_eq!(chosen.all(), [0, 1, 2, 3]);
        assert_eq!(chosen.probe_first(), [1, 0, 2, 3]);
        assert_eq!(usual.probe_first(), [3, 0, 1, 2]);
    }
}
