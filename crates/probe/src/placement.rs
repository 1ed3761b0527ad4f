//! On a machine of several CPUs: where the probe measures and where the load runs.

use crate::cpus::CpuList;
use crate::policy::ProbePolicy;
use crate::priorities::Priorities;
use crate::probe::Probe;
use crate::spec::SpecError;
use crate::sys::affinity;
use crate::units::Nanos;
use std::fmt;
use std::io;

/// Most CPUs of the lab's machine.
pub const MOST_CPUS: usize = 16;

/// How far one CPU of the lab may be ahead of another unless somebody says.
pub const DEFAULT_QUANTUM: Nanos = Nanos(1_000);

/// What a cell's text asks for of the machine: `probe_cpu=1 load_cpus=0,2-3 policy=other:5 chrt=ktimers=90 disk=yes
/// io_scheduler=bfq`,
/// each optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The probe's CPU.
    pub probe: Option<u32>,
    /// The load's.
    pub load: Option<CpuList>,
    /// The probe's.
    pub policy: ProbePolicy,
    /// Of the kernel's threads.
    pub priorities: Priorities,
    /// Files are on the machine's disk.
    pub disk: bool,
    /// That disk's scheduler, with its settings.
    pub io_scheduler: Option<String>,
}

impl fmt::Display for Asked {
    /// The beginning of a cell's text; nothing if nothing is asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cpu) = self.probe {
            write!(f, "probe_cpu={cpu} ")?;
        }
        if let Some(cpus) = &self.load {
            write!(f, "load_cpus={cpus} ")?;
        }
        if !self.policy.is_usual() {
            write!(f, "policy={} ", self.policy)?;
        }
        if !self.priorities.is_empty() {
            write!(f, "chrt={} ", self.priorities)?;
        }
        if self.disk {
            f.write_str("disk=yes ")?;
        }
        match &self.io_scheduler {
            None => Ok(()),
            Some(scheduler) => write!(f, "io_scheduler={scheduler} "),
        }
    }
}

/// Where probe and load run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    all: Vec<u32>,
    /// The probe's CPU.
    pub probe: u32,
    /// The load's.
    pub load: Vec<u32>,
}

impl Asked {
    /// From a cell's text; other words are left alone.
    pub fn of_cell(text: &str) -> Result<Asked, SpecError> {
        let head = text.split_once(" load=").map_or(text, |(head, _)| head);
        let mut asked = Asked::default();
        for (key, value) in head.split(' ').filter_map(|word| word.split_once('=')) {
            let bad = || SpecError(format!("{key} is not a list of CPUs: '{value}'"));
            match key {
                "probe_cpu" => asked.probe = Some(value.parse().map_err(|_| bad())?),
                "load_cpus" => asked.load = Some(value.parse().map_err(|_| bad())?),
                "policy" => asked.policy = value.parse()?,
                "chrt" => asked.priorities = value.parse()?,
                "disk" => asked.disk = true,
                "io_scheduler" => asked.io_scheduler = Some(value.into()),
                _ => {}
            }
        }
        Ok(asked)
    }

    /// On the CPUs of this machine; none if there is one only. What nobody asked for is the last CPU for the probe, and for
    /// the load all that are not isolated, or all if that leaves none.
    pub fn place(self) -> io::Result<Option<Placement>> {
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
    fn among(self, all: &CpuList, others: CpuList) -> Placement {
        let usual = if others.is_empty() { all.clone() } else { others };
        let all: Vec<u32> = all.iter().collect();
        Placement {
            probe: self.probe.unwrap_or(all[all.len() - 1]),
            load: self.load.unwrap_or(usual).iter().collect(),
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
    pub fn spread(&self, probe: Probe) -> Vec<u32> {
        if probe.is_spread() {
            return self.all.clone();
        }
        if probe.has_helpers() {
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

    fn placed(text: &str, isolated: &[u32]) -> Placement {
        let all: CpuList = (0..4).collect();
        let others = all.without(&isolated.iter().copied().collect());
        Asked::of_cell(text).unwrap().among(&all, others)
    }

    #[test]
    fn the_probe_is_on_the_last_cpu_and_the_load_where_nothing_is_isolated() {
        let cell = "probe=wakeup seed=1 load=cmd:a load_cpus=1";
        let usual = placed(cell, &[]);
        assert_eq!((usual.probe, usual.load.as_slice()), (3, &[0, 1, 2, 3][..]));
        assert_eq!(placed(cell, &[2, 3]).load, [0, 1]);
        assert_eq!(placed(cell, &[0, 1, 2, 3]).load, [0, 1, 2, 3]);
        let asked = placed("probe=wakeup probe_cpu=1 load_cpus=0,2-3 load=idle", &[3]);
        assert_eq!((asked.probe, asked.load_list().as_str()), (1, "0,2,3"));
        assert_eq!(asked.spread("hackbench:1".parse().unwrap()), [0, 1, 2, 3]);
        assert_eq!(asked.spread("switch:2x0".parse().unwrap()), [0; 0]);
        assert_eq!(asked.spread("inversion:1".parse().unwrap()), [0; 0]);
        for probe in ["remote+futex", "shootdown:1"] {
            assert_eq!(asked.spread(probe.parse().unwrap()), [1, 0, 2, 3]);
            assert_eq!(usual.spread(probe.parse().unwrap()), [3, 0, 1, 2]);
        }
    }

    #[test]
    fn what_is_asked_is_read_back() {
        let asked = Asked {
            probe: Some(1),
            load: Some("0,2-3".parse().unwrap()),
            policy: "other:-5".parse().unwrap(),
            priorities: "ktimers=90,irq/7=0".parse().unwrap(),
            disk: true,
            io_scheduler: Some("bfq{slice_idle=0}".into()),
        };
        assert_eq!(
            asked.to_string(),
            "probe_cpu=1 load_cpus=0,2-3 policy=other:-5 chrt=ktimers=90,irq/7=0 disk=yes io_scheduler=bfq{slice_idle=0} "
        );
        assert_eq!(Asked::of_cell(&format!("{asked}probe=wakeup load=idle")), Ok(asked));
        assert_eq!(Asked::default().to_string(), "");
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for bad in [
            "probe_cpu=x load=a",
            "load_cpus=1-x load=a",
            "load_cpus=, load=a",
            "load_cpus=0 load_cpus=a load=a",
            "chrt=ktimers load=a",
        ] {
            assert!(Asked::of_cell(bad).is_err(), "{bad}");
        }
    }
}
