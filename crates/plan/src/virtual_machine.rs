//! The lab's virtual machine, as far as a subject can choose it.

use crate::parameters::of_machine;
use crate::{Arch, CpuScheduler, DiskSpec, IoScheduler, Problem, Smp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use worstcase_cell::order::{MachineOrder, Order};
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::policy::ProbePolicy;
use worstcase_contract::priorities::ThreadPriorities;
use worstcase_contract::spec::SpecError;
use worstcase_contract::{CellSpec, Device, Probe, Venue};

/// Virtual CPU speed unless another is asked for.
pub(crate) const DEFAULT_MIPS: u32 = 1_000;
/// Memory of the lab's machine unless another size is asked for. With 256 MiB the kernel's lists of free pages are so
/// short that their refills dominate the latency.
pub(crate) const DEFAULT_MEMORY_MB: u32 = 1_024;

/// A virtual machine. Each further difference between machines becomes a field here and a row of
/// [`crate::parameters`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VirtualMachine {
    /// Virtual CPU speed, million instructions a virtual second.
    pub mips: u32,
    /// Memory.
    pub memory_mb: u32,
    /// CPU.
    pub cpu: CpuModel,
    /// Its CPUs, if not one.
    #[serde(default, skip_serializing_if = "Smp::is_usual")]
    pub smp: Smp,
    /// Boot parameters beside those of every subject.
    #[serde(default, skip_serializing_if = "BootParameters::is_empty")]
    pub append: BootParameters,
    /// Priorities of the kernel's threads, if not those that it gives them.
    #[serde(default, skip_serializing_if = "ThreadPriorities::is_empty")]
    pub chrt: ThreadPriorities,
    /// The scheduler of tasks, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<CpuScheduler>,
    /// The probe's policy: that of the part ([`crate::Method`]); absent where it is the probe's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<ProbePolicy>,
    /// Devices that only some probes and loads need.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub devices: BTreeSet<Device>,
    /// A disk in virtual time, for the probes that work with files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskSpec>,
    /// Its I/O scheduler, if not the one that the kernel chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_scheduler: Option<IoScheduler>,
}

/// A CPU that the machine can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CpuModel {
    /// All that QEMU can emulate: no CPU that exists.
    Max,
    /// Intel, 2017: kernels keep user and kernel page tables apart.
    Skylake,
    /// AMD, 2019.
    #[default]
    Rome,
    /// ARM, 2012: small cores of boards (Pi 3, i.MX8, Zynq).
    #[serde(rename = "cortex-a53")]
    CortexA53,
    /// ARM, 2015 (Pi 4).
    #[serde(rename = "cortex-a72")]
    CortexA72,
    /// ARM, 2018 (Pi 5).
    #[serde(rename = "cortex-a76")]
    CortexA76,
    /// ARM, 2019: servers.
    #[serde(rename = "neoverse-n1")]
    NeoverseN1,
}

/// Words for the kernel's command line, with single blanks in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BootParameters(String);

impl Default for VirtualMachine {
    fn default() -> VirtualMachine {
        VirtualMachine {
            mips: DEFAULT_MIPS,
            memory_mb: DEFAULT_MEMORY_MB,
            cpu: CpuModel::default(),
            smp: Smp::default(),
            append: BootParameters::default(),
            chrt: ThreadPriorities::default(),
            scheduler: None,
            policy: None,
            devices: BTreeSet::new(),
            disk: None,
            io_scheduler: None,
        }
    }
}

impl VirtualMachine {
    /// Virtual CPU speeds: virtual time counts powers of two.
    pub(crate) const MIPS: [u32; 4] = [1_000, 500, 250, 125];
    /// Smallest memory in which the kernels of the archive boot with their initramfs, in MiB.
    pub(crate) const MIN_MEMORY_MB: u32 = 192;
    /// Most memory, in MiB: all of it below the PCI hole, so that it is one file.
    pub(crate) const MAX_MEMORY_MB: u32 = 2_048;

    /// Its architecture: that of its CPU.
    pub const fn arch(&self) -> Arch {
        self.cpu.arch()
    }

    /// Makes it one of another architecture, with its usual CPU.
    pub fn set_arch(&mut self, arch: Arch) {
        if self.arch() != arch {
            self.cpu = arch.usual_cpu();
        }
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        if !Self::MIPS.contains(&self.mips) {
            let what = format!("mips is 1000, 500, 250 or 125, not {}", self.mips);
            return Err(Problem::new("mips", what));
        }
        let (min, max) = (Self::MIN_MEMORY_MB, Self::MAX_MEMORY_MB);
        if !(min..=max).contains(&self.memory_mb) {
            let what = format!("memory is {min} to {max} MiB, not {}", self.memory_mb);
            return Err(Problem::new("memory_mb", what));
        }
        self.smp.check()
    }

    fn order(&self, modules: Vec<String>) -> MachineOrder {
        MachineOrder {
            probe_cpu: self.smp.probe,
            load_cpus: self.smp.load.clone(),
            policy: self.policy.unwrap_or_default().order(),
            priorities: self.chrt.by_name().to_vec(),
            disk: self.disk.is_some(),
            io_scheduler: self.io_scheduler.as_ref().map(IoScheduler::to_string),
            modules,
            program: Vec::new(),
            stops_when_warm: false,
        }
    }

    /// The order for a fork of the machine that measures this cell.
    pub fn order_of(&self, cell: &CellSpec) -> Result<Order, SpecError> {
        let load: LoadSpec = cell.load.parse()?;
        let modules = load.modules().into_iter().chain(cell.probe.modules().iter().copied());
        let machine = self.order(modules.map(str::to_string).collect());
        Ok(Order::Measure(cell.order(Venue::Lab)?, machine))
    }

    /// The differences from the usual machine, for names: `500mips`, `2048mb`, `skylake`, `threadirqs`,
    /// `ktimers-90`, `o-1`.
    pub fn unusual(&self) -> Vec<String> {
        let mut words: Vec<String> = of_machine().flat_map(|(_, field)| (field.label)(self)).collect();
        words.extend(self.policy.map(|policy| policy.to_string().replace(':', "-nice")));
        words.extend(self.devices.iter().map(|device| device.name().to_string()));
        words
    }
}

impl fmt::Display for VirtualMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut phrases: Vec<String> = of_machine().map(|(_, field)| (field.phrase)(self)).collect();
        phrases.extend(self.policy.map(|policy| format!("policy {policy}")));
        phrases.extend(self.devices.iter().map(|device| device.name().to_string()));
        phrases.retain(|phrase| !phrase.is_empty());
        f.write_str(&phrases.join(", "))
    }
}

/// The devices that a probe under a load needs.
pub(crate) fn needed_devices(probe: Probe, load: &str) -> BTreeSet<Device> {
    let load: Option<LoadSpec> = load.parse().ok();
    let of_load = load.iter().flat_map(LoadSpec::devices);
    of_load.chain(probe.device()).collect()
}

impl CpuModel {
    /// All.
    pub(crate) const ALL: [CpuModel; 7] = [
        CpuModel::Max,
        CpuModel::Skylake,
        CpuModel::Rome,
        CpuModel::CortexA53,
        CpuModel::CortexA72,
        CpuModel::CortexA76,
        CpuModel::NeoverseN1,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            CpuModel::Max => "max",
            CpuModel::Skylake => "skylake",
            CpuModel::Rome => "rome",
            CpuModel::CortexA53 => "cortex-a53",
            CpuModel::CortexA72 => "cortex-a72",
            CpuModel::CortexA76 => "cortex-a76",
            CpuModel::NeoverseN1 => "neoverse-n1",
        }
    }

    /// Its architecture.
    pub const fn arch(self) -> Arch {
        match self {
            CpuModel::Max | CpuModel::Skylake | CpuModel::Rome => Arch::X86,
            CpuModel::CortexA53 | CpuModel::CortexA72 | CpuModel::CortexA76 | CpuModel::NeoverseN1 => Arch::Arm64,
        }
    }

    /// Whether it has pages of 16 KiB.
    pub const fn has_16k_pages(self) -> bool {
        matches!(self, CpuModel::CortexA76 | CpuModel::NeoverseN1)
    }
}

impl fmt::Display for CpuModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CpuModel {
    type Err = String;
    fn from_str(word: &str) -> Result<CpuModel, String> {
        let known = CpuModel::ALL.into_iter().find(|cpu| cpu.name() == word);
        known.ok_or_else(|| {
            format!(
                "'{}' is not one of {}",
                word.escape_debug(),
                CpuModel::ALL.map(CpuModel::name).join(", ")
            )
        })
    }
}

impl BootParameters {
    /// The length that fits into the kernel's 2048 bytes beside the parameters of every subject.
    const MAX_LEN: usize = 1_024;
    /// Parameters that another option sets, and those without which the lab does not work.
    const TAKEN: [(&'static str, &'static str); 4] = [
        ("preempt", "use --preempt (in a study: preempt)"),
        ("rdinit", "the lab's init is needed"),
        ("console", "the lab reads the kernel's console"),
        ("panic", "a panic ends the machine"),
    ];

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split_ascii_whitespace()
    }
}

impl fmt::Display for BootParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for BootParameters {
    type Err = String;
    fn from_str(text: &str) -> Result<BootParameters, String> {
        let shown = text.escape_debug();
        if !text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            return Err(format!("boot parameters are printable ASCII, not '{shown}'"));
        }
        if text.len() > Self::MAX_LEN {
            return Err(format!(
                "boot parameters are at most {} bytes, not {}",
                Self::MAX_LEN,
                text.len()
            ));
        }
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        for word in &words {
            let name = word.split_once('=').map_or(*word, |(name, _)| name);
            if let Some((_, remedy)) = Self::TAKEN.iter().find(|(taken, _)| *taken == name) {
                return Err(format!("the boot parameter '{word}' cannot be given: {remedy}"));
            }
        }
        Ok(BootParameters(words.join(" ")))
    }
}

worstcase_contract::text_form!(BootParameters);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unusual_is_named() {
        assert_eq!(VirtualMachine::default().unusual(), [""; 0]);
        let machine = VirtualMachine {
            mips: 500,
            memory_mb: 2_048,
            cpu: CpuModel::Skylake,
            append: " nohz=off  threadirqs".parse().unwrap(),
            chrt: "ktimers=90,irq=50".parse().unwrap(),
            scheduler: Some("o-1".parse().unwrap()),
            policy: Some("other:-5".parse().unwrap()),
            ..VirtualMachine::default()
        };
        assert_eq!(
            machine.unusual(),
            [
                "500mips",
                "2048mb",
                "skylake",
                "nohz=off threadirqs",
                "ktimers-90+irq-50",
                "o-1",
                "other-nice-5"
            ]
        );
        assert_eq!(
            machine.to_string(),
            "500 MIPS, 2048 MB, CPU skylake, 'nohz=off threadirqs', ktimers=90,irq=50, scheduler o-1, policy other:-5"
        );
    }

    #[test]
    fn a_machine_has_the_disks_that_its_load_reads() {
        let of = |load| Vec::from_iter(needed_devices(Probe::Wakeup, load));
        assert_eq!(of("blockread:null+cpu"), []);
        assert_eq!(of("cpu+blockread:ide-pio"), [Device::IdePio]);
        assert_eq!(
            of("blockread:virtio+blockread:ide-pio"),
            [Device::IdePio, Device::Virtio]
        );
        assert_eq!(serde_json::to_value(Device::IdePio).unwrap(), "ide-pio");
    }

    #[test]
    fn boot_parameters_that_cannot_be_are_refused() {
        let refused = |text: &str| text.parse::<BootParameters>().unwrap_err();
        assert!(refused("preempt=full").contains("--preempt"));
        assert!(refused("a\nb").contains("printable"));
        assert!(refused(&"x".repeat(2_000)).contains("at most 1024 bytes"));
        assert!("".parse::<BootParameters>().unwrap().is_empty());
    }

    #[test]
    fn an_unknown_cpu_is_told_what_there_is() {
        let error = "pentium".parse::<CpuModel>().unwrap_err();
        assert_eq!(
            error,
            "'pentium' is not one of max, skylake, rome, cortex-a53, cortex-a72, cortex-a76, neoverse-n1"
        );
    }
}
