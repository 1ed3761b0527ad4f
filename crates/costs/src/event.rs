//! The events, one row each.

macro_rules! events {
    ($($event:ident $name:literal $description:literal,)*) => {
        /// Something that takes a real CPU longer than an ordinary instruction does, or that instruction itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum CostEvent {
            $(#[doc = $description] $event,)*
        }

        impl CostEvent {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[CostEvent] = &[$(CostEvent::$event,)*];

            /// The name in files.
            pub fn name(self) -> &'static str {
                match self { $(CostEvent::$event => $name,)* }
            }

            /// In a few words.
            pub fn description(self) -> &'static str {
                match self { $(CostEvent::$event => $description,)* }
            }
        }
    };
}

events! {
    Instruction "instruction" "instructions, rounds of string instructions left out",
    StringRound "string_round" "rounds of repeated string instructions, each an instruction of the lab's",
    StringByte "string_byte" "bytes that these wrote, or read where they write none",
    StringStart "string_start" "repeated string instructions that were begun or resumed",
    SystemCall "system_call" "system calls",
    InterruptReturn "interrupt_return" "returns from interrupts and exceptions (iret)",
    PageTableLoad "page_table_load" "loads of CR3",
    PageInvalidation "page_invalidation" "pages taken out of the TLB (invlpg, invpcid)",
    ControlRegister "control_register" "reads and writes of other control registers",
    MsrWrite "msr_write" "writes of MSRs",
    MsrRead "msr_read" "reads of MSRs",
    Fence "fence" "fences",
    FpuState "fpu_state" "saves and restores of the FPU's state",
    Locked "locked" "locked instructions",
    Division "division" "divisions of integers",
    Cpuid "cpuid" "CPUID",
    Port "port" "accesses to I/O ports",
    DeviceMemory "device_memory" "accesses to memory of devices",
    Timestamp "timestamp" "reads of the time stamp counter",
    DataL2 "data_l2" "accesses to data that L2 served",
    DataL3 "data_l3" "accesses to data that L3 served",
    DataMemory "data_memory" "accesses to data that memory served",
    CodeL2 "code_l2" "lines of code that L2 served",
    CodeL3 "code_l3" "lines of code that L3 served",
    CodeMemory "code_memory" "lines of code that memory served",
    MispredictedReturn "mispredicted_return" "returns to elsewhere than the last of 32 calls",
}

impl CostEvent {
    /// The one with this name.
    pub fn named(name: &str) -> Option<CostEvent> {
        CostEvent::ALL.iter().copied().find(|event| event.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = CostEvent::ALL.iter().map(|event| event.name()).collect();
        assert_eq!(names.len(), CostEvent::ALL.len());
        for (place, event) in CostEvent::ALL.iter().enumerate() {
            assert_eq!((CostEvent::named(event.name()), *event as usize), (Some(*event), place));
        }
        assert_eq!(CostEvent::named("tlb"), None);
    }
}
