//! The virtual machine: its speed, and QEMU's arguments that shape it.

use super::LabError;
use super::board;
use std::fmt;
use std::str::FromStr;
use worstcase_contract::Device;
use worstcase_contract::Nanos;
use worstcase_plan::{CpuModel, VirtualMachine};

/// Virtual CPU speed. Under `-icount shift=N` an instruction takes 2^N ns of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mips(u32);

impl Mips {
    /// The possible speeds, fastest first.
    pub const ALL: [Mips; 4] = [Mips(1000), Mips(500), Mips(250), Mips(125)];

    /// QEMU's `shift`.
    pub fn shift(self) -> u32 {
        (1000 / self.0).trailing_zeros()
    }

    /// Millions of instructions a virtual second.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Virtual time of so many instructions.
    pub fn time_of(self, instructions: u64) -> Nanos {
        Nanos(instructions << self.shift())
    }
}

impl fmt::Display for Mips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Mips {
    type Err = LabError;
    fn from_str(s: &str) -> Result<Self, LabError> {
        Mips::ALL.into_iter().find(|m| m.0.to_string() == s).ok_or_else(|| {
            LabError::Request(format!(
                "--mips is 1000, 500, 250 or 125 (virtual time counts powers of two), not '{s}'"
            ))
        })
    }
}

/// The latency of a disk's request: that of the null_blk device of the load that reads it.
const DISK_LATENCY: Nanos = Nanos::from_micros(50);
/// The time in which the CPU fetches a word of 16 bits from an IDE controller: the fastest cycle of PIO mode 4, which QEMU's
/// disk claims to support.
const IDE_WORD: Nanos = Nanos(120);
/// The size of a disk: that of the same null_blk device.
const DISK_MIB: u32 = 1_024;

/// The counter of arm64 counts nanoseconds, as virtual time does.
const COUNTER_HZ: u32 = 1_000_000_000;

/// The CPU for QEMU's command line. No model of x86-64 has "fast string" instructions, which kernels would then use for long
/// copies though one instruction counts for each iteration. Models of real CPUs go without cmpxchg16b, too: QEMU 7.2
/// computes its flags from stale state.
///
/// With several CPUs none may wait by `mwait`, for which QEMU spins.
pub fn qemu_cpu(machine: &VirtualMachine) -> String {
    let model = match machine.cpu {
        CpuModel::Max => "max,-erms,-fsrm",
        CpuModel::Skylake => "Skylake-Server-v4,-erms,-cx16",
        CpuModel::Rome => "EPYC-Rome-v1,-erms,-cx16",
        of_arm64 => return format!("{},cntfrq={COUNTER_HZ}", of_arm64.name()),
    };
    let several = if machine.smp.cpus > 1 { ",-monitor" } else { "" };
    format!("{model}{several}")
}

/// The arguments that shape the machine, the same for a boot and for every fork of it; part of every content key.
pub fn shape(machine: &VirtualMachine, mips: Mips) -> Vec<String> {
    let cpu = qemu_cpu(machine);
    let board = board::qemu_machine(machine);
    let fixed = [
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-accel",
        "tcg",
        "-cpu",
        &cpu,
        "-machine",
        &board,
        "-rtc",
        "base=2026-01-01,clock=vm",
        "-seed",
        "1",
        "-device",
        "pvpanic-pci,addr=5",
        "-action",
        "panic=pause",
    ];
    let mut args: Vec<String> = fixed.map(str::to_string).to_vec();
    args.extend(["-m".into(), machine.memory_mb.to_string()]);
    if machine.smp.cpus > 1 {
        args.extend(["-smp".into(), machine.smp.cpus.to_string()]);
    }
    if machine.devices.contains(&Device::Parport) {
        let port = [
            "-chardev",
            "null,id=lines",
            "-device",
            "isa-parallel,chardev=lines,iobase=0x378,irq=7",
        ];
        args.extend(port.map(str::to_string));
    }
    if machine.devices.contains(&Device::IdePio) {
        args.extend(medium("ide"));
        args.extend(
            [
                "-device",
                "piix3-ide,id=ide,addr=6",
                "-device",
                "ide-hd,drive=ide-medium,bus=ide.0",
            ]
            .map(str::to_string),
        );
    }
    if machine.devices.contains(&Device::Virtio) {
        args.extend(medium("virtio"));
        // With an ioeventfd QEMU's main loop, another thread, would handle the request.
        let disk = "virtio-blk-pci,addr=7,drive=virtio-medium,ioeventfd=off,num-queues=1";
        args.extend(["-device", disk].map(str::to_string));
    }
    args.extend(["-icount".into(), format!("shift={},sleep=off", mips.shift())]);
    args
}

/// A disk's backing device: it reads zeroes, at once. The plugin decides when the machine sees the completion.
fn medium(name: &str) -> [String; 2] {
    let size = u64::from(DISK_MIB) << 20;
    [
        "-blockdev".into(),
        format!("driver=null-co,node-name={name}-medium,read-zeroes=on,size={size}"),
    ]
}

/// The plugin's arguments for a machine's disks, each with a comma before it; part of the content key.
pub fn disk_arguments(machine: &VirtualMachine) -> String {
    let mut arguments = String::new();
    if Device::DISKS.iter().any(|disk| machine.devices.contains(disk)) {
        arguments += &format!(",disk={}", DISK_LATENCY.0);
    }
    if machine.devices.contains(&Device::IdePio) {
        arguments += &format!(",port={}", IDE_WORD.0);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_shifts() {
        assert_eq!(Mips::ALL.map(Mips::shift), [0, 1, 2, 3]);
        assert_eq!("250".parse::<Mips>().unwrap().time_of(10), Nanos(40));
        assert!("300".parse::<Mips>().unwrap_err().to_string().contains("500"));
    }

    #[test]
    fn a_machine_without_a_disk_has_nothing_of_one() {
        let machine = VirtualMachine::default();
        assert!(!shape(&machine, Mips(1000)).join(" ").contains("medium"));
        assert_eq!(disk_arguments(&machine), "");
        let disks = |devices: &[Device]| {
            let devices = devices.iter().copied().collect();
            disk_arguments(&VirtualMachine {
                devices,
                ..machine.clone()
            })
        };
        assert_eq!(disks(&[Device::Virtio]), ",disk=50000");
        assert_eq!(disks(&[Device::Virtio, Device::IdePio]), ",disk=50000,port=120");
    }
}
