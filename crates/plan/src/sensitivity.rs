//! The same cell on other machines: does its result hold there?

use crate::{BootParameters, CpuModel, PlannedCell, VirtualMachine};
use worstcase_contract::{CellSpec, Nanos};
use worstcase_instruments::sys::rtc;

/// The varied property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VariedProperty {
    /// The cell as it was measured.
    Nothing,
    /// Memory of the machine.
    Memory,
    /// Whether the kernel's random generator is ready.
    Random,
    /// CPU of the machine.
    Cpu,
    /// Virtual CPU speed.
    Mips,
    /// The interval.
    Interval,
    /// Phase of the due times against the kernel's tick; the seeds decide it.
    Phase,
}

/// One way in which the cell is varied, and its cells, one for each seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The property that differs.
    pub property: VariedProperty,
    /// Its value.
    pub value: String,
    /// The cells.
    pub cells: Vec<PlannedCell>,
}

/// Boot parameters that leave the random generator without entropy.
const STARVED: &str = "random.trust_cpu=off random.trust_bootloader=off";
const MEMORY_MB: [u32; 4] = [256, 512, 1_024, 2_048];
/// Intervals that do not divide a tick of 1, 4 or 10 ms.
const INTERVALS: [Nanos; 3] = [
    Nanos::from_micros(251),
    Nanos::from_micros(499),
    Nanos::from_micros(997),
];

impl VariedProperty {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            VariedProperty::Nothing => "as measured",
            VariedProperty::Memory => "memory",
            VariedProperty::Random => "random generator",
            VariedProperty::Cpu => "CPU",
            VariedProperty::Mips => "speed",
            VariedProperty::Interval => "interval",
            VariedProperty::Phase => "phase",
        }
    }
}

/// All variations of a cell, the cell itself first, each over seeds 1 to `seeds`. One property is varied at a time.
pub fn variations(cell: &PlannedCell, seeds: u32) -> Vec<Variation> {
    let own = &cell.machine;
    let over = |machine: VirtualMachine, spec: CellSpec, first: u64| {
        let seeds = first..first + u64::from(seeds);
        let of_seed = |seed| PlannedCell {
            machine: machine.clone(),
            spec: CellSpec { seed, ..spec.clone() },
            ..cell.clone()
        };
        seeds.map(of_seed).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    let mut add = |property, value: String, machine: VirtualMachine, spec: CellSpec, first: u64| {
        let cells = over(machine, spec, first);
        all.push(Variation { property, value, cells });
    };
    let spec = || cell.spec.clone();
    add(VariedProperty::Nothing, String::new(), own.clone(), spec(), 1);
    for memory_mb in MEMORY_MB.into_iter().filter(|mb| *mb != own.memory_mb) {
        let other = VirtualMachine {
            memory_mb,
            ..own.clone()
        };
        add(VariedProperty::Memory, format!("{memory_mb} MB"), other, spec(), 1);
    }
    if let Some(append) = starved(&own.append) {
        let other = VirtualMachine { append, ..own.clone() };
        add(VariedProperty::Random, "starved".into(), other, spec(), 1);
    }
    // A kernel with larger pages stays silent on a CPU without them.
    let may_be = |cpu: &CpuModel| cpu.arch() == own.arch() && (cpu.has_16k_pages() || !own.cpu.has_16k_pages());
    for cpu in CpuModel::ALL.into_iter().filter(|cpu| *cpu != own.cpu && may_be(cpu)) {
        let other = VirtualMachine { cpu, ..own.clone() };
        add(VariedProperty::Cpu, cpu.to_string(), other, spec(), 1);
    }
    for mips in [1_000, 500].into_iter().filter(|mips| *mips != own.mips) {
        let other = VirtualMachine { mips, ..own.clone() };
        add(VariedProperty::Mips, format!("{mips} MIPS"), other, spec(), 1);
    }
    if cell.spec.probe.awaits_timer() {
        let possible = |period| match cell.spec.probe.info().ticks_as_rtc_in_lab {
            true => rtc::nearest(period),
            false => period,
        };
        for period in INTERVALS
            .map(possible)
            .into_iter()
            .filter(|period| *period != cell.spec.period)
        {
            let value = format!("{} us", period.0 / 1_000);
            add(
                VariedProperty::Interval,
                value,
                own.clone(),
                CellSpec { period, ..spec() },
                1,
            );
        }
    }
    let value = format!("seeds {} to {}", seeds + 1, 2 * seeds);
    add(VariedProperty::Phase, value, own.clone(), spec(), u64::from(seeds) + 1);
    all
}

/// Parameters that starve the random generator of entropy; none if these do so already, or if there is no room for more.
fn starved(own: &BootParameters) -> Option<BootParameters> {
    let is_starved = own.words().any(|word| word == "random.trust_cpu=off");
    (!is_starved).then(|| format!("{own} {STARVED}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Smp;
    use worstcase_contract::Probe;

    #[test]
    fn one_property_at_a_time_is_another() {
        let cell = PlannedCell {
            kernel: "debian:6.1".into(),
            preempt: "full".into(),
            machine: VirtualMachine {
                smp: Smp {
                    cpus: 2,
                    ..Smp::default()
                },
                ..VirtualMachine::default()
            },
            spec: CellSpec {
                probe: Probe::Wakeup,
                load: "shm".into(),
                period: Nanos::from_micros(251),
                periods: 1_000,
                seed: 7,
                warmup: Nanos(0),
                priority: 98,
            },
        };
        let all = variations(&cell, 3);
        assert_eq!(all[0].cells.iter().map(|c| c.spec.seed).collect::<Vec<_>>(), [1, 2, 3]);
        for variation in &all[1..] {
            let first = &variation.cells[0];
            assert_eq!(first.machine.smp, cell.machine.smp);
            let (machine, spec) = (first.machine == cell.machine, first.spec.period == cell.spec.period);
            assert_eq!(
                u8::from(!machine) + u8::from(!spec) + u8::from(first.spec.seed != 1),
                1,
                "{variation:?}"
            );
        }
        let named: Vec<String> = all
            .iter()
            .map(|v| format!("{} {}", v.property.name(), v.value))
            .collect();
        assert_eq!(
            named,
            [
                "as measured ",
                "memory 256 MB",
                "memory 512 MB",
                "memory 2048 MB",
                "random generator starved",
                "CPU max",
                "CPU skylake",
                "speed 500 MIPS",
                "interval 499 us",
                "interval 997 us",
                "phase seeds 4 to 6",
            ]
        );
    }
}
