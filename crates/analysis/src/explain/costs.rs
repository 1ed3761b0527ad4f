//! Of which cells it can be told what their paths consist of.

use worstcase_plan::Arch;
use worstcase_results::record::Record;

/// Why it cannot; none if it can.
pub(super) fn cannot_be_counted(record: &Record) -> Option<&'static str> {
    let Some(machine) = record.subject.virtual_machine() else {
        return Some("it was not measured in the lab");
    };
    match machine.arch() {
        Arch::X86 if machine.smp.cpus == 1 => None,
        Arch::X86 => Some("its machine has several CPUs, whose caches would have to be counted together"),
        Arch::Arm64 => Some("instructions of arm64 are not told apart as yet"),
    }
}
