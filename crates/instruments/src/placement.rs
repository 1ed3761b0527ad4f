//! On a machine of several CPUs: where the probe measures and where the load runs.

use crate::cpus::CpuList;
use crate::order::{Instrument, MachineOrder};
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

impl MachineOrder {
    /// On the CPUs of this machine; none if there is one only. What nobody asked for is the last CPU for the probe, and for
    /// the load all that are not isolated, or all if that leaves none.
    pub fn place(&self) -> io::Result<Option<Placement>> {
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
        Ok(Some(self.among(&all, others)))
    }

    /// `others` are those that are not isolated.
    fn among(&self, all: &CpuList, others: CpuList) -> Placement {
        let usual = if others.is_empty() { all.clone() } else { others };
        let all: Vec<u32> = all.iter().collect();
        Placement {
            probe: self.probe_cpu.unwrap_or(all[all.len() - 1]),
            load: self.load_cpus.as_ref().unwrap_or(&usual).iter().collect(),
            all,
        }
    }
}

impl Placement {
    /// The calling thread goes where the load is to run: what it starts inherits that.
    pub fn enter_load(&self) -> io::Result<()> {
        affinity::set(&self.load)
    }

    /// The calling thread goes where the probe measures. It stays on that one CPU: the lab counts what that one executes
    /// from mark to mark.
    pub fn enter_probe(&self) -> io::Result<()> {
        affinity::set(&[self.probe])
    }

    /// The CPUs of this probe: all, if it is itself a load for all; its own and then all others, if it has threads there; none
    /// if all that it starts stays with it.
    pub fn spread(&self, instrument: Instrument) -> Vec<u32> {
        let Instrument::Bench(bench) = instrument else {
            return Vec::new();
        };
        if bench.is_spread() {
            return self.all.clone();
        }
        if bench.has_helpers() {
            let others = self.all.iter().copied().filter(|cpu| *cpu != self.probe);
            return std::iter::once(self.probe).chain(others).collect();
        }
        Vec::new()
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
    use crate::bench::{Bench, Hackbench, Pick, Remote, Shootdown, Transport, Via};

    fn placed(order: &MachineOrder, isolated: &[u32]) -> Placement {
        let all: CpuList = (0..4).collect();
        let others = all.without(&isolated.iter().copied().collect());
        order.among(&all, others)
    }

    #[test]
    fn the_probe_is_on_the_last_cpu_and_the_load_where_nothing_is_isolated() {
        let nobody = MachineOrder::default();
        let usual = placed(&nobody, &[]);
        assert_eq!((usual.probe, usual.load.as_slice()), (3, &[0, 1, 2, 3][..]));
        assert_eq!(placed(&nobody, &[2, 3]).load, [0, 1]);
        assert_eq!(placed(&nobody, &[0, 1, 2, 3]).load, [0, 1, 2, 3]);
        let order = MachineOrder {
            probe_cpu: Some(1),
            load_cpus: Some("0,2-3".parse().unwrap()),
            ..MachineOrder::default()
        };
        let chosen = placed(&order, &[3]);
        assert_eq!((chosen.probe, chosen.load_list().as_str()), (1, "0,2,3"));
        let spread = |placement: &Placement, bench| placement.spread(Instrument::Bench(bench));
        let hackbench = Hackbench {
            groups: 1,
            pairs: 1,
            messages: 1,
            size: 1,
            transport: Transport::Pipes,
            threads: false,
            cpus: 0,
            pinned: false,
            latency: false,
        };
        assert_eq!(spread(&chosen, Bench::Hackbench(hackbench)), [0, 1, 2, 3]);
        assert_eq!(spread(&chosen, Bench::Pick(Pick { tasks: 1 })), [0; 0]);
        assert_eq!(chosen.spread(Instrument::Wakeup), [0; 0]);
        for bench in [
            Bench::Remote(Remote { via: Via::Futex }),
            Bench::Shootdown(Shootdown { threads: 1, pages: 16 }),
        ] {
            assert_eq!(spread(&chosen, bench), [1, 0, 2, 3]);
            assert_eq!(spread(&usual, bench), [3, 0, 1, 2]);
        }
    }
}
