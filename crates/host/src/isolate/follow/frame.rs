//! Frames: what began on a CPU and has not ended.

use crate::isolate::senders::EntrySender;
use crate::isolate::tally::EntryCause;
use crate::trace::ShortName;
use crate::trace::events::CpuContext;
use worstcase_contract::Nanos;

/// A function that some sender requested to run here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedFunction {
    pub function: u64,
    /// When it began on this CPU; for work that was switched out, when it was resumed.
    pub began: Nanos,
    pub sender: Option<EntrySender>,
    pub time: Nanos,
}

/// A frame that has not ended.
#[derive(Debug)]
pub(crate) struct UnfinishedFrame {
    pub context: RunContext,
    pub sender: Option<EntrySender>,
    pub began: Nanos,
    /// Its time without that of its functions.
    pub own: Nanos,
    pub runs: Vec<RequestedFunction>,
    /// The last function has not ended.
    pub(crate) is_in_run: bool,
    pub(crate) opens_entry: bool,
}

/// The context in which a function runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunContext {
    Context(CpuContext),
    /// A function called from the idle loop, without an interrupt.
    BareCall,
    Thread(ShortName),
}

/// The cause of an entry into the CPU's program.
pub fn cause(place: RunContext, function: u64) -> EntryCause {
    match place {
        RunContext::Context(CpuContext::Timer | CpuContext::TimerFunction { .. }) => EntryCause::Timer { function },
        RunContext::Context(CpuContext::Vector(name)) => match name.to_string().as_str() {
            "reschedule" => EntryCause::Reschedule,
            "irq_work" => EntryCause::IrqWork,
            text if text.starts_with("call_function") => EntryCause::Call { function },
            _ => EntryCause::Vector(name),
        },
        RunContext::Context(CpuContext::Device { irq, name }) => EntryCause::Device { irq, name },
        RunContext::Context(CpuContext::Soft(vector)) => EntryCause::Soft { vector, function },
        RunContext::BareCall => EntryCause::Call { function },
        RunContext::Thread(name) => EntryCause::Thread { name, function },
    }
}
