//! What differs between the lab's machines of two architectures: a row of each.

use worstcase_contract::Device;
use worstcase_plan::{Arch, VirtualMachine};

/// A machine's board.
pub(crate) struct Board {
    /// QEMU's program on the search path.
    pub(crate) program: &'static str,
    /// Its name in QEMU's words (`query-target`).
    pub(crate) target: &'static str,
    /// Debian's package with it.
    pub(crate) package: &'static str,
    /// The firmware that a boot and a fork load (seen with strace on QEMU 7.2): linuxboot_dma.bin for an image, pvh.bin for an
    /// uncompressed kernel.
    pub(crate) firmware: &'static [&'static str],
    /// The words of every kernel's command line, besides those of [`COMMAND_LINE`].
    words: [&'static str; 2],
    /// How the record leaves the machine: its device, and what stands behind it.
    pub(crate) record: RecordDevice,
}

/// How a record leaves a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordDevice {
    /// Byte by byte, through a port.
    Port,
    /// Memory that the machine and a file of so many MiB share.
    Memory(u64),
}

/// Boot parameters of every subject, besides the preemption model. Reasons, word by word, in docs/lab.md.
const COMMAND_LINE: &str = "quiet loglevel=3 panic=-1 rdinit=/init nokaslr norandmaps cryptomgr.notests \
                            random.trust_cpu=on random.trust_bootloader=on";

const Q35: Board = Board {
    program: "qemu-system-x86_64",
    target: "x86_64",
    package: "qemu-system-x86",
    firmware: &["bios-256k.bin", "linuxboot_dma.bin", "kvmvapic.bin", "pvh.bin"],
    words: ["console=ttyS0", "tsc=reliable"],
    record: RecordDevice::Port,
};

/// The kernel is loaded without any firmware.
const VIRT: Board = Board {
    program: "qemu-system-aarch64",
    target: "aarch64",
    package: "qemu-system-arm",
    firmware: &[],
    words: ["console=ttyAMA0", ""],
    // As long as the longest message, and little of it is ever written.
    record: RecordDevice::Memory(256),
};

impl Board {
    /// The board of an architecture.
    pub(crate) const fn of(arch: Arch) -> &'static Board {
        match arch {
            Arch::X86 => &Q35,
            Arch::Arm64 => &VIRT,
        }
    }

    /// The kernel's command line, as far as it is the same for every subject.
    pub(crate) fn command_line(&self) -> String {
        let [first, last] = self.words;
        let words = [first, COMMAND_LINE, last];
        words
            .into_iter()
            .filter(|words| !words.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// QEMU's `-machine`.
pub(crate) fn qemu_machine(machine: &VirtualMachine) -> String {
    match machine.arch() {
        Arch::X86 => {
            let hpet = match machine.devices.contains(&Device::Hpet) {
                true => "on",
                false => "off",
            };
            format!("q35,hpet={hpet},smbus=off,sata=off,memory-backend=ram")
        }
        Arch::Arm64 => "virt,gic-version=3,memory-backend=ram".into(),
    }
}

/// The device through which a record leaves, for QEMU; `file` is what stands behind it.
pub(crate) fn record_device(machine: &VirtualMachine, file: &str) -> [[String; 2]; 2] {
    let [behind, device] = match Board::of(machine.arch()).record {
        RecordDevice::Port => [
            ["-chardev".into(), format!("file,id=record,path={file}")],
            ["-device".into(), "isa-debugcon,iobase=0xe9,chardev=record".into()],
        ],
        RecordDevice::Memory(mib) => [
            [
                "-object".into(),
                format!("memory-backend-file,id=record,size={mib}M,mem-path={file},share=on"),
            ],
            ["-device".into(), "ivshmem-plain,memdev=record,master=on,addr=6".into()],
        ],
    };
    [behind, device]
}

#[cfg(test)]
mod tests {
    use super::super::machine::qemu_cpu;
    use super::*;
    use worstcase_plan::CpuModel;

    #[test]
    fn a_board_has_its_own_console_clock_and_record() {
        let pc = Board::of(Arch::X86).command_line();
        assert!(pc.starts_with("console=ttyS0 quiet") && pc.ends_with("random.trust_bootloader=on tsc=reliable"));
        let board = Board::of(Arch::Arm64).command_line();
        assert!(board.starts_with("console=ttyAMA0 quiet") && board.ends_with("random.trust_bootloader=on"));
        let mut machine = VirtualMachine::default();
        assert!(
            record_device(&machine, "record")
                .concat()
                .concat()
                .contains("isa-debugcon")
        );
        machine.cpu = CpuModel::CortexA53;
        assert!(qemu_machine(&machine).starts_with("virt,"));
        assert_eq!(qemu_cpu(&machine), "cortex-a53,cntfrq=1000000000");
        let record = record_device(&machine, "record").concat().concat();
        assert!(record.contains("mem-path=record,share=on") && record.contains("ivshmem-plain"));
    }
}
