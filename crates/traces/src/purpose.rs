//! What traces are for.

use worstcase_contract::cpus::CpuList;

/// The purpose of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Parts of each sample of these threads: five events a sample, besides these only the CPU's timer interrupts.
    Response {
        /// The measuring threads.
        tids: Vec<u32>,
    },
    /// What takes the CPU: all interrupts, soft interrupts and switches.
    Noise,
    /// Both, with timer functions, the threads' system calls and a call chain at each timer interrupt.
    Recorder {
        /// The measuring threads.
        tids: Vec<u32>,
    },
    /// Why threads of a program are late: what all CPUs run, and what these threads do in the kernel.
    Follow {
        /// The threads that there are; those that they start are included.
        tids: Vec<u32>,
    },
    /// What enters a CPU: interrupts, soft interrupts, threads, and the functions that they run.
    Entries,
    /// What a CPU sends to other CPUs.
    Sends {
        /// The other CPUs.
        watched: CpuList,
    },
}
